// A run that is a reason: a column for each thread, time downwards, and beside each step what waits in the store buffers.

// The run that is shown, or null: the one that was chosen, the first that the fence stops, or the one that no fence does.
function shownRun() {
  const { runs, fences, unfixable } = result();
  if (state.fence !== null) return state.run ?? fences[state.fence].stops?.[0] ?? null;
  const isNothing = state.lock === null && state.delay === null && state.node === null;
  return isNothing && unfixable && runs.length > 0 ? 0 : null;
}

const Runs = (() => {
  // What a step does, with the instruction's name and text.
  function deed(step) {
    const write = (text) => named(text, 40, "name write-chip");
    if (step.becomes_visible !== undefined) return [write(step.becomes_visible), " becomes visible"];
    const accesses = step.accesses.flatMap(([kind, text], position) => [position > 0 ? ", " : "", el("span", { class: `kind-${kind}` }, `${kind} `, named(text, 60))]);
    return [named(instructionName(step.instruction), 24, "instr-name"), " ", named(DATA.instructions[step.instruction].text, 120, "name code-text muted"), accesses.length === 0 ? null : el("div", {}, accesses)];
  }

  function cell(step, instruction) {
    const title = instruction === undefined ? null : DATA.instructions[instruction].source ?? instructionName(instruction);
    const content = instruction === undefined ? el("div", {}, deed(step)) : el("button", { type: "button", class: "step", title: title === null ? null : shown(title, 200), onclick: () => Program.show(instruction) }, deed(step));
    return el("td", { class: step.becomes_visible === undefined ? "taken" : "taken commit" }, content);
  }

  function row(run, step, number, threads, buffers) {
    const point = () => Program.point(step.instruction ?? null);
    const own = threads.map((thread) => (thread === step.thread ? cell(step, step.instruction) : el("td", {})));
    const waiting = buffers.map((thread, position) => el("td", { class: position === 0 ? "buffer first" : "buffer" }, step.buffers[thread].map((write) => named(write, 28, "name write-chip"))));
    return el("tr", { "data-step": number, onmouseenter: point, onmouseleave: () => Program.point(null), onfocusin: point, onfocusout: () => Program.point(null) }, el("th", { scope: "row", class: "right" }, String(number + 1)), own, waiting);
  }

  function table(run) {
    const all = run.threads.map((_, thread) => thread);
    const threads = all.filter((thread) => run.steps.some((step) => step.thread === thread));
    const buffers = all.filter((thread) => run.steps.some((step) => (step.buffers[thread] ?? []).length > 0));
    const head = [el("th", { scope: "col", class: "right" }, "step"), threads.map((thread) => el("th", { scope: "col" }, named(run.threads[thread], 30))),
      buffers.map((thread, position) => el("th", { scope: "col", class: position === 0 ? "buffer first" : "buffer" }, "buffer of ", named(run.threads[thread], 30)))].flat();
    return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Run" }, el("table", { class: "run" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, run.steps.map((step, number) => row(run, step, number, threads, buffers)))));
  }

  // The run, or the lines that there are instead of one, and what is wrong with it.
  function details(number) {
    const run = result().runs[number];
    const shownPart = run.steps !== undefined ? (run.steps.length > 0 ? table(run) : null) : run.text === "" ? null : el("pre", {}, el("code", {}, run.text.split("\n").map(visible).join("\n")));
    return [shownPart, el("p", {}, visible(run.because))];
  }

  // The runs that a fence stops, to choose from.
  function choices(fence, current) {
    const button = (run) => el("li", {}, el("button", { type: "button", class: "delay-choice", "data-run": run, "aria-pressed": String(run === current), onclick: () => select({ fence, run }) }, `run ${run}`));
    return el("div", {}, el("p", { class: "kicker" }, "The runs that it stops"), el("ul", { class: "delay-choices" }, result().fences[fence].stops.map(button)));
  }

  return { details, choices };
})();
