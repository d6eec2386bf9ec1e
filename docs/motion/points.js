"use strict";
// Points that are set, and the regions that naive Bayes and logistic regression make of them.
(() => {
  const { buttons, choice, numbers, plane, said, clip } = motion;
  const X = [-6, 6], Y = [-3.5, 3.5], CLASSES = ["blue", "orange"], FAR = 1e140, NEAR = 12; // pixels
  const logistic = (z) => 1 / (1 + Math.exp(-z)), sum = (list, f) => list.reduce((total, each) => total + f(each), 0);

  // Numbers that are the same on each page, whoever draws them.
  function drawer(seed) {
    let state = seed;
    const uniform = () => { state = (state * 1664525 + 1013904223) % 4294967296; return (state + 0.5) / 4294967296; };
    return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  }
  function cloud(c, n, [mx, my], [sx, sy], normal) {
    return Array.from({ length: n }, () => [clip(mx + sx * normal(), ...X), clip(my + sy * normal(), ...Y), c].map((v) => Math.round(100 * v) / 100));
  }
  const START = {
    "Two clouds": (n) => [...cloud(0, 15, [-1.5, -1], [1, 1], n), ...cloud(1, 15, [1.5, 1], [1, 1], n)],
    "One within the other": (n) => [...cloud(0, 15, [0, 0], [0.5, 0.4], n), ...cloud(1, 25, [0, 0], [2.6, 2], n)],
    "A chessboard": (n) => [[-2, -1.6, 0], [2, 1.6, 0], [-2, 1.6, 1], [2, -1.6, 1]].flatMap(([x, y, c]) => cloud(c, 9, [x, y], [0.6, 0.5], n)),
    "Two outliers": (n) => [...cloud(0, 15, [-1.5, 0], [0.6, 1], n), ...cloud(1, 15, [1, 0], [0.6, 1], n), [5.5, 3, 1], [5.8, -3, 1]],
  };

  // Gaussian naive Bayes by maximum likelihood; 1e-9 of the greatest variance keeps each above 0.
  function naiveBayes(points) {
    const of = CLASSES.map((_, c) => points.filter((point) => point[2] === c));
    if (of.some((own) => own.length < 2)) return null;
    const moments = (own, j) => { const mean = sum(own, (p) => p[j]) / own.length; return [mean, sum(own, (p) => (p[j] - mean) ** 2) / own.length]; };
    const least = 1e-9 * Math.max(...[0, 1].map((j) => moments(points, j)[1]));
    return motion.scorer(CLASSES, of.map((own) => Math.log(own.length / points.length)), [0, 1].flatMap((j) => {
      const found = of.map((own) => moments(own, j)), variances = found.map(([, v]) => v + least);
      return [{ term: "presence", column: `x${j}`, kind: "number", there: variances.map((v) => -0.5 * Math.log(2 * Math.PI * v)), missing: [0, 0] },
        { term: "parabola", column: `x${j}`, kind: "number", mean: found.map(([m]) => m), half_precision: variances.map((v) => 0.5 / v) }];
    }));
  }

  // Logistic regression by Newton's method: half the squared slopes are added to the loss.
  function logisticRegression(points) {
    if (!points.length || points.every(([, , c]) => c === points[0][2])) return null;
    const loss = ([b, u, v]) => (u * u + v * v) / 2 + sum(points, ([x, y, c]) => { const z = (c ? -1 : 1) * (b + u * x + v * y); return Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))); });
    let w = [0, 0, 0];
    for (let step = 0; step < 100; step++) {
      const gradient = [0, w[1], w[2]], curve = [[1e-12, 0, 0], [0, 1, 0], [0, 0, 1]];
      for (const [x, y, c] of points) {
        const row = [1, x, y], p = logistic(w[0] + w[1] * x + w[2] * y);
        row.forEach((r, i) => { gradient[i] += (p - c) * r; row.forEach((s, j) => { curve[i][j] += p * (1 - p) * r * s; }); });
      }
      const move = solve(curve, gradient);
      let rate = 1;
      while (rate > 1e-8 && loss(w.map((of, i) => of - rate * move[i])) > loss(w)) rate /= 2;
      w = w.map((of, i) => of - rate * move[i]);
      if (Math.max(...move.map(Math.abs)) < 1e-10) break;
    }
    return motion.scorer(CLASSES, [0, w[0]], [0, 1].map((j) => (
      { term: "line", column: `x${j}`, kind: "number", low: -FAR, high: FAR, centre: 0, slope: [0, w[j + 1]] })));
  }
  function solve([[a, b, c], [, e, f], [, , i]], [x, y, z]) { // three symmetric equations, by Cramer
    const A = e * i - f * f, B = c * f - b * i, C = b * f - c * e, by = a * A + b * B + c * C;
    return [(A * x + B * y + C * z) / by, (B * x + (a * i - c * c) * y + (b * c - a * f) * z) / by, (C * x + (b * c - a * f) * y + (a * e - b * b) * z) / by];
  }

  motion.add("points", (host) => {
    const of = { points: START["Two clouds"](drawer(1)), of: 0, cursor: [0, 2.5], shade: "bayes" };
    choice(host, { name: "A click sets a point of", of: { 0: "blue", 1: "orange" }, value: "0", input: (c) => { of.of = Number(c); } });
    choice(host, { name: "Regions of", of: { bayes: "naive Bayes (border ——)", logistic: "logistic regression (border - - -)" }, value: of.shade, input: (key) => { of.shade = key; show(); } });
    const at = plane(host, { label: "Points and the regions of two classifiers", x: X, y: Y, square: true, xName: "x₁", yName: "x₂" });
    const set = (x, y) => { of.points.push([clip(x, ...X), clip(y, ...Y), of.of]); show(); };
    const nearest = (spot) => of.points.map((p, i) => [at.apart(p, spot), i]).sort((a, b) => a[0] - b[0])[0] ?? [Infinity, -1];
    const take = (i) => { if (i >= 0) of.points.splice(i, 1); show(); };
    at.handle({
      name: "Cursor: Enter sets a point here, Delete takes the nearest one away", cross: true, step: [0.2, 0.2],
      at: () => of.cursor, says: () => `${of.cursor.map((v) => said(v, 1)).join(", ")}; ${of.points.length} points`,
      move: (x, y) => { of.cursor = [clip(x, ...X), clip(y, ...Y)]; show(); },
      keys: { Enter: () => set(...of.cursor), " ": () => set(...of.cursor), Delete: () => take(nearest(of.cursor)[1]), Backspace: () => take(nearest(of.cursor)[1]) },
    });
    // A point that is pressed is dragged; one that is clicked is taken away.
    let held = null;
    at.svg.addEventListener("pointerdown", (event) => {
      const spot = at.from(event), [apart, i] = nearest(spot);
      if (apart < NEAR) { held = { i, moved: false, spot }; at.svg.setPointerCapture(event.pointerId); event.preventDefault(); }
    });
    at.svg.addEventListener("pointermove", (event) => {
      if (!held) return;
      const [x, y] = at.from(event);
      if (!held.moved && at.apart([x, y], held.spot) < 4) return;
      held.moved = true;
      of.points[held.i].splice(0, 2, clip(x, ...X), clip(y, ...Y));
      show();
    });
    at.svg.addEventListener("click", (event) => {
      const spot = at.from(event);
      if (held) { if (!held.moved) take(held.i); held = null; } else if (!event.target.closest(".motion-handle")) set(...spot);
    });
    at.svg.addEventListener("pointercancel", () => { held = null; });
    buttons(host, {
      ...Object.fromEntries(Object.entries(START).map(([name, make]) => [name, () => { of.points = make(drawer(1)); show(); }])),
      Clear: () => { of.points = []; show(); },
    });
    const list = numbers(host);

    function show() {
      const models = { bayes: naiveBayes(of.points), logistic: logisticRegression(of.points) };
      const oddsOf = (model) => (x0, x1) => { const s = model.scores({ x0, x1 }); return s[1] - s[0]; };
      const share = (model) => (model ? sum(of.points, ([x, y, c]) => Number(oddsOf(model)(x, y) > 0 === (c === 1))) / of.points.length : NaN);
      const there = (model) => (model ? logistic(oddsOf(model)(...of.cursor)) : NaN);
      at.clear();
      for (const key of of.shade === "bayes" ? ["bayes", "logistic"] : ["logistic", "bayes"]) {
        if (models[key]) at.regions(oddsOf(models[key]), key === of.shade, key === "logistic" ? "dashed" : "");
      }
      for (const [x, y, c] of of.points) at.dot(x, y, `c${c}`);
      at.frame();
      list([["points", of.points.length, motion.whole(of.points.length)],
        ["right: naive Bayes", share(models.bayes)], ["right: logistic regression", share(models.logistic)],
        ["p(orange) at +: naive Bayes", there(models.bayes)], ["p(orange) at +: logistic regression", there(models.logistic)]]);
      host.dataset.points = JSON.stringify(of.points);
      host.dataset.cursor = JSON.stringify(of.cursor);
    }
    return show;
  });
})();
