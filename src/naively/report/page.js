"use strict";
// Moves a row along the values of its columns, adds up the evidence of its cells, and shows the
// posterior. Every number comes from the model; text is only ever set as text.
(() => {
  const model = JSON.parse(document.getElementById("scorer").textContent);
  const place = document.getElementById("cells");
  if (!place || !model.columns.length) return;
  const start = document.getElementById("start");
  const bars = document.getElementById("posterior");
  const at = [];
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const shown = (value) =>
    value === null ? "missing" : typeof value === "number" ? String(Number(value.toPrecision(6))) : value;

  const joint = () => {
    const total = model.rows[start.value].rest.slice();
    const add = (evidence) => evidence.forEach((nats, c) => { total[c] += nats; });
    model.columns.forEach((column, j) => add(column.evidence[at[j]]));
    model.pairs.forEach((pair) => add(pair.evidence[pair.bins_a[at[pair.a]]][pair.bins_b[at[pair.b]]]));
    return total;
  };
  const posterior = () => {
    const total = joint();
    const top = Math.max(...total);
    const p = total.map((nats) => Math.exp(nats - top));
    const sum = p.reduce((a, b) => a + b, 0);
    return p.map((of) => of / sum);
  };

  const lines = model.classes.map((name) => {
    const fill = element("div", { className: "fill" });
    const value = element("output");
    const line = element("div", { className: "bar" }, element("span", {}, element("bdi", { textContent: name })),
      element("div", { className: "track" }, fill), value);
    return { line, fill, value };
  });
  lines.forEach(({ line }) => bars.append(line));
  const many = lines.length > 8;

  const update = () => {
    const p = posterior();
    const last = many ? [...p].sort((a, b) => b - a)[7] : -1;
    p.forEach((of, c) => {
      lines[c].fill.style.width = `${100 * of}%`;
      lines[c].value.textContent = of.toFixed(4);
      lines[c].value.dataset.p = of;
      lines[c].line.hidden = of < last;
    });
  };

  const controls = model.columns.map((column, j) => {
    const id = `cell-${j}`;
    const output = element("output");
    const numeric = column.kind === "number";
    const last = column.values.length - 1; // the last value is a missing cell
    const control = numeric
      ? element("input", { type: "range", id, min: 0, max: last, step: 1 })
      : element("select", { id }, ...column.values.map((value, i) => element("option", { value: i, textContent: shown(value) })));
    control.addEventListener("input", () => { at[j] = Number(control.value); tell(); update(); });
    const tell = () => {
      control.value = at[j];
      output.textContent = numeric ? shown(column.values[at[j]]) : "";
      if (numeric) control.setAttribute("aria-valuetext", shown(column.values[at[j]]));
    };
    place.append(element("div", { className: "cell" },
      element("label", { htmlFor: id }, element("bdi", { textContent: column.name })), control, output));
    return tell;
  });

  const restart = () => {
    model.rows[start.value].at.forEach((value, j) => { at[j] = value; });
    controls.forEach((tell) => tell());
    update();
  };
  model.rows.forEach((row, i) => start.append(element("option", { value: i, textContent: row.name })));
  start.addEventListener("input", restart);
  const unsure = model.rows.findIndex((row) => row.name.startsWith("least sure"));
  if (unsure > 0) start.value = unsure; // where a cell matters most
  document.getElementById("again").addEventListener("click", restart);
  restart();
})();
