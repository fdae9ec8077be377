// The selection, and everything that changes it: there is one, and all parts of the page show it.

// Selects a memory model, and of it a fence (with a run that it stops), lock, delay or node; what is not named is not selected any more.
function select(change) {
  const isAnother = change.model !== undefined && change.model !== state.model;
  Object.assign(state, { fence: null, lock: null, delay: null, run: null, node: null }, change);
  if (isAnother) showModel();
  else showSelection();
}

function showModel() {
  document.getElementById("memory-model").value = String(state.model);
  Program.draw();
  Delays.draw();
  Graph.drawFences();
  showSelection();
}

function showSelection() {
  Cards.update();
  Details.update();
  markPressed();
  Chips.uncover();
  Delays.update();
  Program.update();
  Graph.update();
  Graph.bringIntoView();
  writeAddress();
}

// Every button for the selected fence or lock, wherever it is, is pressed.
function markPressed() {
  for (const kind of ["fence", "lock"]) {
    for (const button of document.querySelectorAll(`button[data-${kind}]`)) {
      const model = button.dataset.model === undefined ? state.model : Number(button.dataset.model);
      button.setAttribute("aria-pressed", String(model === state.model && Number(button.dataset[kind]) === state[kind]));
    }
  }
}

// The address says what is selected: #mm=tso&fence=0; numbers begin at 0, as everywhere.
function writeAddress() {
  const parameters = new URLSearchParams({ mm: result().memory_model });
  for (const kind of ["fence", "lock", "delay", "node"]) {
    if (state[kind] !== null) parameters.set(kind, String(state[kind]));
  }
  const isPlain = parameters.size === 1 && state.model === 0;
  history.replaceState(null, "", isPlain ? location.pathname + location.search : `#${parameters}`);
}

function readAddress() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const model = DATA.results.findIndex((outcome) => outcome.memory_model === parameters.get("mm"));
  const change = { model: model >= 0 ? model : state.model };
  const outcome = DATA.results[change.model];
  const sizes = { fence: outcome.fences.length, lock: outcome.locks.length, delay: outcome.delays.length, node: DATA.nodes.length };
  for (const [kind, size] of Object.entries(sizes)) {
    const text = parameters.get(kind);
    if (/^\d+$/.test(text ?? "") && Number(text) < size) change[kind] = Number(text);
  }
  return change;
}

function nextFence(step) {
  const { length } = result().fences;
  if (length === 0) return;
  const from = state.fence ?? (step > 0 ? -1 : length);
  select({ fence: (from + step + length) % length });
}

const Theme = (() => {
  const NAMES = ["auto", "light", "dark"];
  // Not every browser lets a file remember something.
  const remembered = () => { try { return localStorage.getItem("seqcon-theme"); } catch { return null; } };
  const remember = (name) => { try { localStorage.setItem("seqcon-theme", name); } catch { /* then it is forgotten */ } };
  let current = "auto";

  function use(name) {
    current = NAMES.includes(name) ? name : "auto";
    if (current === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = current;
    document.getElementById("theme").textContent = `Theme: ${current}`;
    Graph.restyle();
  }

  function next() {
    use(NAMES[(NAMES.indexOf(current) + 1) % NAMES.length]);
    remember(current);
  }

  function start() {
    use(remembered());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", Graph.restyle);
    document.getElementById("theme").addEventListener("click", next);
  }

  return { start, next };
})();

// Check boxes for what a filter lets through.
function drawFilter(kind, names) {
  const summary = document.getElementById(`${kind}-summary`);
  const title = kind === "threads" ? "Threads" : "Locations";
  const boxes = names.map((name, position) => el("input", { type: "checkbox", checked: true, "data-position": position }));
  const tell = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    summary.textContent = chosen === boxes.length ? `${title}: all` : `${title}: ${chosen} of ${boxes.length}`;
  };
  const set = (box, isShown) => { box.checked = isShown; Graph.filter(kind, Number(box.dataset.position), isShown); };
  boxes.forEach((box) => box.addEventListener("change", () => { set(box, box.checked); tell(); }));
  const all = (isShown) => el("button", { type: "button", onclick: () => { boxes.forEach((box) => set(box, isShown)); tell(); } }, isShown ? "all" : "none");
  replaceContent(kind, el("div", { class: "choices-head" }, all(true), all(false)), names.map((name, position) => el("label", {}, boxes[position], named(name, 30))));
  tell();
}

function drawLegend() {
  const entries = [["write", "write"], ["read", "read"], ["po", "program order"], ["conflict", "conflict"], ["fence", "fence"], ["cumulative", "cumulative fence"], ["delay", "delay"], ["cycle", "witness cycle"]];
  if (DATA.results.some((outcome) => outcome.locks.length > 0)) entries.push(["lock", "locked"]);
  replaceContent("legend", entries.map(([name, text]) => el("li", {}, el("span", { class: `sample ${name}` }), text)));
}

function onKey(event) {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
  if (event.key === "Escape") {
    document.querySelectorAll("details.menu[open]").forEach((menu) => menu.removeAttribute("open"));
    if (isTyping) event.target.blur();
    else select({});
    return;
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const actions = { n: () => nextFence(1), p: () => nextFence(-1), m: () => select({ model: (state.model + 1) % DATA.results.length }), t: Theme.next, "/": () => document.getElementById("search").focus() };
  if (actions[event.key]) {
    event.preventDefault();
    actions[event.key]();
  }
}

function start() {
  document.title = `${shown(DATA.model, 60)} – seqcon report`;
  replaceContent("program-name", named(DATA.model, 50));
  replaceContent("memory-model", DATA.results.map((outcome, model) => el("option", { value: String(model) }, shown(outcome.memory_model, 30))));
  const by = (id, event, action) => document.getElementById(id).addEventListener(event, action);
  by("memory-model", "change", (event) => select({ model: Number(event.target.value) }));
  by("search", "input", (event) => Graph.search(event.target.value));
  by("search", "keydown", (event) => { if (event.key === "Enter") Graph.goToNextMatch(); });
  by("conflicts", "change", Graph.update);
  by("layout", "change", (event) => Graph.layOut(event.target.value));
  by("zoom-in", "click", () => Graph.zoom(1.25));
  by("zoom-out", "click", () => Graph.zoom(0.8));
  by("zoom-fit", "click", Graph.fitAll);
  by("matrix-all", "change", () => { Matrix.draw(); markPressed(); });
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => {
    document.querySelectorAll("details.menu[open]").forEach((menu) => { if (!menu.contains(event.target)) menu.removeAttribute("open"); });
  });
  drawLegend();
  Cards.draw();
  Matrix.draw();
  drawFigures();
  drawReproduction();
  Theme.start();
  Graph.start();
  drawFilter("threads", DATA.threads);
  drawFilter("locations", DATA.locations);
  Object.assign(state, readAddress());
  Graph.fit();
  showModel();
  addEventListener("hashchange", () => { if (location.hash.includes("=")) select(readAddress()); });
  // For scripts that drive the page.
  window.seqconReport = { data: DATA, state, select, graph: Graph };
}

start();
