// The nomogram: each column's scale of weights, whose mark can be dragged, and what their sum means.
// The weights are those of the scorecard's own terms, and so sum to the log odds.
(() => {
  const { find, element, visible, data, shown, nats, options } = page, whatIf = page.whatIf;
  if (!whatIf || whatIf.model.classes.length < 2) return;
  const POINTS = 120, FAR = 8, OF_TEXT = 5, NEAR = 0.02, CHARACTER = 1.7; // of numbers; nats; shares; per cent
  const TICKS = [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999];
  const { model, scorer, controls, said } = whatIf, { card } = model;
  let [c, rival] = model.against, row = {};
  const against = (scores) => {
    const apart = scores[c] - scores[rival];
    return Number.isNaN(apart) ? 0 : apart;
  };

  const empty = naively.scorer({ ...card, terms: [], unicode: undefined }), begin = () => against(empty.scores({}));

  // What a column adds for the one class against the other, by a scorer that has its terms alone.
  const weigher = (name) => {
    const terms = card.terms.filter((term) => term.column === name);
    const text = terms.some(({ term }) => term === "tokens");
    const own = naively.scorer({ ...card, terms, unicode: text ? card.unicode : undefined });
    return (cell) => against(own.scores({ [name]: cell })) - begin();
  };
  const valuesOf = ({ name, kind, low, high, step: least }) => {
    if (kind === "boolean") return [false, true];
    if (kind === "string") return whatIf.levelsOf(name);
    if (kind !== "number" || low === undefined) return [];
    const whole = least === 1 && high - low <= POINTS, n = whole ? high - low : POINTS, step = (high - low) / n;
    return Array.from({ length: n + 1 }, (_, i) => Number((low + i * step).toPrecision(4)));
  };

  const scales = controls.map(({ column, line, move }) => {
    const handle = element("span", { className: "handle" }), range = element("span", { className: "range" });
    const marks = element("span", { className: "marks" }), zero = element("span", { className: "zero" });
    const value = element("output"), track = element("div", { className: "scale" }, zero, range, marks, handle);
    line.append(element("div", { className: "scaled" }, track, value));
    const scale = { column, line, move, track, handle, range, marks, zero, value, weigh: weigher(column.name), values: valuesOf(column) };
    if (column.kind === "text") {
      scale.marked = element("p", { className: "marked" });
      line.after(scale.marked);
    }
    return scale;
  });

  let low = -1, high = 1;
  const clip = (weight) => Math.min(Math.max(weight, low), high);
  const place = (weight) => (100 * (clip(weight) - low)) / (high - low);

  const quarters = (n) => (n <= 12 ? Array.from({ length: n + 1 }, (_, i) => i) : [0, 1, 2, 3, 4].map((i) => Math.round((i * n) / 4)));
  // Names stand at the weights of values, as many as have room, the outermost first.
  const written = ({ column, values, weights }) => {
    const some = column.kind === "number" ? quarters(values.length - 1) : [...values.keys()];
    const taken = [];
    return some.sort((a, b) => Math.abs(weights[b]) - Math.abs(weights[a])).filter((i) => {
      const half = (CHARACTER * Math.min(visible(shown(values[i])).length, 14)) / 2 + 1, at = place(weights[i]);
      if (at < half || at > 100 - half || taken.some(([x, other]) => Math.abs(x - at) < half + other)) return false;
      taken.push([at, half]);
      return true;
    });
  };
  const draw = () => {
    for (const scale of scales) scale.weights = scale.values.map(scale.weigh);
    const every = scales.flatMap(({ weights, weigh, column }) => [...weights, weigh(null), ...(column.kind === "text" ? [-OF_TEXT, OF_TEXT] : [])]).filter(Number.isFinite);
    low = Math.max(-FAR, Math.min(-0.5, ...every)); high = Math.min(FAR, Math.max(0.5, ...every));
    for (const scale of scales) {
      const { weights, values, range, marks, zero } = scale;
      zero.style.left = `${place(0)}%`;
      range.hidden = !weights.length;
      const ends = weights.length ? [Math.min(...weights), Math.max(...weights)].map(place) : [0, 0];
      Object.assign(range.style, { left: `${ends[0]}%`, width: `${ends[1] - ends[0]}%` });
      marks.replaceChildren(...written(scale).map((i) => {
        const mark = element("span", {}, visible(shown(values[i])).slice(0, 14));
        mark.style.left = `${place(weights[i])}%`;
        return mark;
      }));
    }
  };

  // A mark that is dragged takes the value whose weight is where it is, and of such the nearest.
  const near = ({ column, values, weights }, at, room = column.kind === "number" ? NEAR : 0) => {
    const off = weights.map((weight) => Math.abs(place(weight) - at) / 100), least = Math.min(...off);
    const cell = row[column.name], now = typeof cell === "number" ? cell : 0;
    const some = [...values.keys()].filter((i) => off[i] <= least + room);
    return some.sort((a, b) => Math.abs(values[a] - now) - Math.abs(values[b] - now) || off[a] - off[b])[0];
  };
  // The places on a scale from left to right, and which of them the row is at.
  const placesOf = ({ weights }) => [...new Set(weights.map(place))].sort((a, b) => a - b);
  const stepOf = (scale) => {
    const now = place(scale.weigh(row[scale.column.name])), off = placesOf(scale).map((x) => Math.abs(x - now));
    return off.indexOf(Math.min(...off));
  };
  for (const scale of scales.filter(({ values }) => values.length)) {
    const { column, track, handle, values, move } = scale;
    Object.assign(handle, { tabIndex: 0, role: "slider", ariaLabel: `${visible(column.name)}, by weight`, ariaValueMin: 0 });
    handle.classList.add("free");
    const drag = (event) => {
      const { left, width } = track.getBoundingClientRect();
      move(values[near(scale, (100 * (event.clientX - left)) / width)]);
    };
    track.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault(); handle.focus({ preventScroll: true });
      track.setPointerCapture(event.pointerId);
      drag(event);
    });
    track.addEventListener("pointermove", (event) => { if (track.hasPointerCapture(event.pointerId)) drag(event); });
    handle.addEventListener("keydown", (event) => {
      const { key } = event;
      const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[key];
      const to = key === "Home" ? 0 : key === "End" ? Infinity : by && stepOf(scale) + by;
      if (to === undefined) return;
      event.preventDefault();
      const places = placesOf(scale);
      move(values[near(scale, places[Math.min(Math.max(to, 0), places.length - 1)], 0)]);
    });
  }

  // The words of a text, marked by their weights: what an n-gram says is shared out to the pieces
  // of the text that hold it.
  const once = (split, known = new Map()) => (text) => known.get(text) ?? known.set(text, split(text)).get(text); // folding takes long
  const splitters = new Map(card.terms.filter(({ term }) => term === "tokens").map((term) => [term, once(naively.tokensOf(term.split, naively.unicodeOf(card.unicode)))]));
  const mark = ({ column: { name }, marked }) => {
    const cell = row[name], text = Array.isArray(cell) ? cell.join(" ") : cell ?? "";
    const pieces = text.split(/(\s+)/).slice(0, 400), words = [...pieces.keys()].filter((i) => pieces[i].trim());
    const weights = new Array(pieces.length).fill(0), holders = new Map();
    for (const [term, split] of splitters) {
      if (term.column !== name) continue;
      const hold = (i, token) => { if (!holders.has(token)) holders.set(token, new Set()); holders.get(token).add(i); };
      words.forEach((i, n) => {
        split(pieces[i]).forEach((token) => hold(i, token));
        const next = words[n + 1];
        if (next !== undefined) split(`${pieces[i]} ${pieces[next]}`).forEach((token) => { if (!holders.has(token)) { hold(i, token); hold(next, token); } });
      });
    }
    for (const { column, value, evidence } of scorer.explain({ [name]: cell })) {
      const of = column === name && holders.get(value);
      if (of) of.forEach((i) => { weights[i] += against(evidence) / of.size; });
    }
    const most = Math.max(...weights.map(Math.abs), 1e-12);
    marked.replaceChildren(...pieces.map((piece, i) => {
      if (Math.abs(weights[i]) < 0.1 * most) return visible(piece);
      const found = element("mark", { className: weights[i] > 0 ? "for" : "against", title: nats(weights[i]) }, visible(piece));
      found.style.setProperty("--w", 0.08 + (0.37 * Math.abs(weights[i])) / most);
      return found;
    }));
  };

  const total = element("output", { id: "total" }), handle = element("span", { className: "handle" });
  const odds = element("div", { className: "scale odds" }, handle);
  for (const p of TICKS) {
    const tick = element("span", { className: "tick" }, String(p));
    tick.style.left = `${placeOdds(Math.log(p / (1 - p)))}%`;
    odds.append(tick);
  }
  function placeOdds(x) { return 50 + (100 * Math.min(Math.max(x, -7.5), 7.5)) / 15.5; }
  find("sum").append(element("h3", { id: "sum-of" }), odds, total);
  const heading = element("p", { className: "heading", ariaHidden: true });
  find("cells").prepend(heading);

  const show = () => {
    let sum = 0;
    for (const scale of scales) {
      const { column, handle: mine, value, weigh, values } = scale, cell = row[column.name], weight = weigh(cell);
      sum += weight;
      mine.style.left = `${place(weight)}%`;
      value.textContent = nats(weight);
      value.dataset.weight = weight;
      if (values.length) Object.assign(mine, { ariaValueMax: placesOf(scale).length - 1, ariaValueNow: stepOf(scale), ariaValueText: `${cell === null ? "missing" : visible(shown(cell))}, ${nats(weight)} nats` });
      if (scale.marked) mark(scale);
    }
    const first = begin(), all = against(whatIf.scores(row)), rest = all - first - sum;
    const others = Math.abs(rest) > 1e-9 ? `, and ${nats(rest)} by ${model.others ? "the other columns" : "what columns say together"}` : "";
    handle.style.left = `${placeOdds(all)}%`;
    const p = 1 / (1 + Math.exp(-all));
    total.dataset.total = all;
    total.dataset.sum = first + sum + rest;
    total.textContent = `${nats(first)} to begin with, ${nats(sum)} by the columns above${others}: log odds ${nats(all)}, so ${p.toFixed(3)}.`;
  };
  const named = () => {
    heading.replaceChildren(element("span", {}, "← for ", data(said(rival))), element("span", {}, "for ", data(said(c)), " →"));
    find("sum-of").replaceChildren("Probability of ", data(said(c)), model.classes.length > 2 ? " against " : "", model.classes.length > 2 ? data(said(rival)) : "");
  };
  const sides = [find("for"), find("rival")];
  sides.forEach((select, i) => {
    options(select, model.classes);
    select.value = [c, rival][i];
    select.addEventListener("input", () => {
      const [one, other] = sides.map(({ value }) => Number(value));
      if (one === other) sides[1 - i].value = i ? rival : c;
      [c, rival] = sides.map(({ value }) => Number(value));
      named(); draw(); show();
    });
  });
  find("sides").hidden = model.classes.length < 3;
  named();
  draw();
  // Of many classes those are compared at first that the row is most like.
  whatIf.listen((of, order, moved) => {
    row = of;
    if (!moved && model.classes.length > 2 && (order[0] !== c || order[1] !== rival)) {
      [c, rival] = order;
      sides.forEach((select, i) => { select.value = [c, rival][i]; });
      named(); draw();
    }
    show();
  });
})();
