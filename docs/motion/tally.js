"use strict";
// A tally to which rows are added and from which they are taken: learning is +, forgetting is −.
(() => {
  const { element, buttons, choice, said, whole } = motion;

  motion.add("tally", (host, { columns, rows, classes, start }) => {
    const names = Object.keys(columns), there = rows.map((_, i) => i < start), asked = Object.fromEntries(names.map((name) => [name, columns[name][0]]));
    // The tally itself: rows by class, and of each column and level, by class.
    const tally = { rows: classes.map(() => 0), counts: Object.fromEntries(names.map((name) => [name, columns[name].map(() => classes.map(() => 0))])) };
    let changed = new Set();
    const count = (i, by) => {
      const c = classes.indexOf(rows[i].at(-1));
      tally.rows[c] += by;
      changed.add(`rows ${c}`);
      names.forEach((name, j) => { const l = columns[name].indexOf(rows[i][j]); tally.counts[name][l][c] += by; changed.add(`${name} ${l} ${c}`); });
    };
    rows.forEach((_, i) => { if (there[i]) count(i, 1); });
    changed = new Set();

    const boxes = rows.map((_, i) => element("input", { type: "checkbox", checked: there[i], "aria-label": `Row ${i + 1}: ${rows[i].join(", ")}`, input: () => set(i, boxes[i].checked) }));
    const set = (i, is) => { changed = new Set(); if (is !== there[i]) { there[i] = is; boxes[i].checked = is; count(i, is ? 1 : -1); } show(); };
    const setAll = (is) => { changed = new Set(); rows.forEach((_, i) => { if (there[i] !== is(i)) { there[i] = is(i); boxes[i].checked = is(i); count(i, is(i) ? 1 : -1); } }); show(); };
    const head = (of) => element("thead", {}, element("tr", {}, ...of.map((name) => element("th", { scope: "col" }, name))));
    const lines = rows.map((row, i) => element("tr", {}, element("td", {}, boxes[i]), ...row.map((cell, j) => element("td", { class: j === names.length ? `c${classes.indexOf(cell)}` : "" }, cell))));
    const learned = element("table", {}, head(["in", ...names, "play"]), element("tbody", {}, ...lines)), table = element("table", { class: "counts" });
    const panel = (title, of) => element("div", {}, element("p", { class: "motion-title" }, title), element("div", { class: "motion-wide", tabindex: 0, role: "region", "aria-label": title }, of));
    host.append(element("div", { class: "motion-two" }, panel("Rows: tick to learn, untick to forget", learned), panel("The tally, by class", table)));
    buttons(host, { "Learn all": () => setAll(() => true), "Forget all": () => setAll(() => false), "Forget the sunny days": () => setAll((i) => there[i] && rows[i][0] !== "sunny") });
    host.append(element("p", { class: "motion-title" }, "A new day"));
    for (const name of names) choice(host, { name, of: Object.fromEntries(columns[name].map((level) => [level, level])), value: asked[name], input: (level) => { asked[name] = level; show(); } });
    const bars = motion.posterior(host, classes), sentence = element("p", { class: "motion-said" });
    host.append(sentence);

    function show() {
      lines.forEach((line, i) => line.classList.toggle("motion-out", !there[i]));
      const cell = (n, key) => element("td", { class: changed.has(key) ? "n changed" : "n", "data-name": key, "data-value": n }, whole(n));
      table.replaceChildren(head(["", ...classes]), element("tbody", {},
        element("tr", {}, element("th", { scope: "row" }, "rows"), ...classes.map((_, c) => cell(tally.rows[c], `rows ${c}`))),
        ...names.flatMap((name) => columns[name].map((level, l) => element("tr", {}, element("th", { scope: "row" }, `${name} = ${level}`),
          ...classes.map((_, c) => cell(tally.counts[name][l][c], `${name} ${l} ${c}`)))))));
      const total = tally.rows.reduce((a, b) => a + b, 0);
      if (!tally.rows.every(Boolean)) {
        sentence.textContent = "Nothing is known of a class without rows: learn a row of each.";
        bars(classes.map((_, c) => (total ? tally.rows[c] / total : 1 / classes.length)));
        return;
      }
      // A pseudo-count of 1 for each level that was seen, and for one that was not.
      const seen = (name) => columns[name].map((_, l) => l).filter((l) => tally.counts[name][l].some(Boolean));
      const terms = names.map((name) => {
        const known = seen(name), of = (l, c) => (tally.counts[name][l][c] + 1) / (tally.rows[c] + known.length);
        return { term: "levels", column: name, kind: "string", levels: known.map((l) => columns[name][l]),
          points: [...known.map((l) => classes.map((_, c) => Math.log(of(l, c)))), classes.map((_, c) => Math.log(1 / (tally.rows[c] + known.length + 1)))] };
      });
      const scorer = motion.scorer(classes, tally.rows.map((n) => Math.log(n / total)), terms), p = Array.from(scorer.posterior(asked));
      bars(p);
      const best = p.indexOf(Math.max(...p)), factors = names.map((name) => {
        const l = columns[name].indexOf(asked[name]), known = seen(name);
        return `${tally.counts[name][l][best] + 1}/${tally.rows[best] + known.length + Number(!known.includes(l))}`;
      });
      sentence.textContent = `${classes[best]}: ${tally.rows[best]}/${total} · ${factors.join(" · ")} = ${said(Math.exp(scorer.scores(asked)[best]), 4)}, over the sum of both.`;
    }
    return show;
  });
})();
