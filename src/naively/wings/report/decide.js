// A threshold and costs that can be moved: what is answered then, and the curves that it runs along.
(() => {
  const { find, element, drawn, data, visible, options } = page, judged = page.read("judged");
  if (!judged) return;
  const { names, steps } = judged, WIDTH = 170, HEIGHT = 150, LEFT = 26, LOW = 26, ROOM = 8;
  const select = find("decided"), slider = find("threshold"), costs = [find("cost-alarm"), find("cost-miss")];
  let counts;

  // For each threshold in thousandths: rows of the class, and others, at or above it.
  const countsOf = (lines) => {
    const above = Array.from({ length: steps + 2 }, () => [0, 0]);
    for (const [at, inside, outside] of lines) above[at] = [inside, outside];
    for (let i = steps - 1; i >= 0; i--) above[i] = [above[i][0] + above[i + 1][0], above[i][1] + above[i + 1][1]];
    return above;
  };
  const rows = (n) => n.toLocaleString("en", { maximumFractionDigits: 0 });
  const share = (a, b) => (b ? `${((100 * a) / b).toFixed(1)} %` : "–");
  const line = (name, cells) => element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((n) => {
    const cell = element("td", { className: "n", textContent: rows(n) });
    cell.dataset.n = n;
    return cell;
  }));

  // A curve of points from 0 to 1 across and 0 to `most` up, with a dot where the threshold is.
  const curve = (title, [across, up], points, dot, most, chance) => {
    const x = (a) => LEFT + (WIDTH - LEFT - ROOM) * a, y = (b) => HEIGHT - LOW - ((HEIGHT - LOW - ROOM) * Math.min(b, most)) / most;
    const path = (of) => `M${of.map(([a, b]) => `${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("L")}`;
    const text = (a, b, said, more = {}) => drawn("text", { x: a, y: b, "text-anchor": "middle", ...more }, said);
    const shapes = [
      drawn("path", { class: "axis", d: `M${LEFT} ${ROOM}V${HEIGHT - LOW}H${WIDTH - ROOM}` }),
      drawn("path", { class: "missing", d: path(chance) }), drawn("path", { class: "line", d: path(points) }),
      text(LEFT - 3, y(most) + 4, String(most), { "text-anchor": "end" }), text(LEFT - 3, y(0) + 2, "0", { "text-anchor": "end" }),
      text(x(1) - 2, HEIGHT - LOW + 11, "1"), text((LEFT + WIDTH) / 2, HEIGHT - LOW + 11, across),
      text(9, HEIGHT / 2 - 12, up, { transform: `rotate(-90 9 ${HEIGHT / 2 - 12})` }), text((LEFT + WIDTH) / 2, HEIGHT - 3, title, { class: "title" }),
    ];
    if (dot.every(Number.isFinite)) shapes.push(drawn("circle", { class: "for", cx: x(dot[0]), cy: y(dot[1]), r: 4 }));
    return drawn("svg", { class: "curve", role: "img", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-label": `${title}: ${up} ${dot[1].toFixed(3)} at ${across} ${dot[0].toFixed(3)}` }, ...shapes);
  };

  const show = () => {
    const at = Math.round(slider.value * steps), name = names[select.value];
    const [inside, outside] = counts[0].map(Math.round), n = inside + outside, [hits, alarms] = counts[at].map(Math.round), misses = inside - hits;
    find("threshold-said").textContent = `${((100 * at) / steps).toFixed(1)} %`;
    find("decisions").tBodies[0].replaceChildren(
      line(data(name), [hits, misses]), line(data("other rows"), [alarms, outside - alarms]));
    const [alarm, miss] = costs.map(({ value }) => Math.max(Number(value), 0)), cost = (alarm * alarms + miss * misses) / n;
    const none = Math.min(alarm * outside, miss * inside) / n, said = find("decided-said");
    said.dataset.cost = cost;
    said.textContent = `Precision: ${share(hits, hits + alarms)} of the rows answered “${visible(name)}” are right. Recall: ${share(hits, inside)} of its rows are found. `
      + `Accuracy: ${share(hits + outside - alarms, n)}. 100 rows cost ${(100 * cost).toFixed(1)}; the better of always and never costs ${(100 * none).toFixed(1)}.`;
    const every = counts.slice(0, steps + 2), of = (f) => every.map(f).filter((point) => point.every(Number.isFinite)), one = (f) => f(counts[at]);
    const precision = ([a, b]) => [a / inside, a / (a + b)], gain = ([a, b]) => [(a + b) / n, a / inside];
    const lift = ([a, b]) => [(a + b) / n, (a / (a + b)) * (n / inside)], roc = ([a, b]) => [b / outside, a / inside];
    const most = Math.max(1, Math.ceil(Math.max(...of(lift).map(([, y]) => y)) * 10) / 10), base = inside / n;
    find("decision-curves").replaceChildren(
      curve("precision, recall", ["recall", "precision"], of(precision), one(precision), 1, [[0, base], [1, base]]),
      curve("gain", ["rows answered", "found"], of(gain), one(gain), 1, [[0, 0], [1, 1]]),
      curve("lift", ["rows answered", "times base"], of(lift), one(lift), most, [[0, 1], [1, 1]]),
      curve("ROC", ["false alarms", "found"], of(roc), one(roc), 1, [[0, 0], [1, 1]]));
  };
  const choose = () => { counts = countsOf(judged.each[select.value]); show(); };
  const byCost = () => {
    const [alarm, miss] = costs.map(({ value }) => Math.max(Number(value), 0));
    if (alarm + miss > 0) slider.value = alarm / (alarm + miss);
    show();
  };
  options(select, names);
  select.value = judged.start;
  slider.value = 0.5;
  select.addEventListener("input", choose);
  slider.addEventListener("input", show);
  costs.forEach((input) => input.addEventListener("input", byCost));
  choose();
})();
