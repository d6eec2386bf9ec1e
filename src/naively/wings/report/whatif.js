// Moves the cells of a row, scores it by the model's scorecard, and shows the posterior and its
// evidence.
page.whatIf = (() => {
  const { find, element, visible, data, shown, nats } = page, model = page.read("scorer");
  if (!model) return null;
  const CLASSES = 6, LINES = 12, OPEN = 8; // that are shown
  const SOME_TIME = "2000-01-01T00:00:00";
  const scorer = naively.scorer(model.card);
  const start = find("start"), several = model.classes.length > 1;
  const said = (c) => (model.target ? `${model.target} = ${model.classes[c]}` : model.classes[c]);
  const listeners = [];
  let row = {}, moved = false, last = [], others = null;

  // What the columns that are not on the page say of the row to start from stays as it is.
  const scores = (of) => scorer.scores(of).map((score, c) => score + (others ? others[c] : 0));
  const posterior = (of) => {
    if (!others) return Array.from(scorer.posterior(of));
    const joint = scores(of), top = Math.max(...joint), p = Array.from(joint, (score) => Math.exp(score - top));
    return p.map((each) => each / p.reduce((a, b) => a + b, 0));
  };

  // The posterior: a bar for each class, or for those that are most probable.
  const bars = model.classes.map((_, c) => {
    const fill = element("div", { className: "fill" }), value = element("output");
    value.dataset.c = c;
    const line = element("div", { className: "bar" }, element("span", {}, data(said(c))),
      element("div", { className: "track" }, fill), value);
    find("posterior").append(line);
    return { line, fill, value };
  });
  const showPosterior = (p, order) => {
    const first = new Set(order.slice(0, CLASSES));
    p.forEach((of, c) => {
      bars[c].fill.style.width = `${100 * of}%`;
      bars[c].value.textContent = of.toFixed(3);
      bars[c].value.dataset.p = of;
      bars[c].line.hidden = !first.has(c);
    });
    find("posterior").append(...order.map((c) => bars[c].line)); // in the order of their length
  };

  // The evidence for the most probable class against the second: what weighs most, and the sum.
  const showEvidence = (p, [best, rival]) => {
    const rest = others ? [{ column: "other columns", value: null, evidence: others }] : [];
    const lines = [...scorer.explain(row), ...rest].map(({ column, value, evidence }) => (
      [column, value, evidence[best] === evidence[rival] ? 0 : evidence[best] - evidence[rival]]));
    lines.sort((a, b) => Math.abs(b[2]) - Math.abs(a[2]));
    const more = lines.splice(LINES), sum = (of) => of.reduce((total, [, , weight]) => total + weight, 0);
    if (more.length) lines.push([`${more.length} more`, null, sum(more)]);
    const most = Math.max(...lines.map(([, , weight]) => Math.abs(weight)).filter(Number.isFinite));
    const cell = (weight) => {
      const fill = element("div", { className: weight < 0 ? "fill against" : "fill" });
      fill.style.width = `${50 * Math.min(Math.abs(weight) / most, 1) || 0}%`;
      return element("td", { className: "signed" }, element("div", { className: "track" }, fill));
    };
    const line = (column, value, bar, weight) => element("tr", {}, element("td", {}, data(column)),
      element("td", {}, data(shown(value))), bar, element("td", { className: "n", textContent: nats(weight) }));
    const odds = Math.log(p[best] / p[rival]), total = sum(lines);
    find("evidence").tBodies[0].replaceChildren(
      ...lines.map(([column, value, weight]) => line(column, value, cell(weight), weight)),
      line("log odds", null, element("td"), Number.isNaN(total) ? odds : total));
    find("against").replaceChildren("Evidence for ", data(model.classes[best]), " against ",
      data(model.classes[rival]), ", in nats");
  };

  const update = () => {
    const p = posterior(row), order = [...p.keys()].sort((a, b) => p[b] - p[a]);
    showPosterior(p, order);
    if (several) showEvidence(p, order);
    const whole = moved || others ? undefined : model.rows[start.value]?.whole;
    find("whole").hidden = !whole;
    if (whole) find("whole").replaceChildren("The whole model says ", data(said(order[0])), ` with probability ${whole[order[0]].toFixed(3)}.`);
    last = order;
    listeners.forEach((listen) => listen(row, order, moved));
  };

  // The levels of a column: those that the model knows, those of the rows, and one that it never saw.
  const levelsOf = (name) => {
    const known = model.card.terms.flatMap((term) => [term, term.a, term.b])
      .filter((of) => of && of.column === name && of.levels && !of.part).flatMap((of) => of.levels);
    const found = new Set([...known.sort(), ...model.rows.map(({ cells }) => cells[name]).filter((cell) => cell !== null)]);
    let never = "(never seen)";
    while (found.has(never)) never = `(${never})`;
    return [...found, never];
  };

  // How a cell of each kind is moved: the elements, how their cell is read, and how it is written.
  const choice = (values, names = values) => (id) => {
    const options = names.map((name, i) => element("option", { value: i, textContent: visible(name) }));
    const select = element("select", { id }, ...options);
    return {
      parts: [select],
      read: () => values[select.selectedIndex],
      write: (cell) => { if (cell !== null) select.selectedIndex = values.indexOf(cell); },
    };
  };
  const KINDS = {
    number: ({ name, low, high, step }) => (id) => {
      const input = element("input", { id, type: "number", step: "any" });
      const write = (cell) => { input.value = Number.isFinite(cell) ? cell : ""; };
      const read = () => (input.value === "" ? null : Number(input.value));
      if (low === undefined) return { parts: [input], read, write };
      const slider = element("input", { type: "range", min: low, max: high, step, ariaLabel: `${visible(name)}, by slider` });
      slider.addEventListener("input", () => { input.value = slider.value; });
      input.addEventListener("input", () => { if (input.value !== "") slider.value = input.value; });
      return {
        parts: [slider, input],
        read,
        write: (cell) => { write(cell); if (cell !== null) slider.value = cell; },
      };
    },
    boolean: () => choice([false, true], ["False", "True"]),
    string: ({ name }) => choice(levelsOf(name)),
    time: () => (id) => {
      const input = element("input", { id, type: "datetime-local", step: 1, max: "9999-12-31T23:59:59" });
      return {
        parts: [input],
        read: () => (/^\d{4}-/.test(input.value) ? input.value : null),
        write: (cell) => { input.value = cell === null ? "" : cell.slice(0, 19); },
      };
    },
    text: () => (id) => {
      const area = element("textarea", { id, rows: 3 });
      return {
        parts: [area],
        read: () => area.value,
        write: (cell) => { area.value = Array.isArray(cell) ? cell.join(" ") : cell ?? ""; },
      };
    },
  };

  const more = element("details", {}, element("summary", { textContent: `${model.columns.length - OPEN} more columns` }));
  const controls = model.columns.map((column, j) => {
    const { name, kind } = column, id = `cell-${j}`;
    const { parts, read, write } = KINDS[kind](column)(id);
    const box = element("input", { type: "checkbox", id: `missing-${j}`, ariaLabel: `${visible(name)} is missing` });
    const line = element("div", { className: `cell ${kind}` }, element("label", { htmlFor: id }, data(name)),
      element("div", { className: "parts" }, ...parts), element("label", { className: "missing" }, box, " missing"));
    let last;
    const set = (cell) => {
      row[name] = cell;
      if (cell !== null) last = cell;
      box.checked = cell === null;
      line.classList.toggle("absent", cell === null);
    };
    const move = (cell) => { moved = true; set(cell); write(cell); update(); };
    for (const part of parts) part.addEventListener("input", () => { moved = true; set(read()); update(); });
    box.addEventListener("input", () => move(box.checked ? null : last));
    (j < OPEN ? find("cells") : more).append(line);
    const show = () => {
      const known = model.rows.map(({ cells }) => cells[name]).find((cell) => cell !== null && cell !== undefined);
      last = known ?? read() ?? (kind === "time" ? SOME_TIME : Number(parts[0].value)); // where a slider is
      write(last);
      set(row[name]);
      write(row[name]);
    };
    return { column, line, move, show };
  });
  if (model.columns.length > OPEN) find("cells").append(more);

  const restart = () => {
    row = Object.fromEntries(model.card.columns.map(({ name }) => [name, null]));
    Object.assign(row, model.rows[start.value]?.cells);
    const whole = model.others && model.rows[start.value]?.whole, known = whole && scorer.scores(row);
    others = whole ? whole.map((p, c) => Math.log(Math.max(p, 1e-300)) - known[c]) : null;
    moved = false;
    controls.forEach(({ show }) => show());
    update();
  };
  const numbers = new Set(model.card.columns.filter(({ kind }) => kind === "number").map(({ name }) => name));
  for (const { cells } of model.rows) { // JSON has no infinity
    for (const name of numbers) if (typeof cells[name] === "string") cells[name] = cells[name] === "inf" ? Infinity : -Infinity;
  }
  model.rows.forEach((of, i) => start.append(element("option", { value: i, textContent: of.name })));
  start.append(element("option", { value: "none", textContent: "a row without any cell" }));
  const unsure = model.rows.findIndex((of) => of.name.startsWith("least sure"));
  if (unsure > 0) start.value = unsure; // where a cell matters most
  start.addEventListener("input", restart);
  find("again").addEventListener("click", restart);
  find("why").hidden = !several; // nothing speaks against the only class
  restart();
  return { model, scorer, scores, controls, said, levelsOf, listen: (of) => { listeners.push(of); of(row, last, moved); } };
})();
