"""TREC runs and qrels: what is written is read, by us and by others, and faults are named."""

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import AP, ERR, NDCG, RR, HitRate, Precision, Recall, RPrecision, get_measure
from gbrank.data.trec import read_judged_run, read_qrels, read_run, write_qrels, write_run
from gbrank.extend import Measure
from known_names import meant

ENCODABLE = st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\v\f\r ")
NAMES = st.text(ENCODABLE, min_size=1)  # with no-break spaces
QUERIES = NAMES.filter(lambda name: not name.startswith("#"))
FINITE = st.floats(allow_nan=False, allow_infinity=False)
LABELS = st.integers(-(10**15) + 1, 10**15 - 1)

# Those of ir_measures, in its own notation, and ours; not AP@k, where it divides by R, and ours by
# min(R, k), and not RBP, for which it needs another package.
FIVE_DIGITS = ("ERR@10", "nDCG(dcg='exp-log2')@5")  # by gdeval, a script in Perl
SAME = {
    "AP": AP(no_relevant=0),
    "AP(rel=2)": AP(threshold=2, no_relevant=0),
    "ERR@10": ERR(k=10, no_relevant=0),
    "P@5": Precision(k=5, no_relevant=0),
    "P(rel=2)@5": Precision(k=5, threshold=2, no_relevant=0),
    "R@5": Recall(k=5, no_relevant=0),
    "RR": RR(no_relevant=0),
    "RR@3": RR(k=3, no_relevant=0),
    "RR(rel=3)": RR(threshold=3, no_relevant=0),
    "Rprec": RPrecision(no_relevant=0),
    "Success@5": HitRate(k=5, no_relevant=0),
    "nDCG": NDCG(gain="linear", no_relevant=0),
    "nDCG@5": NDCG(k=5, gain="linear", no_relevant=0),
    "nDCG(dcg='exp-log2')@5": NDCG(k=5, no_relevant=0),
    "nDCG(gains={1:1,2:3,3:7,4:15})@5": NDCG(k=5, no_relevant=0),
}


class World:
    """Rankings of graded documents, some without a relevant one, rows in any order."""

    def __init__(self) -> None:
        generator = np.random.default_rng(0)
        sizes = generator.integers(1, 30, 20)
        qid = np.repeat(np.arange(20), sizes)
        self.documents = [f"d{i}" for i in range(len(qid))]
        self.y = generator.integers(0, 5, len(qid)) * (generator.random(len(qid)) < 0.4)
        self.scores = generator.permutation(len(qid)) / 7 - 3
        order = generator.permutation(len(qid))
        self.y, self.scores, self.qid = self.y[order], self.scores[order], qid[order]


# --- The same numbers as others ----------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return a run and its qrels."""
    folder, world = tmp_path_factory.mktemp("trec"), World()
    run, qrels = folder / "run.txt", folder / "qrels.txt"
    write_run(run, world.scores, world.qid, world.documents)
    write_qrels(qrels, world.y, world.qid, world.documents)
    return str(run), str(qrels)


@pytest.mark.parametrize("name", SAME)
def test_ir_measures(name: str, files: tuple[str, str]) -> None:
    """Every measure that both have, query by query, from the files alone."""
    ir_measures = pytest.importorskip("ir_measures")
    world, measure = World(), ir_measures.parse_measure(name)
    run = list(ir_measures.read_trec_run(files[0]))
    qrels = list(ir_measures.read_trec_qrels(files[1]))
    if name in FIVE_DIGITS and shutil.which("perl") is None:
        pytest.skip("no perl")
    found = list(ir_measures.iter_calc([measure], qrels, run))
    theirs = {int(item.query_id): item.value for item in found}
    ids = list(dict.fromkeys(world.qid.tolist()))
    ours = SAME[name].per_query(world.y, world.scores, qid=world.qid)
    assert set(theirs) <= set(ids)
    expected = [theirs.get(query, 0.0) for query in ids]
    assert_allclose(ours, expected, rtol=1e-9, atol=6e-6 if name in FIVE_DIGITS else 0)
    assert np.ptp(expected) > 0.3


@pytest.mark.parametrize("name", [name for name in SAME if "gains=" not in name])
def test_names_of_ir_measures_are_known(name: str) -> None:
    """Accepted as the measures above, or in the hint."""
    assert get_measure(meant(name)) == SAME[name]


def test_trec_eval(files: tuple[str, str]) -> None:
    """trec_eval's own reader and code."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    with open(files[0]) as run, open(files[1]) as qrels:
        ran, judged = pytrec_eval.parse_run(run), pytrec_eval.parse_qrel(qrels)
    values = pytrec_eval.RelevanceEvaluator(judged, {"map", "ndcg"}).evaluate(ran)
    y, scores, qid = read_judged_run(*files)
    ids = list(dict.fromkeys(qid))
    pairs: dict[str, Measure] = {
        "map": AP(no_relevant=0), "ndcg": NDCG(gain="linear", no_relevant=0)
    }  # fmt: skip
    for name, measure in pairs.items():
        expected = [values[query][name] for query in ids]
        assert_allclose(measure.per_query(y, scores, qid=qid), expected, rtol=1e-9)


# --- What is written is read -------------------------------------------------------------------


@given(st.dictionaries(st.tuples(QUERIES, NAMES), st.tuples(FINITE, LABELS), min_size=1))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[tuple[str, str], tuple[float, int]]
) -> None:
    """Scores to the bit; runs come back best first, qrels in their order."""
    path = tmp_path_factory.getbasetemp() / "written.txt.gz"
    qid, documents = ([key[i] for key in rows] for i in (0, 1))
    scores, labels = ([value[i] for value in rows.values()] for i in (0, 1))
    write_run(path, scores, qid, documents, name="mine")
    found = dict(zip(zip(*read_run(path)[1:], strict=True), read_run(path)[0], strict=True))
    assert found == {key: score for key, (score, _) in rows.items()}
    again = read_run(path)
    for query in set(again[1]):
        assert (np.diff([s for s, q in zip(*again[:2], strict=True) if q == query]) <= 0).all()
    write_qrels(path, labels, qid, documents)
    y, read_qid, read_documents = read_qrels(path)
    assert (y.tolist(), read_qid, read_documents) == (labels, qid, documents)


@given(st.binary(max_size=60) | st.text("q1 Q0d.\n-+e\t", max_size=60).map(str.encode))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """Are read, or refused with the name of the file."""
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(content)
    for read in (read_run, read_qrels):
        message = ""
        try:
            numbers, qid, documents = read(path)
        except ValueError as error:
            message = str(error)
        if message:
            assert message.startswith(str(path))
        else:
            assert np.isfinite(numbers).all()
            assert len(numbers) == len(qid) == len(documents) > 0


def test_lines(tmp_path: Path) -> None:
    """Queries by first appearance, documents best first, ties by row; bytes of equal data equal."""
    path, packed = tmp_path / "run.txt", tmp_path / "run.txt.gz"
    data = [0.1, 2, 0.1, 1e300], [7, 3, 7, 7], ["a", "b", "c", "d"]
    write_run(path, *data, name="mine")
    assert path.read_text() == (
        "7 Q0 d 1 1e+300 mine\n7 Q0 a 2 0.1 mine\n7 Q0 c 3 0.1 mine\n3 Q0 b 1 2.0 mine\n"
    )
    write_run(packed, *data, name="mine")
    assert gzip.decompress(packed.read_bytes()) == path.read_bytes()


def test_other_line_ends(tmp_path: Path) -> None:
    """Tabs, carriage returns, blank lines, no last newline."""
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"\r\n1\t0\td1\t-2\r\n\n  1 x d2 +3")
    y, qid, documents = read_qrels(path)
    assert (y.tolist(), qid, documents) == ([-2, 3], ["1", "1"], ["d1", "d2"])


# --- Faults ------------------------------------------------------------------------------------


def test_labels_below_0_and_comments(tmp_path: Path) -> None:
    """They are read as they are; a run is judged as trec_eval does."""
    path, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    path.write_text("# query, iteration, document, level\n1 0 a -2\n1 0 b 1\n\n1 0 c 0\n")
    assert_array_equal(read_qrels(path)[0], [-2, 1, 0])
    write_run(run, [3.0, 2.0, 1.0], ["1"] * 3, ["a", "b", "c"])
    labels, scores, qid = read_judged_run(run, path)
    assert NDCG()(labels, scores, qid=qid) == pytest.approx(1 / np.log2(3))


@pytest.mark.parametrize(
    "comment", ["# grades by two people, pooled", "# by editors 9", "#topics of 2024", "  # a b 3"]
)
def test_comments_of_any_number_of_words(comment: str, tmp_path: Path) -> None:
    """None is a judgment; nor is a query written that would read as one."""
    path = tmp_path / "qrels.txt"
    path.write_text(f"{comment}\nq1 0 d1 2\n{comment}\nq2 0 #1 1\n")
    assert read_qrels(path)[1:] == (["q1", "q2"], ["d1", "#1"])
    with pytest.raises(ValueError, match="qid must not begin with #, as comments do, got '#1'"):
        write_qrels(path, [1, 2], ["q1", "#1"], ["d1", "d1"])


def run_of(score: Callable[[int], float], n_queries: int, n_documents: int = 10) -> str:
    """Return a run whose scores are a function of the rank."""
    return "".join(
        f"q{query} Q0 d{rank} {rank} {score(rank)} x\n"
        for query in range(n_queries)
        for rank in range(1, n_documents + 1)
    )


@pytest.mark.parametrize(
    ("score", "contradicts"),
    [
        (lambda rank: 1 / rank, False),
        (lambda rank: -(rank // 2), False),  # ties
        (lambda rank: -(rank // 4), False),
        (lambda rank: 0.1 * rank, True),  # distances
        (lambda rank: 1.0, True),
    ],
)
def test_ranks_that_contradict_scores(
    score: Callable[[int], float],
    contradicts: bool,
    tmp_path: Path,
    recwarn: pytest.WarningsRecorder,
) -> None:
    """In most queries: a warning names one of them, and what decides."""
    path = tmp_path / "run.txt"
    path.write_text(run_of(score, 6) + run_of(lambda rank: -rank, 5).replace("q", "p"))
    read_run(path)
    messages = [str(warning.message) for warning in recwarn]
    text = "ranks contradict scores in 6 of 11 queries, such as 'q0'. Scores are used"
    assert [text in message for message in messages] == [True] * contradicts


@pytest.mark.parametrize("ranks", ["0", "7", "-", "1.5"])
def test_ranks_that_say_nothing(
    ranks: str, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    path = tmp_path / "run.txt"
    path.write_text("".join(f"q Q0 d{row} {ranks} {row} x\n" for row in range(20)))
    read_run(path)
    assert len(recwarn) == 0
