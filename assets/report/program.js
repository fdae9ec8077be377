// The program's text, with what the chosen memory model needs drawn in at its place.

const Program = (() => {
  const LONGEST_PIECE = 400;
  const container = document.getElementById("program");
  // For each instruction: the lines that it stands on, and its column on the first.
  const places = new Map();

  DATA.listing.lines.forEach((line, number) => {
    let column = 0;
    for (const piece of line.pieces) {
      for (const instruction of piece.instructions ?? []) {
        const place = places.get(instruction) ?? { first: number, column };
        place.last = number;
        places.set(instruction, place);
      }
      column += widthOf(piece.text, column);
    }
  });

  // Columns that a text takes, tabs being four wide.
  function widthOf(text, column) {
    let width = 0;
    for (const c of shown(text, LONGEST_PIECE)) width += c === "\t" ? 4 - ((column + width) % 4) : 1;
    return width;
  }

  function inserted(kind, column, glyph, button) {
    return el("div", { class: `line inserted ${kind}` }, el("span", { class: "number" }, "+"), el("span", { class: "code" }, el("span", { class: "indent", style: `flex-basis: ${column}ch` }), el("span", { class: "glyph" }, glyph), button));
  }

  function fenceRow(number) {
    const fence = result().fences[number];
    const glyph = { before: "╭ ", after: "╰ ", inside: "├ ", on: "• ", state: "╰ " }[fence.position];
    const button = el("button", { type: "button", class: `fence ${fence.kind}`, "data-fence": number, onclick: () => select({ fence: number }) },
      el("span", {}, fenceNumber(number)), " ", el("b", {}, named(fence.mnemonic, 32)), ` ${placeWords(fence)} `, named(instructionName(fence.at), 32), fence.position === "inside" ? insideWords(fence) : fence.position === "state" ? stateWords(fence) : null);
    return inserted("fence-line", places.get(fence.at)?.column ?? 0, glyph, button);
  }

  // The accesses that a fence inside an instruction separates.
  function insideWords(fence) {
    const names = (wanted) => nodesOfInstruction[fence.at].filter((node) => wanted(DATA.nodes[node].level)).map(accessName).join(", ");
    return el("span", { class: "muted" }, ", between ", named(names((level) => level < fence.level), 32), " and ", named(names((level) => level >= fence.level), 32));
  }

  // A fence at a control state is one fence, behind all that leads there.
  function stateWords(fence) {
    return el("span", { class: "muted" }, fence.state ? [" (", named(fence.state, 32), ")"] : null, ", on every way into it");
  }

  function lockRow(number, instruction, verb) {
    const lock = result().locks[number];
    const locations = lock.locations.map((location) => DATA.locations[location]).join(", ");
    const button = el("button", { type: "button", class: "lock", "data-lock": number, onclick: () => select({ lock: number }) },
      el("span", {}, lockName(number)), " ", el("b", {}, `${verb} lock`), " for ", named(locations, 32), ", ", named(instructionName(instruction), 32));
    return inserted("lock-line", places.get(instruction)?.column ?? 0, verb === "acquire" ? "╭ " : "╰ ", button);
  }

  // What stands above and below each line.
  function insertions() {
    const above = new Map(), below = new Map();
    const put = (map, line, row) => map.set(line, [...(map.get(line) ?? []), row]);
    const outcome = result();
    outcome.fences.forEach((fence, number) => {
      const place = places.get(fence.at);
      if (place && fence.position === "before") put(above, place.first, fenceRow(number));
    });
    outcome.locks.forEach((lock, number) => {
      for (const [instruction] of lock.users) {
        const place = places.get(instruction);
        if (place) put(above, place.first, lockRow(number, instruction, "acquire"));
      }
    });
    outcome.fences.forEach((fence, number) => {
      const place = places.get(fence.at);
      if (place && (fence.position === "inside" || fence.position === "on")) put(below, place.last, fenceRow(number));
    });
    // The lock that was acquired last is released first.
    outcome.locks.map((lock, number) => [lock, number]).reverse().forEach(([lock, number]) => {
      for (const [instruction] of lock.users) {
        const place = places.get(instruction);
        if (place) put(below, place.last, lockRow(number, instruction, "release"));
      }
    });
    outcome.fences.forEach((fence, number) => {
      const place = places.get(fence.at);
      if (place && (fence.position === "after" || fence.position === "state")) put(below, place.last, fenceRow(number));
    });
    return { above, below };
  }

  function pieceElement(piece) {
    const text = shown(piece.text, LONGEST_PIECE);
    const title = text === piece.text ? null : visible(piece.text);
    if (!piece.instructions) return title ? el("span", { title }, text) : text;
    const instructions = piece.instructions.join(" ");
    return el("span", { class: "instr", title: title ?? shown(piece.instructions.map(instructionName).join(", "), 200), "data-instructions": instructions }, text);
  }

  function lineElement(line, number) {
    if (line.thread !== undefined) {
      return el("div", { class: "line thread-line" }, el("span", { class: "number" }), el("span", { class: "code" }, "thread ", named(DATA.threads[line.thread], 60)));
    }
    const label = DATA.listing.path === null ? "" : String(number + 1);
    return el("div", { class: "line" }, el("span", { class: "number" }, label), el("span", { class: "code" }, line.pieces.map(pieceElement)));
  }

  // Draws everything anew: the memory model is another one.
  function draw() {
    const { above, below } = insertions();
    const lines = DATA.listing.lines.flatMap((line, number) => [...(above.get(number) ?? []), lineElement(line, number), ...(below.get(number) ?? [])]);
    container.replaceChildren(...lines);
    const missing = result().fences.filter((fence) => !places.has(fence.at));
    if (missing.length > 0) {
      container.append(el("p", { class: "notice" }, `${count(missing.length, "fence")} stand at instructions that are not in this text; see the list above.`));
    }
    const caption = document.getElementById("program-caption");
    caption.replaceChildren(DATA.listing.path === null ? "instructions as the labels say them" : named(DATA.listing.path, 60), ` · for ${shown(result().memory_model, 20)}`);
  }

  // Lights what is selected.
  function update() {
    kept = null;
    point(null);
    const witness = shownWitness() ?? [];
    const lit = new Set(witness.map(([node]) => String(DATA.nodes[node].instruction)));
    if (state.node !== null) lit.add(String(DATA.nodes[state.node].instruction));
    const run = shownRun();
    for (const step of run === null ? [] : result().runs[run].steps ?? []) lit.add(String(step.instruction));
    for (const span of container.querySelectorAll(".instr")) {
      span.classList.toggle("lit", span.dataset.instructions.split(" ").some((instruction) => lit.has(instruction)));
    }
    const chosen = container.querySelector("[aria-pressed=true]") ?? container.querySelector(".instr.lit");
    if (chosen) bringIntoView(chosen);
  }

  const spansOf = (instruction) => [...container.querySelectorAll(".instr")].filter((span) => span.dataset.instructions.split(" ").includes(String(instruction)));

  // The instruction that a click on a step has shown, or null.
  let kept = null;

  // Points at one instruction, as long as the mouse is on a step of it; if it is null, at the one that was shown, if one was.
  function point(instruction) {
    container.querySelectorAll(".instr.pointed").forEach((span) => span.classList.remove("pointed"));
    const at = instruction ?? kept;
    if (at !== null) spansOf(at).forEach((span) => span.classList.add("pointed"));
  }

  // Brings an instruction into view, and points at it until something else is selected.
  function show(instruction) {
    const [first] = spansOf(instruction);
    if (!first) return;
    kept = instruction;
    point(instruction);
    document.getElementById("program-panel").scrollIntoView({ block: "nearest" });
    bringIntoView(first);
  }

  // Scrolls the panel, and not the page.
  function bringIntoView(element) {
    const [box, view] = [element.getBoundingClientRect(), container.getBoundingClientRect()];
    if (box.top < view.top + 8 || box.bottom > view.bottom - 8) {
      container.scrollTop += box.top - view.top - view.height / 2;
    }
  }

  return { draw, update, point, show };
})();
