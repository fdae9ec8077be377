// The event graph: a column a thread, program order downwards, conflicts across.

const Graph = (() => {
  const NODE_HEIGHT = 28;
  const LEVEL_GAP = 42; // between accesses of one instruction that follow one another
  const ROW_GAP = 74; // between instructions: a fence after the one and another before the other find room
  const PER_LINE = 3; // accesses side by side
  const COLUMN_GAP = 110;
  const FEW_CONFLICTS = 300; // so many are shown without being asked for
  const MOST_CONFLICTS = 5000; // more would only be a blot, and slow
  const MOST_DELAYS = 500;
  const READABLE = 0.92; // at less than this the labels are small print
  const PADDING = 24;

  const container = document.getElementById("graph");
  const hidden = { threads: new Set(), locations: new Set() };
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let cy = null;
  let matches = [];
  let nextMatch = 0;
  // Where the columns layout has put each thread: centre and width.
  let columns = [];

  const id = (node) => `v${node}`;

  function label(node) {
    const { kind, location, instruction } = DATA.nodes[node];
    const name = shown(DATA.instructions[instruction].name, 10);
    return kind === undefined ? name : `${name}: ${kind} ${shown(DATA.locations[location], 16)}`;
  }

  const widthOf = (text) => Math.max(46, Math.min(200, Array.from(text).length * 7.2 + 18));

  // Everything but fences, at its place in the columns: moving nodes afterwards takes longer than making them.
  function elements() {
    const positions = columnPositions();
    const threads = DATA.threads.map((name, number) => ({ data: { id: `t${number}`, label: shown(name, 30) }, classes: "thread", selectable: false, grabbable: false }));
    const nodes = DATA.nodes.map((node, position) => {
      const text = label(position);
      return {
        data: { id: id(position), parent: `t${threadOf(position)}`, label: text, width: widthOf(text), node: position },
        position: positions.get(id(position)),
        classes: `vertex ${node.kind === undefined ? "quiet" : node.kind === "W" ? "write" : "read"}`,
      };
    });
    const edges = DATA.program_edges.map(([from, to], number) => {
      const bend = bendOf(positions.get(id(from)), positions.get(id(to)));
      return { data: { id: `p${number}`, source: id(from), target: id(to), bend }, classes: bend === 0 ? "po" : "po bent" };
    });
    return [...threads, ...nodes, ...edges];
  }

  function style() {
    const css = getComputedStyle(document.documentElement);
    const colour = (name) => css.getPropertyValue(`--${name}`).trim();
    const font = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
    return [
      { selector: "node.vertex", style: { shape: "round-rectangle", width: "data(width)", height: NODE_HEIGHT, label: "data(label)", "font-family": font, "font-size": 12, "text-valign": "center", "text-halign": "center", color: colour("text"), "background-color": colour("panel"), "border-width": 1.5, "border-color": colour("muted"), "min-zoomed-font-size": 5 } },
      { selector: "node.write", style: { "border-color": colour("write"), "background-color": colour("write-soft") } },
      { selector: "node.read", style: { "border-color": colour("read"), "background-color": colour("read-soft") } },
      { selector: "node.quiet", style: { "border-style": "dashed", color: colour("muted"), "border-color": colour("line-strong") } },
      { selector: "node.thread", style: { shape: "round-rectangle", label: "data(label)", "font-size": 14, "font-weight": 600, "text-valign": "top", "text-halign": "center", "text-margin-y": -6, color: colour("text"), "background-color": colour("column"), "background-opacity": 1, "border-width": 1, "border-color": colour("line"), padding: 22, events: "no" } },
      { selector: "node.fence", style: { shape: "round-rectangle", width: "data(width)", height: 16, label: "data(label)", "font-family": font, "font-size": 11, "font-weight": 600, "text-valign": "center", "text-halign": "center", color: colour("on-fence"), "background-color": colour("fence"), "border-width": 0, "min-zoomed-font-size": 5, "z-index": 5 } },
      { selector: "node.fence.cumulative", style: { "background-color": colour("cumulative") } },
      { selector: "node.locked", style: { "border-color": colour("lock"), "border-width": 3, "border-style": "double" } },
      { selector: "edge", style: { width: 1.5, "curve-style": "straight", "target-arrow-shape": "triangle", "arrow-scale": 0.8, events: "no" } },
      { selector: "edge.po", style: { "line-color": colour("line-strong"), "target-arrow-color": colour("line-strong") } },
      { selector: "edge.po.bent", style: { "curve-style": "unbundled-bezier", "control-point-distances": "data(bend)", "control-point-weights": 0.5 } },
      { selector: "edge.po:loop", style: { "curve-style": "bezier", "loop-direction": "90deg", "loop-sweep": "40deg" } },
      { selector: "edge.conflict", style: { width: 1, "line-style": "dotted", "line-color": colour("conflict"), "line-opacity": 0.55, "target-arrow-shape": "none" } },
      { selector: "edge.delay", style: { width: 2, "curve-style": "unbundled-bezier", "control-point-distances": "data(bend)", "control-point-weights": 0.5, "line-style": "dashed", "line-color": colour("fence"), "target-arrow-color": colour("fence"), "z-index": 8, "z-compound-depth": "top" } },
      { selector: "edge.cycle", style: { width: 3, "font-size": 11, "font-weight": 600, color: colour("text"), "text-background-color": colour("panel"), "text-background-opacity": 0.92, "text-background-padding": 2, "text-background-shape": "round-rectangle", "arrow-scale": 1.1, "z-index": 10, "z-compound-depth": "top" } },
      { selector: "edge.cycle.program", style: { label: "data(label)", "line-color": colour("cycle"), "target-arrow-color": colour("cycle"), "curve-style": "unbundled-bezier", "control-point-distances": "data(bend)", "control-point-weights": 0.5 } },
      // Two of these often cross in the middle: their names stand near their beginnings.
      { selector: "edge.cycle.across", style: { "source-label": "data(label)", "source-text-offset": 44, "line-color": colour("conflict"), "target-arrow-color": colour("conflict"), "curve-style": "bezier", "control-point-step-size": 30 } },
      { selector: ".dim", style: { opacity: 0.28 } },
      { selector: "node.thread.dim", style: { opacity: 1 } },
      { selector: "node.delayed", style: { opacity: 1, "border-width": 2.5, "border-color": colour("fence") } },
      { selector: "node.witness", style: { opacity: 1, "border-width": 3, "border-color": colour("cycle") } },
      { selector: "node.match", style: { opacity: 1, "underlay-color": colour("match"), "underlay-opacity": 0.7, "underlay-padding": 6 } },
      { selector: "node.chosen", style: { opacity: 1, "underlay-color": colour("accent"), "underlay-opacity": 0.45, "underlay-padding": 5 } },
      { selector: ".filtered", style: { display: "none" } },
    ];
  }

  // Threads side by side, instructions one below the other, the accesses of one instruction by their levels.
  function columnPositions() {
    const positions = new Map();
    columns = [];
    const instructionsOf = DATA.threads.map(() => []);
    DATA.instructions.forEach((instruction, number) => instructionsOf[instruction.thread].push(number));
    let left = 0;
    for (const instructions of instructionsOf) {
      instructions.sort((a, b) => DATA.instructions[a].row - DATA.instructions[b].row);
      const lines = instructions.map(linesOf);
      const lineWidth = (line) => line.reduce((sum, node) => sum + widthOf(label(node)), 0) + 14 * (line.length - 1);
      const width = Math.max(90, ...lines.flat().map(lineWidth));
      const centre = left + width / 2;
      let y = 0;
      for (const ofInstruction of lines) {
        for (const line of ofInstruction) {
          let x = centre - lineWidth(line) / 2;
          for (const node of line) {
            const nodeWidth = widthOf(label(node));
            positions.set(id(node), { x: x + nodeWidth / 2, y });
            x += nodeWidth + 14;
          }
          y += LEVEL_GAP;
        }
        y += ROW_GAP - LEVEL_GAP;
      }
      columns.push({ centre, width });
      left += width + COLUMN_GAP;
    }
    return positions;
  }

  // The accesses of an instruction in lines: a level begins a new one.
  function linesOf(instruction) {
    const levels = new Map();
    for (const node of nodesOfInstruction[instruction]) {
      const { level } = DATA.nodes[node];
      levels.set(level, [...(levels.get(level) ?? []), node]);
    }
    const lines = [];
    for (const level of [...levels.keys()].sort((a, b) => a - b)) {
      const nodes = levels.get(level);
      for (let first = 0; first < nodes.length; first += PER_LINE) lines.push(nodes.slice(first, first + PER_LINE));
    }
    return lines;
  }

  function layOut(name) {
    cy.batch(() => cy.nodes(".fence").remove());
    if (name === "dagre") {
      columns = [];
      cy.elements(".thread, .vertex, .po").layout({ name: "dagre", rankDir: "TB", nodeSep: 26, rankSep: 52, fit: false, animate: false }).run();
    } else {
      const positions = columnPositions();
      cy.batch(() => cy.nodes(".vertex").forEach((node) => node.position(positions.get(node.id()))));
    }
    cy.batch(bendEdges);
    drawFences();
    update();
    fit();
  }

  // Edges that would run through other nodes of their column go around them: forwards on the right, back to the beginning of a loop on the left.
  function bendEdges() {
    cy.edges(".po").forEach((edge) => {
      const bend = bendOf(edge.source().position(), edge.target().position());
      edge.data("bend", bend);
      edge.toggleClass("bent", bend !== 0);
    });
  }

  function bendOf(from, to) {
    if (columns.length === 0) return 0;
    const distance = to.y - from.y;
    if (distance >= 0 && distance <= ROW_GAP + 1) return 0;
    // The distance of a bend is measured to the left of an edge that goes down, and so is on the right of one that goes up.
    return -Math.min(40 + Math.abs(distance) * 0.18, 170);
  }

  // The fences of the memory model, each at its place.
  function drawFences() {
    const outcome = result();
    cy.batch(() => {
      cy.nodes(".fence").remove();
      cy.nodes(".locked").removeClass("locked");
      cy.add(outcome.fences.map((fence, number) => {
        const thread = DATA.instructions[fence.at].thread;
        const box = placeOf(fence);
        return { group: "nodes", data: { id: `f${number}`, parent: `t${thread}`, label: `${fenceNumber(number)} ${shown(fence.mnemonic, 22)}`, width: box.width, fence: number }, position: { x: box.x, y: box.y }, classes: `fence ${fence.kind}`, grabbable: false };
      }));
      for (const lock of outcome.locks) {
        for (const [instruction] of lock.users) nodesOfInstruction[instruction].forEach((node) => cy.$id(id(node)).addClass("locked"));
      }
    });
  }

  function placeOf(fence) {
    const points = nodesOfInstruction[fence.at].map((node) => ({ ...cy.$id(id(node)).position(), level: DATA.nodes[node].level, width: cy.$id(id(node)).data("width") }));
    const ys = (wanted) => points.filter(wanted).map((point) => point.y);
    const column = columns[DATA.instructions[fence.at].thread];
    const left = Math.min(...points.map((point) => point.x - point.width / 2));
    const right = Math.max(...points.map((point) => point.x + point.width / 2));
    const box = column ? { x: column.centre, width: column.width + 16 } : { x: (left + right) / 2, width: Math.max(80, right - left + 10) };
    const above = Math.max(...ys((point) => point.level < fence.level));
    const below = Math.min(...ys((point) => point.level >= fence.level));
    const edge = NODE_HEIGHT / 2 + 12;
    if (fence.position === "before") box.y = Math.min(...ys(() => true)) - edge;
    else if (fence.position === "inside" && Number.isFinite(above) && Number.isFinite(below)) box.y = (above + below) / 2;
    else box.y = Math.max(...ys(() => true)) + edge;
    return box;
  }

  // Which nodes the filters let through.
  const passes = (node) => {
    const { location } = DATA.nodes[node];
    return !hidden.threads.has(threadOf(node)) && (location === undefined ? hidden.locations.size === 0 : !hidden.locations.has(location));
  };

  // Shows the selection: everything else steps back.
  function update() {
    if (!cy) return;
    const witness = shownWitness();
    const { delays } = result();
    const served = shownDelays();
    const delayed = new Set(served.flatMap((delay) => [delays[delay].from, delays[delay].to]));
    const inWitness = new Set((witness ?? []).map(([node]) => node));
    const users = new Set(state.lock === null ? [] : result().locks[state.lock].users.flatMap(([instruction]) => nodesOfInstruction[instruction]));
    const isSelection = witness !== null || state.node !== null || users.size > 0;
    const found = new Set(matches);
    const xs = (witness ?? []).map(([node]) => cy.$id(id(node)).position().x);
    const middle = xs.reduce((sum, x) => sum + x, 0) / Math.max(1, xs.length);
    cy.batch(() => {
      cy.edges(".delay, .cycle, .conflict").remove();
      cy.nodes(".vertex").forEach((element) => {
        const node = element.data("node");
        const isLit = inWitness.has(node) || delayed.has(node) || users.has(node) || state.node === node;
        element.toggleClass("witness", inWitness.has(node)).toggleClass("delayed", delayed.has(node)).toggleClass("chosen", state.node === node);
        element.toggleClass("match", found.has(node)).toggleClass("dim", isSelection && !isLit).toggleClass("filtered", !passes(node) && !isLit);
      });
      cy.nodes(".fence").forEach((element) => {
        const number = element.data("fence");
        const thread = DATA.instructions[result().fences[number].at].thread;
        element.toggleClass("chosen", state.fence === number).toggleClass("dim", isSelection && state.fence !== number);
        element.toggleClass("filtered", hidden.threads.has(thread) && state.fence !== number);
      });
      cy.nodes(".thread").forEach((element) => element.toggleClass("filtered", element.children().every((child) => child.hasClass("filtered"))));
      cy.edges(".po").toggleClass("dim", isSelection);
      for (const delay of served.slice(0, MOST_DELAYS)) {
        const { from, to } = delays[delay];
        cy.add({ data: { id: `d${delay}`, source: id(from), target: id(to), bend: -bendAway(from, to, middle) }, classes: "delay", selectable: false });
      }
      (witness ?? []).forEach(([node, name], step) => {
        const [next] = witness[(step + 1) % witness.length];
        const kind = isProgramEdge(name) ? "program" : "across";
        cy.add({ data: { id: `c${step}`, source: id(node), target: id(next), label: name, bend: kind === "program" ? bendAway(node, next, middle) : 0 }, classes: `cycle ${kind}`, selectable: false });
      });
    });
    drawConflicts(inWitness);
    tell(served.length);
  }

  // How far an edge within a thread bends, so that it runs beside the nodes and on the side away from the middle of the cycle.
  function bendAway(from, to, middle) {
    const [a, b] = [cy.$id(id(from)).position(), cy.$id(id(to)).position()];
    const column = columns[threadOf(from)];
    const x = column ? column.centre : (a.x + b.x) / 2;
    // A curve goes half as far as its control point; a positive distance is to the left of who goes down.
    const distance = (column ? column.width : 90) + 26 + Math.min(Math.abs(a.y - b.y) * 0.1, 60);
    const isLeft = x <= middle;
    const isDown = b.y >= a.y;
    return isLeft === isDown ? distance : -distance;
  }

  let conflictNote = "";
  // Whether the graph is larger than what is seen at first.
  let isPart = false;

  function drawConflicts(focus) {
    const choice = document.getElementById("conflicts").value;
    conflictNote = "";
    if (choice === "none") return;
    const visibleNodes = DATA.nodes.map((_, node) => node).filter((node) => DATA.nodes[node].location !== undefined && !cy.$id(id(node)).hasClass("filtered"));
    const wanted = choice === "all" ? null : new Set(state.node === null ? focus : [state.node]);
    const pairs = [];
    let total = 0;
    const byLocation = new Map();
    for (const node of visibleNodes) {
      const { location } = DATA.nodes[node];
      byLocation.set(location, [...(byLocation.get(location) ?? []), node]);
    }
    for (const nodes of byLocation.values()) {
      for (let first = 0; first < nodes.length; first++) {
        for (let second = first + 1; second < nodes.length; second++) {
          const [a, b] = [nodes[first], nodes[second]];
          if ((wanted && !wanted.has(a) && !wanted.has(b)) || !conflict(a, b)) continue;
          total++;
          if (pairs.length < MOST_CONFLICTS) pairs.push([a, b]);
        }
      }
    }
    if (total > MOST_CONFLICTS) {
      conflictNote = `${count(total, "conflict")} are too many to draw: filter by thread or location, or choose those of the selection.`;
      return;
    }
    conflictNote = `${count(total, "conflict")}${choice === "all" ? "" : " of the selection"}`;
    const isSelection = shownWitness() !== null;
    cy.batch(() => cy.add(pairs.map(([a, b]) => ({ data: { source: id(a), target: id(b) }, classes: isSelection && choice === "all" ? "conflict dim" : "conflict", selectable: false }))));
  }

  function tell(served) {
    const parts = [];
    const shownNodes = cy.nodes(".vertex").filter((node) => !node.hasClass("filtered")).length;
    parts.push(shownNodes === DATA.nodes.length ? count(shownNodes, "node") : `${shownNodes} of ${count(DATA.nodes.length, "node")}`);
    if (conflictNote) parts.push(conflictNote);
    if (served > MOST_DELAYS) parts.push(`of ${served} delays the first ${MOST_DELAYS} are drawn; the table has all`);
    if (document.getElementById("search").value.trim() !== "") parts.push(`${count(matches.length, "match").replace("matchs", "matches")}`);
    if (isPart) parts.push("there is more than fits: drag to move, Fit shows all");
    document.getElementById("graph-status").textContent = parts.join(" · ");
  }

  // The threads contain everything but the bends of some edges.
  const shownThreads = () => cy.nodes(".thread").not(".filtered");

  // The width of the graph, from the top, and of a wide one the left part: what is shown can be read.
  function fit() {
    cy.resize();
    const box = shownThreads().boundingBox();
    const zoom = Math.max(READABLE, Math.min(1.2, (cy.width() - 2 * PADDING) / box.w));
    const room = (size, all) => Math.max(PADDING, (all - size * zoom) / 2);
    cy.viewport({ zoom, pan: { x: room(box.w, cy.width()) - box.x1 * zoom, y: room(box.h, cy.height()) - box.y1 * zoom } });
    isPart = box.w * zoom > cy.width() || box.h * zoom > cy.height();
    tell(shownDelays().length);
  }

  function fitAll() {
    cy.resize();
    cy.fit(shownThreads(), PADDING);
    isPart = false;
    tell(shownDelays().length);
  }

  // Moves the view to what is lit, if it is not in it.
  function bringIntoView() {
    if (!cy) return;
    const lit = cy.elements("node.witness, node.chosen, edge.cycle");
    if (lit.empty()) return;
    const [box, view] = [lit.boundingBox(), cy.extent()];
    if (box.x1 >= view.x1 && box.x2 <= view.x2 && box.y1 >= view.y1 && box.y2 <= view.y2) return;
    const target = { fit: { eles: lit, padding: 60 } };
    const zoom = Math.min((cy.width() - 120) / box.w, (cy.height() - 120) / box.h);
    const view2 = zoom > 1.2 ? { zoom: 1.2, center: { eles: lit } } : target;
    if (still) {
      if (view2.fit) cy.fit(lit, 60);
      else cy.zoom(1.2).center(lit);
    } else cy.animate(view2, { duration: 250 });
  }

  function search(text) {
    const words = text.trim().toLowerCase().split(/\s+/).filter((word) => word !== "");
    matches = words.length === 0 ? [] : DATA.nodes.map((_, node) => node).filter((node) => words.every((word) => searchText[node].includes(word)));
    nextMatch = 0;
    update();
  }

  function goToNextMatch() {
    if (matches.length === 0) return;
    const node = matches[nextMatch % matches.length];
    nextMatch++;
    select({ node });
  }

  function restyle() {
    if (cy) cy.style(style());
  }

  function zoom(factor) {
    cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
  }

  function filter(kind, position, isShown) {
    if (isShown) hidden[kind].delete(position);
    else hidden[kind].add(position);
    update();
  }

  function start() {
    cy = cytoscape({ container, elements: elements(), style: style(), layout: { name: "preset", fit: false }, minZoom: 0.02, maxZoom: 3, boxSelectionEnabled: false, autounselectify: true, autoungrabify: true, hideEdgesOnViewport: DATA.nodes.length > 2000, textureOnViewport: DATA.nodes.length > 2000, userZoomingEnabled: false });
    // The wheel scrolls the page until the graph has been asked for.
    container.addEventListener("focusin", () => cy.userZoomingEnabled(true));
    container.addEventListener("pointerdown", () => cy.userZoomingEnabled(true));
    container.addEventListener("pointerleave", () => cy.userZoomingEnabled(document.activeElement === container));
    container.addEventListener("focusout", () => cy.userZoomingEnabled(false));
    container.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: { x: 60, y: 0 }, ArrowRight: { x: -60, y: 0 }, ArrowUp: { x: 0, y: 60 }, ArrowDown: { x: 0, y: -60 } };
      if (moves[event.key]) cy.panBy(moves[event.key]);
      else if (event.key === "+" || event.key === "=") zoom(1.25);
      else if (event.key === "-") zoom(0.8);
      else if (event.key === "0") fitAll();
      else return;
      event.preventDefault();
    });
    cy.on("tap", "node.fence", (event) => select({ fence: event.target.data("fence") }));
    cy.on("tap", "node.vertex", (event) => select({ node: event.target.data("node") }));
    cy.on("tap", (event) => { if (event.target === cy) select({}); });
    cy.on("mouseover", "node.vertex, node.fence", (event) => {
      const { node, fence } = event.target.data();
      container.title = shown(fence === undefined ? `${instructionName(DATA.nodes[node].instruction)} ${accessName(node)}` : fenceName(result().fences[fence]), 400);
      container.style.cursor = "pointer";
    });
    cy.on("mouseout", "node", () => { container.title = ""; container.style.cursor = ""; });
    const total = conflictCount();
    document.getElementById("conflicts").value = total <= FEW_CONFLICTS ? "all" : "selected";
  }

  // By numbers of reads and writes, without looking at pairs.
  function conflictCount() {
    const tally = new Map();
    DATA.nodes.forEach(({ kind, location }, node) => {
      if (location === undefined) return;
      const entry = tally.get(location) ?? { R: 0, W: 0, threads: new Map() };
      const own = entry.threads.get(threadOf(node)) ?? { R: 0, W: 0 };
      entry[kind]++;
      own[kind]++;
      entry.threads.set(threadOf(node), own);
      tally.set(location, entry);
    });
    const pairs = ({ R, W }) => W * R + (W * (W - 1)) / 2;
    let total = 0;
    for (const entry of tally.values()) {
      total += pairs(entry);
      for (const own of entry.threads.values()) total -= pairs(own);
    }
    return total;
  }

  return { start, update, layOut, drawFences, fit, fitAll, zoom, search, goToNextMatch, restyle, filter, bringIntoView, conflictCount, get cy() { return cy; } };
})();
