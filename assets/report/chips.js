// Buttons for fences and locks, wherever they are listed: what is put in, where, and the instruction's text.

const Chips = (() => {
  // More than these make a card longer than a screen: the others are behind a line that says how many there are.
  const FEW = 10;

  function button(kind, model, number, className, title, content) {
    return el("button", { type: "button", class: className, "data-model": model, [`data-${kind}`]: number, title, onclick: () => select({ model, [kind]: number }) }, content);
  }

  function fence(model, number) {
    const place = DATA.results[model].fences[number];
    return button("fence", model, number, `fence ${place.kind}`, shown(fenceName(place), 200),
      [el("span", {}, fenceNumber(number)), " ", el("b", {}, named(place.mnemonic, 40)), ` ${placeWords(place)} `, named(instructionName(place.at), 24), " ", named(DATA.instructions[place.at].text, 48, "name code-text muted")]);
  }

  // In the row of its instruction, which need not be named again.
  function fenceInRow(model, number) {
    const place = DATA.results[model].fences[number];
    return button("fence", model, number, `fence ${place.kind}`, shown(fenceName(place), 200), [el("span", {}, fenceNumber(number)), " ", el("b", {}, named(place.mnemonic, 36)), ` ${placeWords(place)} it`]);
  }

  function lock(model, number) {
    const { locations } = DATA.results[model].locks[number];
    return button("lock", model, number, "lock", null, [el("span", {}, lockName(number)), " ", el("b", {}, "lock"), " for ", named(locations.map((location) => DATA.locations[location]).join(", "), 40)]);
  }

  // All of a memory model. The first ones are seen at once, whole.
  function list(model) {
    const outcome = DATA.results[model];
    const chips = [...outcome.fences.map((_, number) => fence(model, number)), ...outcome.locks.map((_, number) => lock(model, number))];
    const [first, rest] = chips.length <= FEW + 2 ? [chips, []] : [chips.slice(0, FEW), chips.slice(FEW)];
    const more = rest.length === 0 ? null : el("details", { class: "more" }, el("summary", {}, `and ${rest.length.toLocaleString("en")} more`), el("div", { class: "fence-list" }, rest));
    return [el("div", { class: "fence-list" }, first), more];
  }

  // A chip that is selected elsewhere must not be hidden here.
  function uncover() {
    for (const chip of document.querySelectorAll("details.more:not([open]) button[aria-pressed=true]")) chip.closest("details").open = true;
  }

  return { fence, fenceInRow, lock, list, uncover };
})();
