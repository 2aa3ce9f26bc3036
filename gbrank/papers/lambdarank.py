"""LambdaRank (Burges, Ragno & Le 2006): against RankNet, on random cubic polynomials."""

from collections.abc import Iterator

from gbrank.evaluation import ranker_from_name
from gbrank.measures import NDCG
from gbrank.papers.bench import Bench
from gbrank.papers.rows import Row

__all__ = ["section_6_3_1"]

PAPER = "LambdaRank"
MEASURES = tuple(NDCG(k=k) for k in range(1, 11))
RANKERS = ("ranknet", "lambda:ndcg")


def section_6_3_1(bench: Bench) -> Iterator[Row]:
    """Yield by how much LambdaRank is above RankNet, by truncation, with a paired test.

    The paper trains neural nets; here both train the same boosted trees.

    Parameters
    ----------
    bench : Bench

    Yields
    ------
    Row
    """
    data = bench.cubic()
    rankers = {
        name: ranker_from_name(name, n_estimators=300, learning_rate=0.1, num_leaves=31)
        for name in RANKERS
    }
    rows = bench.compare(rankers, data, MEASURES).summary()
    found = {(row.ranker, row.measure): row for row in rows}
    sizes = [len(part) // 50 for part in data.splits[0]]
    for measure in map(str, MEASURES):
        base, ours = (found[name, measure] for name in RANKERS)
        yield Row(
            PAPER,
            f"cubic, {'/'.join(map(str, sizes))} queries",
            f"{measure.upper()} of LambdaRank less that of RankNet (section 6.3.1)",
            ours.difference,
            "> 0",
            ours.difference_low,
            ours.difference_high,
            f"{ours.mean:.4f} and {base.mean:.4f}; paired t test p = {ours.p_t:.2g}",
        )
