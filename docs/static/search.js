// What the search of these pages finds first: the page of a name that is asked for, then pages that
// say how to, then the rest, and what was decided, or changed, last. The numbers below `score` are
// Sphinx's own.
const asked = (new URLSearchParams(location.search).get("q") ?? "")
  .trim().toLowerCase().replace(/^(naively|nb)\.|\(.*$/g, ""); // of nb.explain(X) it is explain
var Scorer = {
  score: ([page, , , , score]) => {
    if (page === "changelog" || page.startsWith("decisions")) return score - 100;
    if (page.startsWith("reference/api/") && page.toLowerCase().endsWith("." + asked))
      return score + (page.includes("/naively.NaiveBayes.") ? 40 : 20);
    if (page === `how-to/${asked}`) return score + 20;
    return score + (page.startsWith("how-to/") || page === "tutorial" || page === "traps" ? 4 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
