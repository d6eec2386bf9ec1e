"use strict";
// Two Gaussians, a mean and a width of each column and class, and the border that they make.
(() => {
  const { slider, choice, numbers, plane, said, clip } = motion;
  const X = [-6, 6], Y = [-3.5, 3.5], CLASSES = ["blue", "orange"];
  const circle = Array.from({ length: 73 }, (_, i) => [Math.cos((i * Math.PI) / 36), Math.sin((i * Math.PI) / 36)]);

  motion.add("gaussians", (host) => {
    const of = { mean: [[-2, -0.8], [1.5, 0.6]], deviation: [[1.5, 1], [0.8, 1.4]], p: 0.5, kind: "own", spot: [0.5, 2] };
    const deviations = (c) => (of.kind === "unit" ? [1, 1] : of.deviation[of.kind === "own" ? c : 0]);
    choice(host, { name: "Variance", of: { unit: "1 for all", shared: "shared by both classes", own: "own of each class" }, value: of.kind, input: (kind) => { of.kind = kind; show(); } });
    const at = plane(host, { label: "Two Gaussians and the border between them", x: X, y: Y, square: true, xName: "x₁", yName: "x₂" });
    CLASSES.forEach((name, c) => {
      at.handle({
        name: `Mean of ${name}`, style: `c${c}`, at: () => of.mean[c], says: () => of.mean[c].map((m) => said(m, 1)).join(", "),
        move: (x, y) => { of.mean[c] = [clip(x, ...X), clip(y, ...Y)]; show(); },
      });
      [0, 1].forEach((j) => at.handle({
        name: `Width of ${name} along x${"₁₂"[j]}`, style: `c${c} small`, range: j ? Y : X,
        at: () => of.mean[c].map((m, i) => (i === j ? m + deviations(c)[j] : m)),
        says: () => `standard deviation ${said(deviations(c)[j], 2)}`,
        hidden: () => of.kind === "unit" || (of.kind === "shared" && c === 1),
        move: (...spot) => { of.deviation[c][j] = clip(Math.abs(spot[j] - of.mean[c][j]), 0.2, 5); show(); },
        nudge: (_, [dx, dy]) => { of.deviation[c][j] = clip(of.deviation[c][j] + 0.1 * (dx + dy), 0.2, 5); show(); },
      }));
    });
    at.handle({
      name: "A row to be classified", cross: true, at: () => of.spot, says: () => of.spot.map((x) => said(x, 1)).join(", "),
      move: (x, y) => { of.spot = [clip(x, ...X), clip(y, ...Y)]; show(); },
    });
    slider(host, { name: "p(orange), before", min: 0.01, max: 0.99, step: 0.01, value: of.p, says: (x) => said(x, 2), input: (p) => { of.p = p; show(); } });
    const bars = motion.posterior(host, CLASSES), list = numbers(host), sentence = motion.element("p", { class: "motion-said" });
    host.append(sentence);

    function show() {
      const half = [0, 1].map((j) => CLASSES.map((_, c) => 0.5 / deviations(c)[j] ** 2));
      const scorer = motion.scorer(CLASSES, [Math.log(1 - of.p), Math.log(of.p)], [0, 1].flatMap((j) => [
        { term: "presence", column: `x${j}`, kind: "number", missing: [0, 0], there: CLASSES.map((_, c) => -Math.log(deviations(c)[j]) - 0.5 * Math.log(2 * Math.PI)) },
        { term: "parabola", column: `x${j}`, kind: "number", mean: CLASSES.map((_, c) => of.mean[c][j]), half_precision: half[j] },
      ]));
      const odds = (x0, x1) => { const s = scorer.scores({ x0, x1 }); return s[1] - s[0]; };
      at.clear();
      at.regions(odds);
      CLASSES.forEach((_, c) => [1, 2].forEach((size) => at.line(circle.map((unit) => unit.map((u, j) => of.mean[c][j] + size * deviations(c)[j] * u)), `c${c}`)));
      at.frame();
      const [x0, x1] = of.spot;
      bars(Array.from(scorer.posterior({ x0, x1 })));
      list([["log odds of orange", odds(x0, x1)]]);
      // Where the log odds are 0: A x₁² + B x₂² + C x₁ + D x₂ + E = 0.
      const squares = half.map(([blue, orange]) => blue - orange), slopes = half.map(([blue, orange], j) => 2 * (orange * of.mean[1][j] - blue * of.mean[0][j]));
      const signs = squares.map((s) => Math.sign(Math.round(1e9 * s))), products = signs[0] * signs[1];
      const name = !signs[0] && !signs[1] ? "a straight line" : products > 0 ? "an ellipse" : products < 0 ? "a hyperbola" : "a parabola";
      const parts = [[squares[0], "x₁²"], [squares[1], "x₂²"], [slopes[0], "x₁"], [slopes[1], "x₂"], [odds(0, 0), ""]];
      const written = parts.filter(([by, of1]) => Math.abs(by) > 1e-9 || of1 === "").map(([by, of1], i) => `${by < 0 ? "− " : i ? "+ " : ""}${said(Math.abs(by), 2)} ${of1}`.trim()).join(" ");
      sentence.textContent = `The border is ${name}: ${written} = 0.`;
    }
    return show;
  });
})();
