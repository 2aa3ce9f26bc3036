// What a search shows first: how-to pages whose titles have the words, then what GBRanker has, then
// other pages and classes, last the errors, which have words of all. Sphinx puts methods of any class
// first.
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    if (docname === "api/gbrank.GBRanker") return score + 6;
    if (docname.startsWith("api/")) return descr ? score : score - 20;
    if (docname === "errors") return score - 20;
    if (docname.startsWith("howto/") && score >= 15) return score + 15;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 0, 1: 0, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
