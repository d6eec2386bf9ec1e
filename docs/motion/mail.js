"use strict";
// A mail that is typed: its words marked by what they weigh, and the posterior, by a model of naively.
(() => {
  const { element, buttons, numbers, said } = motion;
  const WORD = /[\p{L}\p{N}\p{M}_']+|[^\p{L}\p{N}\p{M}_']+/gu;

  motion.add("mail", (host, { card, samples }) => {
    const classes = card.classes, scorer = naively.scorer({ ...card, unicode: motion.unicode }), column = card.columns[0].name;
    const tokens = naively.tokensOf(card.terms.find(({ term }) => term === "tokens").split, naively.unicodeOf(motion.unicode));
    const area = element("textarea", { rows: 4, maxlength: 2000, input: () => show() });
    const write = (text) => { area.value = text; show(); };
    area.value = Object.values(samples)[0];
    host.append(element("label", { class: "motion-text" }, element("span", {}, "Your mail"), area));
    buttons(host, Object.fromEntries(Object.entries(samples).map(([name, text]) => [name, () => write(text)])));
    const bars = motion.posterior(host, classes), marked = element("p", { class: "motion-message" });
    host.append(marked);
    const list = numbers(host), table = element("table", { class: "motion-words" });
    host.append(element("div", { class: "motion-wide" }, table));

    function show() {
      const row = { [column]: area.value }, lines = scorer.explain(row).map(({ value, evidence, column: of }) => [of, value, evidence[1] - evidence[0]]);
      bars(Array.from(scorer.posterior(row)));
      const weights = new Map(lines.filter(([of, value]) => of === column && value !== null && value !== area.value).map(([, value, weight]) => [value, weight]));
      // What comes several times shares its weight out to each.
      const found = tokens(area.value), counted = (token) => found.filter((of) => of === token).length || 1;
      const own = (word) => tokens(word).reduce((total, token) => total + (weights.get(token) ?? 0) / counted(token), 0);
      const most = Math.max(1, ...[...weights.values()].map(Math.abs));
      marked.replaceChildren(...(area.value.match(WORD) ?? []).map((word) => {
        const weight = own(word);
        if (!weight) return word;
        const share = Math.round(Math.min(Math.abs(weight) / most, 1) * 70);
        return element("mark", { class: weight > 0 ? "c1" : "c0", style: `--share:${share}%`, title: `${said(weight, 2)} nats` }, word);
      }));
      const words = [...weights].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])), total = lines.reduce((sum, [, , weight]) => sum + weight, 0);
      list([["log odds of spam", total], ["before any word", lines[0][2] + (lines[1]?.[0] === "intercept" ? lines[1][2] : 0)], ["words that are known", weights.size, motion.whole(weights.size)]]);
      table.replaceChildren(element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "word"), element("th", { scope: "col" }, "for ham"), element("th", { scope: "col" }, "for spam"), element("th", { scope: "col" }, "nats"))),
        element("tbody", {}, ...words.slice(0, 8).map(([word, weight]) => {
          const bar = (c, there) => element("td", { class: c ? "" : "back" }, element("span", { class: "motion-track bare" }, element("span", { class: `motion-fill c${c}`, style: `width:${there ? (100 * Math.abs(weight)) / most : 0}%` })));
          return element("tr", {}, element("th", { scope: "row" }, word), bar(0, weight < 0), bar(1, weight > 0), element("td", { class: "n" }, (weight > 0 ? "+" : "") + said(weight, 2)));
        })));
    }
    return show;
  });
})();
