// Cards, tables and figures.

// Why a place without a fence need not do without one.
const UNKNOWN = "a limit was reached, and more may be needed";

const Cards = (() => {
  function verdict(name, value, isGood, title) {
    return el("li", { class: isGood === null ? "neutral" : isGood ? "good" : "bad", title }, el("span", {}, name), el("b", {}, value));
  }

  // The table of delays has more rows than there are delays: in words that add up.
  function pairsInWords({ delays, summary }) {
    const isRefuted = (delay) => delay.confirmed === "no" || delay.confirmed === "no longer";
    const infeasible = delays.filter(isRefuted).length;
    const cumulativeOnly = delays.filter((delay) => !isRefuted(delay) && !delay.is_unsafe).length;
    const parts = [count(summary.delays, "delay"), cumulativeOnly > 0 ? `${cumulativeOnly.toLocaleString("en")} cumulative only` : null, infeasible > 0 ? `${infeasible.toLocaleString("en")} proved infeasible` : null];
    return `${count(delays.length, "pair")}: ${parts.filter((part) => part !== null).join(", ")}`;
  }

  const KINDS = { plain: "full", cumulative: "cumulative", "store-store": "store-store", load: "load", lightweight: "lightweight" };

  // What the fences are, if they are not all full ones.
  function kindsInWords({ fences }) {
    const tally = new Map();
    for (const { kind, position } of fences) {
      const word = position === "on" ? "acquire or release" : KINDS[kind] ?? "of some accesses";
      tally.set(word, (tally.get(word) ?? 0) + 1);
    }
    if (tally.size === 0 || (tally.size === 1 && tally.has("full"))) return null;
    return `fences: ${[...tally].map(([word, number]) => `${number.toLocaleString("en")} ${word}`).join(", ")}`;
  }

  // The number of something to put in. After a limit was reached, what was not found is not known to be unneeded.
  function needed(value, noun, isKnown) {
    return el("div", { class: `number-tile ${value > 0 ? "needed" : isKnown ? "" : "unknown"}`, title: isKnown ? null : UNKNOWN },
      el("span", { class: "figure" }, isKnown ? value.toLocaleString("en") : value > 0 ? `${value.toLocaleString("en")}?` : "?"), el("span", {}, noun + (value === 1 ? "" : "s")));
  }

  function card(outcome, model) {
    const parts = kindsInWords(outcome);
    const rechecked = !outcome.enough ? "NOT ENOUGH" : outcome.each_fence_closes_a_path ? "enough, each closes a path" : "enough, not each closes a path";
    const { verdict: verified, rests_on: restsOn, limit } = outcome.verified;
    const ground = restsOn ?? limit;
    return el("article", { class: "card", "data-model": model },
      el("button", { type: "button", class: "card-head", "data-card": model, onclick: () => select({ model }) }, named(outcome.memory_model, 24, "card-name"), named(outcome.title, 60, "card-title")),
      el("div", { class: "numbers" }, needed(outcome.fences.length, "fence", outcome.complete), needed(outcome.locks.length, "lock", outcome.complete),
        el("div", { class: "number-tile" }, el("span", { class: "figure" }, outcome.summary.delays.toLocaleString("en")), el("span", {}, outcome.summary.delays === 1 ? "delay" : "delays"))),
      parts === null ? null : el("p", { class: "muted small", "data-kinds": model }, parts),
      outcome.delays.length > outcome.summary.delays ? el("p", { class: "muted small", "data-pairs": model }, pairsInWords(outcome)) : null,
      el("ul", { class: "verdicts" },
        verdict("minimal", outcome.summary.minimal, outcome.summary.minimal === "program" ? true : outcome.summary.minimal === "no" ? false : null, outcome.minimal_in_words),
        verdict("re-checked", rechecked, outcome.enough),
        verdict("verified", verified, verified === "yes" ? true : verified === "violated" ? false : null, ground ? visible(ground) : "--verify runs the repaired program under the memory model"),
        verdict("complete", outcome.complete ? "yes" : "no", outcome.complete)),
      outcome.fences.length + outcome.locks.length > 0 ? Chips.list(model) : el("p", { class: "muted small" }, !outcome.complete ? `nothing found; ${UNKNOWN}` : outcome.enough ? "nothing to put in" : visible(outcome.minimal_in_words)));
  }

  function draw() {
    replaceContent("cards", DATA.results.map(card));
    const notices = [];
    if (DATA.cut_off) notices.push(el("p", { class: "notice" }, "Only a part of the state space is known: what is missing elsewhere is not."));
    // The same sentence under several memory models is said once.
    const said = new Map();
    for (const outcome of DATA.results) {
      for (const notice of outcome.notices) said.set(notice, [...(said.get(notice) || []), outcome.memory_model]);
    }
    for (const [notice, models] of said) {
      const where = models.length === DATA.results.length ? "" : `${models.join(", ")}: `;
      notices.push(el("p", { class: "notice" }, visible(where + notice), "."));
    }
    for (const notice of DATA.notices) notices.push(el("p", { class: "notice" }, visible(notice.charAt(0).toUpperCase() + notice.slice(1)), "."));
    replaceContent("notices", notices);
  }

  function update() {
    for (const element of document.querySelectorAll(".card")) element.classList.toggle("current", Number(element.dataset.model) === state.model);
    for (const element of document.querySelectorAll("[data-card]")) element.setAttribute("aria-pressed", String(Number(element.dataset.card) === state.model));
  }

  return { draw, update };
})();

const Delays = (() => {
  const PAGE = 100;
  let limit = PAGE;

  function row(number) {
    const delay = result().delays[number];
    const servers = fencesOf(result(), number);
    return el("tr", { "data-delay": number, class: delay.confirmed === "no" ? "infeasible" : null },
      el("td", {}, el("button", { type: "button", class: "link", "data-delay-button": number, onclick: () => select({ delay: number, fence: servers[0] ?? null }) }, String(number))),
      el("td", {}, instructionPart(delay.from)), el("td", {}, instructionPart(delay.to)),
      el("td", {}, delay.is_unsafe ? (delay.cumulative ? "reordered, cumulative" : "reordered") : "cumulative only"), el("td", {}, delay.confirmed),
      el("td", {}, servers.length === 0 ? el("span", { class: "muted" }, delay.confirmed === "no" ? "proved infeasible" : "–") : servers.map((fence) => Chips.fence(state.model, fence))),
      el("td", { class: "cycle-name" }, cycleName(delay.witness)));
  }

  function draw() {
    limit = PAGE;
    redraw();
  }

  function redraw() {
    const { delays } = result();
    const head = el("thead", {}, el("tr", {}, ["", "first in program order", "must not overtake it", "why", "confirmed", "served by", "witness cycle"].map((name) => el("th", { scope: "col" }, name))));
    const rows = delays.slice(0, limit).map((_, number) => row(number));
    replaceContent("delay-table", head, el("tbody", {}, rows.length === 0 ? el("tr", {}, el("td", { colspan: "7", class: "muted" }, "There are none.")) : rows));
    const reordered = delays.filter((delay) => delay.is_unsafe && delay.confirmed !== "no").length;
    document.getElementById("delays-caption").textContent = `${shown(result().memory_model, 20)} · ${count(delays.length, "pair")}${reordered === delays.length ? "" : `, ${reordered} of them reordered`}`;
    const more = (step, text) => el("button", { type: "button", onclick: () => { limit += step; redraw(); markPressed(); } }, text);
    replaceContent("delays-more", delays.length > limit ? [`The first ${limit} of ${delays.length.toLocaleString("en")} are shown. `, more(PAGE, `${PAGE} more`), " ", more(delays.length, "all")] : []);
  }

  function update() {
    const current = shownDelay();
    const served = new Set(shownDelays());
    for (const tr of document.querySelectorAll("#delay-table tr[data-delay]")) {
      const number = Number(tr.dataset.delay);
      tr.classList.toggle("current", number === current);
      tr.classList.toggle("served", served.has(number));
    }
  }

  return { draw, update };
})();

const Matrix = (() => {
  function cell(model, instruction) {
    const outcome = DATA.results[model];
    const fences = outcome.fences.flatMap((fence, number) => (fence.at === instruction ? [number] : []));
    const locks = outcome.locks.flatMap((lock, number) => (lock.users.some(([user]) => user === instruction) ? [number] : []));
    const nothing = outcome.complete ? el("span", { class: "nothing", "aria-label": "nothing" }, "·") : el("span", { class: "unknown", title: UNKNOWN, "aria-label": "not known" }, "?");
    return el("td", {}, fences.map((fence) => Chips.fenceInRow(model, fence)), locks.map((lock) => Chips.lock(model, lock)), fences.length + locks.length === 0 ? nothing : null);
  }

  function draw() {
    const all = document.getElementById("matrix-all").checked;
    const needing = new Set(DATA.results.flatMap((outcome) => [...outcome.fences.map((fence) => fence.at), ...outcome.locks.flatMap((lock) => lock.users.map(([instruction]) => instruction))]));
    const order = DATA.instructions.map((_, instruction) => instruction).sort((a, b) => DATA.instructions[a].thread - DATA.instructions[b].thread || DATA.instructions[a].row - DATA.instructions[b].row);
    const shownOnes = order.filter((instruction) => all || needing.has(instruction));
    const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "instruction"), DATA.results.map((outcome) => el("th", { scope: "col", title: visible(outcome.title) }, named(outcome.memory_model, 20)))));
    const rows = shownOnes.map((instruction) => el("tr", {}, el("th", { scope: "row" }, named(instructionName(instruction), 28, "instr-name"), " ", named(DATA.instructions[instruction].text, 44, "name code-text")), DATA.results.map((_, model) => cell(model, instruction))));
    replaceContent("matrix-table", head, el("tbody", {}, rows.length === 0 ? el("tr", {}, el("td", { colspan: String(DATA.results.length + 1), class: "muted" }, DATA.results.every((outcome) => outcome.complete) ? "No instruction needs anything under these memory models." : `Nothing was found; ${UNKNOWN}.`)) : rows));
  }

  return { draw };
})();

function drawFigures() {
  const { summary } = DATA.results[0];
  const figures = [["states", summary.states], ["transitions", summary.transitions], ["labels", summary.labels], ["threads", DATA.threads.length], ["instructions", DATA.instructions.length], ["locations", DATA.locations.length], ["vertices", summary.vertices], ["program-order steps", summary.program_edges]];
  // Without an event graph there are no figures of one.
  replaceContent("figure-list", figures.filter(([, value]) => value !== null).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value.toLocaleString("en")))));
  const columns = [["conflict edges", "conflict_edges"], ["unsafe pairs", "unsafe_pairs"], ["delays", "delays"], ["cumulative delays", "cumulative_delays"], ["torn instructions", "torn"], ["locks", "locks"], ["fences", "fences"], ["fences, plain", "plain_fences"], ["fences, cumulative", "cumulative_fences"], ["fences, store-store", "store_fences"], ["fences, lighter", "light_fences"], ["acquires and releases", "marks"], ["cycles listed", "cycles"]];
  const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "memory model"), columns.map(([name]) => el("th", { scope: "col", class: "right" }, name))));
  const rows = DATA.results.map((outcome) => el("tr", {}, el("th", { scope: "row" }, named(outcome.memory_model, 24)), columns.map(([, key]) => el("td", { class: "right" }, outcome.summary[key] === null ? (key === "cycles" ? "not asked" : "–") : outcome.summary[key].toLocaleString("en")))));
  replaceContent("figure-table", head, el("tbody", {}, rows));
}

function drawReproduction() {
  const { summary } = DATA.results[0];
  const code = (text) => el("pre", {}, el("code", {}, visible(text)));
  replaceContent("reproduce-body",
    el("p", {}, `seqcon ${DATA.seqcon}, profile ${summary.profile}, conflicts ${summary.conflicts}, atomicity ${summary.atomicity}, placement ${summary.placement}.`),
    DATA.command === "" ? el("p", { class: "muted" }, "The command is not known.") : code(DATA.command),
    DATA.inputs.length === 0 ? null : el("p", {}, "Inputs, as ", el("code", {}, "sha256sum"), " prints them:"),
    DATA.inputs.map((input) => code(`${input.sha256 ?? "(not a file, cannot be read again)"}  ${input.path}`)));
}
