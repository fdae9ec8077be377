// What is selected, in words: why the fence is there, and the cycle that it breaks.

const Details = (() => {
  const FEW_DELAYS = 12;

  function witnessList(witness) {
    const rows = witness.map(([node, edge], step) => {
      const [next] = witness[(step + 1) % witness.length];
      const words = edge.startsWith("Po") ? "then" : edge.startsWith("Torn") ? "in one instruction with" : "conflicts with";
      return el("li", { "data-node": node }, instructionPart(node), " ", el("span", { class: `edge ${isProgramEdge(edge) ? "program" : "across"}`, title: words }, `${edge} →`), step === witness.length - 1 ? el("span", { class: "muted" }, " ", instructionPart(next), " (the first again)") : null);
    });
    return el("ol", { class: "witness", "aria-label": "Witness cycle" }, rows);
  }

  function why(delay) {
    const [from, to] = [instructionPart(delay.from), instructionPart(delay.to)];
    const later = DATA.nodes[delay.from].instruction === DATA.nodes[delay.to].instruction ? "a later " : "";
    return delay.is_unsafe
      ? el("p", { class: "why" }, `Without it, ${later}`, to, " may be executed before ", from, ", and the other threads can tell:")
      : el("p", { class: "why" }, `Without it, ${later}`, to, " may be seen before what ", from, " has read:");
  }

  function fact(name, ...value) {
    return [el("dt", {}, name), el("dd", {}, ...value)];
  }

  function fenceDetails(number) {
    const outcome = result();
    const fence = outcome.fences[number];
    const current = shownDelay();
    const { text, source } = DATA.instructions[fence.at];
    const facts = el("dl", { class: "facts" }, fact("instruction", named(text, 60, "name code-text")), source ? fact("source", named(source, 60)) : [],
      fence.state ? fact("control state", named(fence.state, 60)) : [], fact("kind", fence.kind), fact("cost", String(fence.cost)), fence.stops ? fact("stops", count(fence.stops.length, "run")) : fact("serves", count(fence.serves.length, "delay")));
    const parts = [heading(`${shown(outcome.memory_model, 20)}: ${fenceNumber(number)}, ${oneOf(outcome.fences.length, "fence")}`, named(fence.mnemonic, 32), ` ${placeWords(fence)} `, named(instructionName(fence.at), 40)), facts];
    if (current !== null) {
      parts.push(why(outcome.delays[current]), witnessList(outcome.delays[current].witness));
      if (fence.serves.length > 1) parts.push(delayChoices(fence.serves, current, number));
    }
    const run = shownRun();
    if (run !== null) {
      parts.push(el("p", { class: "why" }, "Without it, this run is possible:"), ...Runs.details(run));
      if (fence.stops.length > 1) parts.push(Runs.choices(number, run));
    }
    return parts;
  }

  function heading(small, ...title) {
    return el("div", { class: "details-head" }, el("div", {}, el("p", { class: "kicker" }, small), el("h3", {}, ...title)), el("button", { type: "button", title: "Clear the selection (key Esc)", onclick: () => select({}) }, "Clear"));
  }

  function delayChoices(delays, current, fence) {
    const button = (delay) => el("li", {}, el("button", { type: "button", class: "delay-choice", "aria-pressed": String(delay === current), onclick: () => select({ fence, delay }) }, delayName(result().delays[delay])));
    const few = delays.slice(0, FEW_DELAYS);
    if (current !== null && !few.includes(current)) few.push(current);
    const rest = delays.length - few.length;
    return el("div", {}, el("p", { class: "kicker" }, "The delays that it serves"), el("ul", { class: "delay-choices" }, few.map(button)),
      rest > 0 ? el("p", { class: "muted" }, `and ${rest.toLocaleString("en")} more, in the `, el("a", { href: "#delays" }, "table"), ".") : null);
  }

  function delayDetails(number) {
    const delay = result().delays[number];
    const servers = fencesOf(result(), number);
    const served = servers.length === 0
      ? el("p", {}, delay.confirmed === "no" ? "It was proved that no run needs this pair in order: no fence was placed for it." : "It is kept in order by locks or fences that are there already.")
      : el("p", {}, "Served by ", servers.map((fence) => Chips.fence(state.model, fence)));
    return [heading(`${shown(result().memory_model, 20)}: delay ${number}, ${oneOf(result().delays.length, "pair")}`, ...delayName(delay)), served, why(delay), witnessList(delay.witness)];
  }

  const ROLES = { "torn-update": "can be torn", "torn-condition": "can be torn (a condition)", partner: "must take it, too" };

  function lockDetails(number) {
    const lock = result().locks[number];
    const locations = lock.locations.map((location) => DATA.locations[location]).join(", ");
    const users = lock.users.map(([instruction, role]) => el("li", {}, named(instructionName(instruction), 40, "instr-name"), " ", named(DATA.instructions[instruction].text, 50, "name code-text"), ` ${ROLES[role] ?? role}`));
    return [heading(`${shown(result().memory_model, 20)}: ${lockName(number)}, ${oneOf(result().locks.length, "lock")}`, "lock for ", named(locations, 40)), el("ul", {}, users),
      lock.witness ? [el("p", { class: "why" }, "Without it, the instruction is not one step:"), witnessList(lock.witness)] : []].flat();
  }

  function nodeDetails(node) {
    const { instruction } = DATA.nodes[node];
    const partners = DATA.nodes.map((_, other) => other).filter((other) => conflict(node, other));
    const touching = result().delays.map((delay, number) => [delay, number]).filter(([delay]) => delay.from === node || delay.to === node).map(([, number]) => number);
    const { text, source } = DATA.instructions[instruction];
    const list = (nodes) => nodes.slice(0, FEW_DELAYS).flatMap((other, position) => [position > 0 ? ", " : "", el("button", { type: "button", class: "link", onclick: () => select({ node: other }) }, instructionPart(other))]);
    return [heading("access", instructionPart(node)),
      el("dl", { class: "facts" }, fact("instruction", named(text, 80, "name code-text")), source ? fact("source", named(source, 60)) : [],
        fact("conflicts with", ...(partners.length === 0 ? ["nothing"] : [...list(partners), partners.length > FEW_DELAYS ? ` and ${partners.length - FEW_DELAYS} more` : ""])),
        fact("delays", touching.length === 0 ? `none under ${shown(result().memory_model, 20)}` : el("ul", { class: "delay-choices" }, touching.slice(0, FEW_DELAYS).map((delay) => el("li", {}, el("button", { type: "button", class: "delay-choice", onclick: () => select({ delay }) }, delayName(result().delays[delay]))))),
          touching.length > FEW_DELAYS ? `and ${touching.length - FEW_DELAYS} more` : ""))];
  }

  function nothing() {
    const outcome = result();
    const text = outcome.fences.length + outcome.locks.length === 0 && !outcome.complete ? `Under ${shown(outcome.memory_model, 20)} nothing was found to be needed; ${UNKNOWN}.`
      : outcome.fences.length + outcome.locks.length === 0
      ? `Under ${shown(outcome.memory_model, 20)} ${!outcome.enough ? visible(outcome.minimal_in_words) : DATA.cut_off ? "nothing was found to be needed in the part of the state space that is known" : "the program needs no fence and no lock"}.`
      : outcome.runs.length > 0 ? "Choose a fence, here or anywhere, to see a run that it stops." : "Choose a fence, here or anywhere, to see the delays that it serves and a cycle that it breaks.";
    const run = shownRun();
    const unstopped = run === null ? [] : [el("p", { class: "why" }, "No fence stops this run:"), ...Runs.details(run)];
    return [el("p", { class: "kicker" }, "Selection"), el("p", { class: "muted" }, text), ...unstopped, el("div", { class: "fence-list" }, outcome.fences.slice(0, 40).map((_, fence) => Chips.fence(state.model, fence)))];
  }

  function update() {
    const parts = state.fence !== null ? fenceDetails(state.fence) : state.delay !== null ? delayDetails(state.delay) : state.lock !== null ? lockDetails(state.lock) : state.node !== null ? nodeDetails(state.node) : nothing();
    replaceContent("details", parts);
  }

  return { update };
})();
