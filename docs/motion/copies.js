"use strict";
// Copies of one column: what they do to the probabilities, with weights and without.
(() => {
  const { slider, numbers, plane, said, whole } = motion;
  const STEPS = Array.from({ length: 121 }, (_, i) => -6 + i / 10);

  motion.add("copies", (host, { cards, truth, rows }) => {
    const of = { copies: 5, x: 1.5 }, scorers = new Map();
    const scorerOf = (key) => { if (!scorers.has(key)) scorers.set(key, naively.scorer(cards[key])); return scorers.get(key); };
    const rowOf = (x) => Object.fromEntries(Array.from({ length: of.copies }, (_, j) => [`x${j}`, x]));
    const p = (key, x) => scorerOf(key).posterior(rowOf(x))[1];
    const isSo = (x) => 1 / (1 + Math.exp(-truth * x));
    slider(host, { name: "how often the column is there", min: 1, max: 10, step: 1, value: of.copies, says: whole, input: (n) => { of.copies = n; show(); } });
    const at = plane(host, { label: "Probability over the column", x: [-6, 6], y: [0, 1], xName: "x, the column", yName: "p(yes | x)", height: 270 });
    motion.key(host, [["ink", "the truth"], ["c1", "without weights"], ["c0", "with weights"]]);
    at.handle({
      name: "A row", style: "c1", at: () => [of.x, p(`none-${of.copies}`, of.x)], says: () => `x ${said(of.x, 1)}: ${said(p(`none-${of.copies}`, of.x), 2)} without weights, ${said(p(`loo-${of.copies}`, of.x), 2)} with`,
      move: (x) => { of.x = motion.clip(Math.round(10 * x) / 10, -6, 6); show(); },
    });
    const list = numbers(host);

    function show() {
      const [none, loo] = [`none-${of.copies}`, `loo-${of.copies}`];
      at.clear();
      at.line(STEPS.map((x) => [x, isSo(x)]), "ink dotted");
      at.line(STEPS.map((x) => [x, p(none, x)]), "c1");
      at.line(STEPS.map((x) => [x, p(loo, x)]), "c0 dashed");
      at.line([[of.x, 0], [of.x, 1]], "mark");
      at.frame();
      const judged = (key) => {
        const found = rows.map(([x, y]) => { const q = p(key, x); return [y ? q : 1 - q, Math.max(q, 1 - q)]; });
        const mean = (f) => found.reduce((total, each) => total + f(each), 0) / found.length;
        return { right: mean(([own]) => Number(own > 0.5)), sure: mean(([, top]) => top), loss: mean(([own]) => -Math.log(own)) };
      };
      const [a, b] = [judged(none), judged(loo)];
      list([["at x, the truth", isSo(of.x)], ["at x, without weights", p(none, of.x)], ["at x, with weights", p(loo, of.x)],
        [`right, of ${rows.length} new rows`, a.right], ["sure, without weights", a.sure], ["sure, with weights", b.sure],
        ["log loss, without weights", a.loss], ["log loss, with weights", b.loss]]);
    }
    return show;
  });
})();
