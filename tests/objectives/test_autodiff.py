"""Losses that JAX or PyTorch differentiates: against kernels, Rax, and what users may pass."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest

from autodiff_losses import softmax as softmax_of_a_module
from gbrank import (
    ApproxRank,
    GBRanker,
    ListMLE,
    Queries,
    RankNet,
    compare_rankers,
    get_objective,
    lightgbm_fobj,
    make_cubic,
)
from gbrank.evaluation import Dataset
from gbrank.extend import autodiff_objective, check_gradient

# Of three widths: JAX compiles each loss for each. Widths are counted in a test of their own.
SIZES = np.array([1, 3, 4, 4, 3, 9, 3, 4, 4, 3])


def approx_ndcg(xp: Any, sort: Any, sigmoid: Any, scores: Any, labels: Any, mask: Any) -> Any:
    """Minus NDCG of soft ranks, with σ = 1."""
    above = sigmoid(scores[:, None, :] - scores[:, :, None]) * mask[:, None, :]
    ranks = 0.5 + above.sum(-1)  # a document is half above itself
    gains = xp.where(mask, 2.0**labels - 1.0, 0.0 * labels)
    discounts = 1.0 / np.log2(2.0 + np.arange(labels.shape[1]))
    if xp is not np and xp.__name__ == "torch":
        discounts = xp.from_numpy(discounts)
    ideal = (sort(gains) * discounts).sum(-1)
    return -(gains / xp.log2(1.0 + ranks)).sum(-1) / (ideal + (ideal == 0))


def pairwise_logistic(xp: Any, softplus: Any, scores: Any, labels: Any, mask: Any) -> Any:
    """RankNet's loss, with σ = 1."""
    margins = scores[:, :, None] - scores[:, None, :]
    better = (labels[:, :, None] > labels[:, None, :]) & mask[:, :, None] & mask[:, None, :]
    return xp.where(better, softplus(-margins), 0.0 * margins).sum((1, 2))


@pytest.fixture
def jax() -> Any:
    return pytest.importorskip("jax", reason="JAX is an extra of the tests: gbrank[test-jax]")


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture
def in_jax(jax: Any) -> dict[str, Any]:
    jnp = jax.numpy

    def list_mle(scores: Any, labels: Any, mask: Any) -> Any:
        """Minus the log-likelihood of the order by label, for labels that all differ."""
        order = jnp.argsort(jnp.where(mask, -labels, jnp.inf), axis=1)
        ordered = jnp.take_along_axis(jnp.where(mask, scores, -1e30), order, axis=1)
        valid = jnp.take_along_axis(mask, order, axis=1)
        tails = jax.lax.cumlogsumexp(ordered, axis=1, reverse=True)
        return jnp.where(valid, tails - ordered, 0.0).sum(-1)

    def softmax(scores: Any, labels: Any, mask: Any) -> Any:
        log_p = jax.nn.log_softmax(jnp.where(mask, scores, -1e30), axis=-1)
        return -(jnp.where(mask, labels, 0.0) * log_p).sum(-1)

    def descending(values: Any) -> Any:
        return -jnp.sort(-values, axis=-1)

    return {
        "approx_ndcg": partial(approx_ndcg, jnp, descending, jax.nn.sigmoid),
        "pairwise_logistic": partial(pairwise_logistic, jnp, jax.nn.softplus),
        "list_mle": list_mle,
        "softmax": softmax,
    }


@pytest.fixture
def in_torch(torch: Any) -> dict[str, Any]:
    def descending(values: Any) -> Any:
        return torch.sort(values, dim=-1, descending=True).values

    return {
        "approx_ndcg": partial(approx_ndcg, torch, descending, torch.sigmoid),
        "pairwise_logistic": partial(pairwise_logistic, torch, torch.nn.functional.softplus),
    }


def lists(seed: int = 0) -> tuple[Queries, Any, Any]:
    """Return queries whose documents have different labels, and scores."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([rng.permutation(m) / 8 for m in SIZES])
    return Queries.from_sizes(SIZES), labels, rng.normal(size=SIZES.sum())


def assert_equals_kernel(objective: Any, kernel: Any, fewest: int = 1) -> None:
    """Assert that gradients and losses agree, of queries that have enough documents."""
    queries, labels, scores = lists()
    ours = kernel.bind(labels, queries)
    theirs = objective.bind(labels, queries)
    rows = (fewest <= SIZES)[queries.index]
    gradients = [bound.gradients(scores)[0][rows] for bound in (theirs, ours)]
    np.testing.assert_allclose(*gradients, rtol=0, atol=1e-9)
    losses = [bound.loss(scores)[fewest <= SIZES] for bound in (theirs, ours)]
    np.testing.assert_allclose(*losses, rtol=0, atol=1e-9)


KERNELS = {
    "approx_ndcg": (ApproxRank("ndcg"), 2),  # of one document, NDCG has no gain
    "pairwise_logistic": (RankNet(), 1),
    "list_mle": (ListMLE(), 1),
}


def slow_but(fast: str, names: Iterable[str]) -> list[Any]:
    """Return names of losses, of which all but one are slow: JAX compiles each for seconds."""
    return [pytest.param(name, marks=[pytest.mark.slow] * (name != fast)) for name in names]


@pytest.mark.parametrize("name", slow_but("pairwise_logistic", KERNELS))
def test_jax_equals_the_kernel(name: str, in_jax: dict[str, Any]) -> None:
    kernel, fewest = KERNELS[name]
    assert_equals_kernel(autodiff_objective(in_jax[name], "jax"), kernel, fewest)


@pytest.mark.parametrize("name", ["approx_ndcg", "pairwise_logistic"])
def test_torch_equals_the_kernel(name: str, in_torch: dict[str, Any]) -> None:
    kernel, fewest = KERNELS[name]
    assert_equals_kernel(autodiff_objective(in_torch[name], "torch"), kernel, fewest)


def test_softmax_has_its_formula(in_jax: dict[str, Any]) -> None:
    queries, labels, scores = lists()
    gradient, curvature = (
        autodiff_objective(in_jax["softmax"], "jax").bind(labels, queries).gradients(scores)
    )
    for query in range(queries.n_queries):
        rows = queries.rows(query)
        p = np.exp(scores[rows]) / np.exp(scores[rows]).sum()
        expected = p * labels[rows].sum() - labels[rows]
        np.testing.assert_allclose(gradient[rows], expected, rtol=0, atol=1e-12)
        size = np.maximum(np.abs(expected) + np.abs(expected).mean(), 1e-300)
        np.testing.assert_allclose(curvature[rows], size, rtol=0, atol=1e-12)


def test_unit_curvature(in_jax: dict[str, Any]) -> None:
    queries, labels, scores = lists()
    objective = autodiff_objective(in_jax["softmax"], "jax", curvature="unit")
    assert set(objective.bind(labels, queries).gradients(scores)[1]) == {1.0}


def test_long_lists_are_not_repeated(in_jax: dict[str, Any]) -> None:
    """A list whose pairs exceed a chunk is a chunk of its own, once."""
    labels = np.zeros(3 * 5000)
    bound = autodiff_objective(in_jax["softmax"], "jax").bind(
        labels, Queries.from_sizes([5000] * 3)
    )
    assert [cells.shape for cells in bound.runner._cells] == [(3, 1, 8192)]


@pytest.mark.parametrize("name", slow_but("list_mle", [*KERNELS, "softmax"]))
def test_the_order_of_rows_changes_no_bit(name: str, in_jax: dict[str, Any]) -> None:
    queries, labels, scores = lists()
    scores = np.round(scores)  # many tie
    labels = np.round(labels)
    turn = np.random.default_rng(5).permutation(len(labels))
    objective = autodiff_objective(in_jax[name], "jax")
    straight = np.stack(objective.bind(labels, queries).gradients(scores))
    other = objective.bind(labels[turn], Queries.from_qid(queries.index[turn]))
    np.testing.assert_array_equal(np.stack(other.gradients(scores[turn])), straight[:, turn])


def test_a_sum_is_as_good_as_a_loss_for_each_query(in_jax: dict[str, Any]) -> None:
    queries, labels, scores = lists()
    softmax = in_jax["softmax"]
    by_query, total = (
        autodiff_objective(loss, "jax").bind(labels, queries)
        for loss in (softmax, lambda *arrays: softmax(*arrays).sum())
    )
    np.testing.assert_array_equal(by_query.gradients(scores), total.gradients(scores))
    np.testing.assert_allclose(total.loss(scores), by_query.loss(scores), rtol=1e-12)


def test_a_mean_is_refused(in_jax: dict[str, Any]) -> None:
    queries, labels, _ = lists()
    objective = autodiff_objective(lambda *arrays: in_jax["softmax"](*arrays).mean(), "jax")
    with pytest.raises(ValueError, match=r"loss must return a number .* Is it a mean over"):
        objective.bind(labels, queries)


def test_a_loss_that_sees_padding_is_refused(jax: Any) -> None:
    queries, labels, _ = lists()

    def softmax(scores: Any, labels: Any, mask: Any) -> Any:
        return -(labels * jax.nn.log_softmax(scores, axis=-1)).sum(-1)

    with pytest.raises(ValueError, match="ignore documents where the mask is False"):
        autodiff_objective(softmax, "jax").bind(labels, queries)


def test_a_loss_of_another_shape_is_refused(jax: Any) -> None:
    queries, labels, _ = lists()
    objective = autodiff_objective(lambda scores, labels, mask: scores * mask, "jax")
    with pytest.raises(ValueError, match=r"shape \(queries,\), or their sum, got shape \(2, 10\)"):
        objective.bind(labels, queries)


def test_what_is_not_finite_names_the_query(jax: Any) -> None:
    queries = Queries.from_qid(["a", "a", "b", "b"])

    def logarithm(scores: Any, labels: Any, mask: Any) -> Any:
        return jax.numpy.where(mask, jax.numpy.log(scores), 0.0).sum(-1)

    bound = autodiff_objective(logarithm, "jax").bind([0, 1, 0, 1], queries)
    for derive in (bound.loss, bound.gradients):
        with pytest.raises(RuntimeError, match=r"query 'b' .*not finite"):
            derive(np.array([1.0, 2.0, 0.0, 1.0]))


def test_padding_is_at_most_as_long_as_the_documents(in_jax: dict[str, Any]) -> None:
    sizes = np.arange(1, 200)
    queries = Queries.from_sizes(sizes)
    shapes = []

    def counted(scores: Any, labels: Any, mask: Any) -> Any:
        shapes.append(scores.shape)  # when JAX compiles
        return in_jax["softmax"](scores, labels, mask)

    bound = autodiff_objective(counted, "jax").bind(np.ones(sizes.sum()), queries)
    shapes.clear()
    bound.gradients(np.zeros(sizes.sum()))
    assert [width for _, width in shapes] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert sum(height * width for height, width in shapes) <= 2 * sizes.sum()
    bound.gradients(np.ones(sizes.sum()))
    assert len(shapes) == 9


def test_long_lists_are_evaluated_in_chunks(in_jax: dict[str, Any]) -> None:
    queries = Queries.from_sizes([1500] * 5)
    shapes = set()

    def counted(scores: Any, labels: Any, mask: Any) -> Any:
        shapes.add(scores.shape)
        return in_jax["softmax"](scores, labels, mask)

    rng = np.random.default_rng(0)
    scores = rng.normal(size=7500)
    labels = rng.integers(0, 3, 7500).astype(float)
    objective = autodiff_objective(counted, "jax")
    gradient, _ = objective.bind(labels, queries).gradients(scores)
    assert {height for height, width in shapes if width == 2048} == {1}
    last, _ = objective.bind(labels[6000:], Queries.from_sizes([1500])).gradients(scores[6000:])
    np.testing.assert_array_equal(gradient[6000:], last)


def test_frameworks_are_recognised_where_one_is_imported(
    in_jax: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = {"jax": object()}
    monkeypatch.setattr("gbrank.objectives.autodiff.sys.modules", modules)
    assert autodiff_objective(in_jax["softmax"]).framework == "jax"
    modules["torch"] = object()
    with pytest.raises(ValueError, match=r"framework .*got None, where both are imported"):
        autodiff_objective(in_jax["softmax"])
    modules.clear()
    with pytest.raises(ValueError, match=r"framework .*got None, where neither is imported"):
        autodiff_objective(in_jax["softmax"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"framework": "tensorflow"}, "framework must be one of"),
        ({"curvature": "hessian"}, "curvature must be one of"),
    ],
)
def test_arguments_are_checked(arguments: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        autodiff_objective(lambda scores, labels, mask: scores, **{"framework": "jax"} | arguments)
    with pytest.raises(TypeError, match=r"loss must be a function of"):
        autodiff_objective(lambda scores: scores, "jax")


def test_jaxs_own_precision_stays(jax: Any, in_jax: dict[str, Any]) -> None:
    queries, labels, scores = lists()
    autodiff_objective(in_jax["softmax"], "jax").bind(labels, queries).gradients(scores)
    assert jax.numpy.asarray(1.5).dtype == "float32"


def test_it_trains_trees_hooks_and_mixtures(in_jax: dict[str, Any]) -> None:
    X, y, qid = make_cubic(60, n_documents=12, n_features=6, random_state=0)
    softmax = autodiff_objective(in_jax["softmax"], "jax", name="jax softmax")
    assert get_objective("jax softmax") == softmax
    for booster in ("lightgbm", "xgboost"):
        ranker = GBRanker(softmax, booster=booster, n_estimators=20, random_state=0, n_jobs=1)
        assert ranker.fit(X, y, qid=qid).score(X, y, qid) > 0.8
    mixed = GBRanker(softmax + RankNet(), n_estimators=20, random_state=0, n_jobs=1)
    assert mixed.fit(X, y, qid=qid).score(X, y, qid) > 0.8
    data = lgb.Dataset(X, y, group=[12] * 60)
    params = {"objective": lightgbm_fobj(softmax), "verbosity": -1, "num_threads": 1}
    booster = lgb.train(params, data, num_boost_round=20)
    unranked = get_objective("ranknet").bind(y, Queries.from_qid(qid)).loss(np.zeros(len(y))).sum()
    ranked = get_objective("ranknet").bind(y, Queries.from_qid(qid)).loss(booster.predict(X)).sum()
    assert ranked < 0.5 * unranked


@pytest.mark.slow
def test_comparisons_in_other_processes(jax: Any) -> None:
    X, y, qid = make_cubic(30, n_documents=8, n_features=4, random_state=0)
    rankers = {
        "jax": GBRanker(
            autodiff_objective(softmax_of_a_module, "jax"), n_estimators=5, random_state=0
        ),
        "ranknet": GBRanker("ranknet", n_estimators=5, random_state=0),
    }
    folds = [(np.flatnonzero(qid < 20), np.flatnonzero(qid >= 20))]
    values = [
        compare_rankers(rankers, [Dataset("made", X, y, qid, folds)], seeds=2, n_jobs=n_jobs)[0]
        .parts["test"]
        .by_query("ndcg@10")
        for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize(
    "name", slow_but("softmax", ["softmax", "pairwise", "lambda", "ListMLE", "approx NDCG"])
)
def test_losses_of_rax(name: str, jax: Any) -> None:
    rax = pytest.importorskip("rax", reason="Rax is an extra of the tests: gbrank[test-jax]")
    X, y, qid = make_cubic(60, n_documents=12, n_features=6, random_state=0)
    total = {"reduce_fn": jax.numpy.sum}
    approx = partial(rax.ndcg_metric, rank_fn=rax.utils.approx_ranks)
    losses = {
        "softmax": lambda s, y, mask: rax.softmax_loss(s, y, where=mask, **total),
        "pairwise": lambda s, y, mask: rax.pairwise_logistic_loss(s, y, where=mask, **total),
        "lambda": lambda s, y, mask: (
            rax.pairwise_logistic_loss(
                s, y, where=mask, lambdaweight_fn=rax.dcg2_lambdaweight, **total
            )
            / mask.shape[1]
        ),  # its weights grow with the length of the padded list
        "ListMLE": lambda s, y, mask: rax.listmle_loss(s, y, where=mask, **total),
        "approx NDCG": lambda s, y, mask: -approx(s, y, where=mask, **total),
    }
    objective = autodiff_objective(losses[name], "jax")
    ranker = GBRanker(objective, n_estimators=20, random_state=0, n_jobs=1)
    assert ranker.fit(X, y, qid=qid).score(X, y, qid) > 0.75
    if name == "softmax":
        check_gradient(objective)
