// What the page knows, and how things in it are called.

const DATA = JSON.parse(document.getElementById("seqcon-data").textContent);

// Positions in tables, or null: `model` in DATA.results; `fence`, `lock`, `delay`, `run` in that result; `node` in DATA.nodes.
const state = { model: 0, fence: null, lock: null, delay: null, run: null, node: null };

const nodesOfInstruction = DATA.instructions.map(() => []);
DATA.nodes.forEach((node, position) => nodesOfInstruction[node.instruction].push(position));

const result = () => DATA.results[state.model];
const threadOf = (node) => DATA.instructions[DATA.nodes[node].instruction].thread;

// `P0.2`
function instructionName(instruction) {
  const { thread, name } = DATA.instructions[instruction];
  return `${DATA.threads[thread]}.${name}`;
}

// `R wants[1]`
function accessName(node) {
  const { kind, location } = DATA.nodes[node];
  return kind === undefined ? "no shared access" : `${kind} ${DATA.locations[location]}`;
}

// Where a fence stands, so that the name of its instruction can follow.
function placeWords(fence) {
  return fence.position === "state" ? "at the state behind" : fence.position;
}

function fenceName(fence) {
  return `${fence.mnemonic} ${placeWords(fence)} ${instructionName(fence.at)}`;
}

// As on the terminal: F0, F1, …; L0, L1, …; delays are rows of delays.csv.
function fenceNumber(number) {
  return `F${number}`;
}

function lockName(number) {
  return `L${number}`;
}

function delayName(delay) {
  return [instructionPart(delay.from), " then ", instructionPart(delay.to)];
}

// An access in a sentence.
function instructionPart(node) {
  return el("span", { class: "access" }, named(instructionName(DATA.nodes[node].instruction), 24, "instr-name"), " ", named(accessName(node), 28, `kind-${DATA.nodes[node].kind}`));
}

const cycleName = (witness) => witness.map(([, edge]) => edge).join(" ");
const isProgramEdge = (edge) => edge.startsWith("Po") || edge.startsWith("Torn");

// The fences that serve a delay.
function fencesOf(outcome, delay) {
  if (!outcome.servers) {
    outcome.servers = outcome.delays.map(() => []);
    outcome.fences.forEach((fence, number) => fence.serves.forEach((served) => outcome.servers[served].push(number)));
  }
  return outcome.servers[delay];
}

// The delay whose witness is shown: the one that was chosen, or the shortest that the fence serves.
function shownDelay() {
  if (state.delay !== null) return state.delay;
  if (state.fence === null) return null;
  const { delays, fences } = result();
  const length = (delay) => delays[delay].witness.length;
  return fences[state.fence].serves.reduce((best, next) => (best === null || length(next) < length(best) ? next : best), null);
}

// The cycle that is lit, or null.
function shownWitness() {
  if (state.lock !== null) return result().locks[state.lock].witness;
  const delay = shownDelay();
  return delay === null ? null : result().delays[delay].witness;
}

// The delays that are lit.
function shownDelays() {
  if (state.fence !== null) return result().fences[state.fence].serves;
  return state.delay === null ? [] : [state.delay];
}

function conflict(a, b) {
  const [x, y] = [DATA.nodes[a], DATA.nodes[b]];
  return x.location !== undefined && x.location === y.location && threadOf(a) !== threadOf(b) && (x.kind === "W" || y.kind === "W");
}

// The text that a search looks at.
const searchText = DATA.nodes.map((node, position) => {
  const { text } = DATA.instructions[node.instruction];
  return `${instructionName(node.instruction)} ${accessName(position)} ${text}`.toLowerCase();
});
