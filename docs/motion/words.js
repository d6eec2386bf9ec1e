"use strict";
// A message's words: their probability in each class as the pseudo-count λ goes from 0 to 10.
(() => {
  const { element, numbers, plane, said, clip } = motion;
  const SPLIT = { analyzer: "word", ngram_range: [1, 1], lowercase: true, stop_words: [], max_characters: null };
  const LAMBDAS = [0, ...Array.from({ length: 161 }, (_, i) => 0.001 * 10 ** (i / 40))];

  motion.add("words", (host, { texts, labels, classes, message }) => {
    const of = { lambda: 1, message }, tokens = naively.tokensOf(SPLIT, naively.unicodeOf(motion.unicode));
    const counts = new Map(), totals = classes.map(() => 0), rows = classes.map(() => 0);
    texts.forEach((text, i) => {
      const c = classes.indexOf(labels[i]);
      rows[c] += 1;
      for (const token of tokens(text)) {
        if (!counts.has(token)) counts.set(token, classes.map(() => 0));
        counts.get(token)[c] += 1;
        totals[c] += 1;
      }
    });
    const known = [...counts.keys()];
    const p = (token, c, lambda) => (counts.get(token)[c] + lambda) / (totals[c] + lambda * known.length);
    const prior = rows.map((n) => Math.log(n / texts.length));
    const posterior = (lambda) => Array.from(motion.scorer(classes, prior, [{
      term: "tokens", column: "text", kind: "text", split: SPLIT, binary: false, length_power: 0, there: [0, 0], tokens: known,
      points: known.map((token) => classes.map((_, c) => Math.log(p(token, c, lambda)))),
    }]).posterior({ text: of.message }));

    host.append(element("details", {}, element("summary", {}, `The ${texts.length} mails that were learned`),
      element("ul", {}, ...texts.map((text, i) => element("li", {}, element("b", { class: `c${classes.indexOf(labels[i])}` }, labels[i]), ` ${text}`)))));
    const input = element("input", { type: "text", value: message, maxlength: 200, input: () => { of.message = input.value; curve = null; show(); } });
    host.append(element("label", { class: "motion-text" }, element("span", {}, "Message"), input));
    const at = plane(host, { label: "The posterior over λ", x: [0, 10], y: [0, 1], height: 200, xName: "λ, the pseudo-count of each word", yName: `p(${classes[1]} | message)` });
    at.handle({
      name: "λ, the pseudo-count", style: "c1", step: [0.1, 0], at: () => [of.lambda, posterior(of.lambda)[1]],
      says: () => `λ ${said(of.lambda, 1)}: p(${classes[1]}) ${said(posterior(of.lambda)[1], 2)}`,
      move: (x) => { of.lambda = clip(Math.round(10 * x) / 10, 0, 10); show(); },
    });
    const table = element("table", { class: "motion-words" }), bars = motion.posterior(host, classes), list = numbers(host);
    host.append(element("div", { class: "motion-wide" }, table));
    let curve = null;

    function show() {
      curve ??= LAMBDAS.map((lambda) => [lambda, posterior(lambda)[1]]);
      at.clear();
      at.line([[0, 0.5], [10, 0.5]], "mark");
      at.line(curve, "c1");
      at.frame();
      bars(posterior(of.lambda));
      list([["λ", of.lambda, said(of.lambda, 1)], ["words known", known.length, motion.whole(known.length)]]);
      const words = [...new Set(tokens(of.message))];
      const most = Math.max(...words.filter((w) => counts.has(w)).flatMap((w) => classes.map((_, c) => p(w, c, of.lambda))), 1e-9);
      table.replaceChildren(element("thead", {}, element("tr", {}, ...["word", ...classes.map((name) => `p(word | ${name})`)].map((name) => element("th", { scope: "col" }, name)))),
        element("tbody", {}, ...words.map((word) => element("tr", {}, element("th", { scope: "row" }, word), ...classes.map((name, c) => {
          if (!counts.has(word)) return element("td", {}, "never seen: says nothing");
          const value = p(word, c, of.lambda), n = counts.get(word)[c];
          const how = `(${n} + ${said(of.lambda, 1)}) / (${totals[c]} + ${said(of.lambda * known.length, 1)})`;
          return element("td", {}, element("span", { class: "motion-track" }, element("span", { class: `motion-fill c${c}`, style: `width:${(100 * value) / most}%` })),
            element("span", { class: "n", "data-name": `p(${word} | ${name})`, "data-value": value, title: how }, `${how} = ${said(value)}`));
        })))));
    }
    return show;
  });
})();
