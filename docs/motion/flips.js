"use strict";
// Flips of a coin: a Beta prior that is dragged, the likelihood, and the posterior they make.
(() => {
  const { slider, buttons, numbers, plane, said, whole, clip } = motion;
  const MOST = 100, COEFFICIENTS = [676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];

  function logGamma(x) { // Lanczos
    if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
    const t = x + 6.5, sum = COEFFICIENTS.reduce((total, c, i) => total + c / (x + i), 0.99999999999980993);
    return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
  }
  const logBeta = (a, b) => logGamma(a) + logGamma(b) - logGamma(a + b);
  const times = (n, x) => (n === 0 ? 0 : n * x);
  const density = (a, b, x) => Math.exp(times(a - 1, Math.log(x)) + times(b - 1, Math.log1p(-x)) - logBeta(a, b));

  // The probability of θ < x (a continued fraction, by Lentz), and the θ of a probability.
  function below(a, b, x) {
    if (x <= 0 || x >= 1) return Number(x >= 1);
    if (x > (a + 1) / (a + b + 2)) return 1 - below(b, a, 1 - x);
    let c = 1, d = 1 / (1 - ((a + b) * x) / (a + 1)), found = d;
    for (let m = 1; m < 500; m++) {
      const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / (1 + even * d); c = 1 + even / c; found *= c * d;
      d = 1 / (1 + odd * d); c = 1 + odd / c; found *= c * d;
      if (Math.abs(c * d - 1) < 1e-15) break;
    }
    return (Math.exp(a * Math.log(x) + b * Math.log1p(-x) - logBeta(a, b)) / a) * found;
  }
  function quantile(a, b, p) {
    let low = 0, high = 1;
    for (let i = 0; i < 60; i++) { const middle = (low + high) / 2; if (below(a, b, middle) < p) low = middle; else high = middle; }
    return (low + high) / 2;
  }
  function mode(a, b) {
    if (a > 1 && b > 1) return (a - 1) / (a + b - 2);
    return a === b ? NaN : Number(a > b); // flat, or highest at both ends
  }

  motion.add("flips", (host) => {
    const of = { a: 2, b: 2, heads: 8, tails: 2 }, steps = Array.from({ length: 399 }, (_, i) => (i + 1) / 400);
    const at = plane(host, { label: "Prior, likelihood and posterior of the probability of heads", x: [0, 1], y: [0, 4], xName: "θ, the probability of heads", hideY: true });
    motion.key(host, [["c0", "prior"], ["c2", "likelihood, scaled"], ["c1", "posterior"]]);
    const round = (x) => clip(Math.round(10 * x) / 10, 0.1, MOST);
    const give = (mean, strength) => { of.a = round(mean * strength); of.b = round((1 - mean) * strength); show(); };
    const prior = () => of.a / (of.a + of.b);
    at.handle({
      name: "Prior: its mean by left and right, its strength by up and down", style: "c0", range: [0.01, 0.99],
      at: () => [prior(), density(of.a, of.b, prior())],
      says: () => `Beta(${said(of.a, 1)}, ${said(of.b, 1)}), mean ${said(prior(), 2)}`,
      move: (x, y) => { // the strength whose curve has this height at its mean
        const mean = clip(x, 0.01, 0.99);
        let low = Math.log(0.2), high = Math.log(2 * MOST);
        for (let i = 0; i < 40; i++) { const s = (low + high) / 2; if (density(mean * Math.exp(s), (1 - mean) * Math.exp(s), mean) < y) low = s; else high = s; }
        give(mean, Math.exp(low));
      },
      nudge: (_, [dx, dy]) => { // pretend flips change sides, by tenths at least, or all grow in number
        const strength = of.a + of.b, apart = dx * Math.max(0.1, 0.01 * strength);
        const a = clip(of.a + apart, 0.1, strength - 0.1), more = 1.1 ** clip(dy, -10, 10) + (0.2 * Math.sign(dy)) / strength;
        Object.assign(of, { a: round(a * more), b: round((strength - a) * more) });
        show();
      },
    });
    const control = (name, key, min, max, step, says) => slider(host, { name, min, max, step, value: of[key], says, input: (x) => { of[key] = x; show(); } });
    const tenths = (x) => said(x, 1), sliders = {
      a: control("a, pretend heads", "a", 0.1, MOST, 0.1, tenths), b: control("b, pretend tails", "b", 0.1, MOST, 0.1, tenths),
      heads: control("heads", "heads", 0, 200, 1, whole), tails: control("tails", "tails", 0, 200, 1, whole),
    };
    buttons(host, {
      "A head more": () => { of.heads = Math.min(of.heads + 1, 200); show(); },
      "A tail more": () => { of.tails = Math.min(of.tails + 1, 200); show(); },
      "Know nothing": () => { Object.assign(of, { a: 1, b: 1 }); show(); },
      "Trust the coin": () => { Object.assign(of, { a: 50, b: 50 }); show(); },
    });
    const list = numbers(host);

    function show() {
      const { a, b, heads, tails } = of, n = heads + tails, [pa, pb] = [a + heads, b + tails];
      for (const key of Object.keys(sliders)) sliders[key].set(of[key]);
      const curves = [[a, b, "c0 dashed"], [heads + 1, tails + 1, "c2 dotted"], [pa, pb, "c1"]].map(
        ([u, v, style]) => [steps.map((x) => [x, density(u, v, x)]), style]);
      at.y = [0, 1.3 * clip(Math.max(...curves.flatMap(([points]) => points.slice(4, -4).map(([, y]) => y))), 1.5, 1e9)];
      at.clear();
      at.area([[0, 0], ...curves[2][0], [1, 0]], "c1");
      for (const [points, style] of curves) at.line(points, style);
      const estimates = { MLE: n ? heads / n : NaN, MAP: mode(pa, pb), mean: pa / (pa + pb) };
      const order = Object.entries(estimates).filter(([, x]) => !Number.isNaN(x)).sort((u, v) => u[1] - v[1]);
      order.forEach(([name, x], i) => { // the least to the left of its line, the greatest to the right
        const [anchor, dx] = x < 0.1 || (x < 0.9 && i && i === order.length - 1) ? ["start", 4] : x > 0.9 || !i ? ["end", -4] : ["middle", 0];
        at.line([[x, 0], [x, at.y[1] * (i === 1 ? 0.94 : 0.87)]], "mark");
        at.label(x, at.y[1] * (i === 1 ? 0.95 : i ? 0.84 : 0.77), name, { "text-anchor": anchor, dx });
      });
      at.frame();
      const interval = [quantile(pa, pb, 0.025), quantile(pa, pb, 0.975)];
      list([["MLE", estimates.MLE], ["MAP", estimates.MAP], ["mean", estimates.mean],
        ["95 % from", interval[0]], ["95 % to", interval[1]], ["p(θ > ½)", 1 - below(pa, pb, 0.5)],
        ["log evidence", logBeta(pa, pb) - logBeta(a, b)]]);
    }
    return show;
  });
})();
