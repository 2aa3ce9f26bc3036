"""Odd arguments, drawn at random: vectors, features, queries and rankers; see attack.py."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse as sp

from gbrank import GBRanker, LinearRanker, SLAMPerceptron, list_objectives

OBJECTIVES = [item.usage.replace("MEASURE", "ndcg") for item in list_objectives()]
OBJECTIVES += ["lambda:map", "tie:precision@3"]
ODD_NUMBERS = [0.0, -0.0, 1e-320, 1e-30, 1e30, 1e300, -1e300, np.nan, np.inf, -np.inf, -1.0, 0.5]


class Draw:
    """Draws the arguments of one case."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.odd = self.rng.choice([0.0, 0.02, 0.1, 0.3])  # how often something is odd at all
        self.sizes = self.rng.integers(1, 9, self.rng.integers(1, 7))
        self.n = int(self.sizes.sum())
        self.width = int(self.rng.integers(1, 5))

    def one_of(self, *choices: Any) -> Any:
        """Return one of these."""
        return choices[self.rng.integers(len(choices))]

    def strange(self) -> bool:
        """Say whether the next argument is an odd one."""
        return bool(self.rng.random() < self.odd)

    def length(self) -> int:
        """Return the number of documents, or nearly."""
        return max(0, self.n + self.one_of(-1, 1, 7, -self.n)) if self.strange() else self.n

    def values(self, ordinary: Callable[[int], Any]) -> Any:
        """Return a vector, some of whose entries may be odd, in any container."""
        values = np.asarray(ordinary(self.length()), dtype=np.float64)
        if self.strange() and len(values):
            values[self.rng.random(len(values)) < 0.3] = self.one_of(*ODD_NUMBERS)
        return self.vector(values)

    def vector(self, values: Any) -> Any:
        """Return a vector in any container, type and layout."""
        if not self.strange():
            return values
        containers: list[Callable[[Any], Any]] = [
            list, tuple, iter, set, str, pd.Series, pd.Index, pl.Series, pa.array, np.ma.array,
            sp.csr_matrix, np.ndarray.tobytes, memoryview, dict.fromkeys, pd.DataFrame,
            lambda v: pd.Series(v, index=self.rng.permutation(len(v))),
            lambda v: pd.Series(v, dtype="Float64"),
            lambda v: pd.Series(v, dtype="float64[pyarrow]"),
            lambda v: pd.Series(v).astype("category"),
            lambda v: pd.Series(pd.arrays.SparseArray(v)),
            lambda v: pd.Series(v).where(pd.Series(v) > 0).astype("Float64"),
            lambda v: pa.chunked_array([v[:1], v[1:]]),
            lambda v: np.ma.array(v, mask=v > 0),
            lambda v: v[:, None], lambda v: v[None, :], lambda v: v[:, None, None],
            lambda v: np.repeat(v, 2)[::2], lambda v: v[::-1][::-1],
            lambda v: np.broadcast_to(v[:1], v.shape), lambda v: v.astype(object),
            lambda v: v.astype(np.float32), lambda v: v.astype(np.float16),
            lambda v: v.astype(np.longdouble), lambda v: v.astype(np.int8),
            lambda v: v.astype(bool), lambda v: v.astype(complex), lambda v: v.astype(str),
            lambda v: v.astype(">f8"), lambda v: v.astype("datetime64[s]"),
            lambda v: np.array([None, *v[1:]]), lambda v: [v.tolist()],
            lambda v: [10**400, *v[1:]], lambda v: 1.0, lambda v: None, lambda v: "1",
        ]  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's own, of what cannot be cast
            try:
                return self.one_of(*containers)(values)
            except (ValueError, TypeError, OverflowError, IndexError, pa.ArrowException):
                return values

    def features(self, n: int) -> Any:
        """Return a matrix, in any container, type and layout."""
        X = self.rng.normal(size=(n, self.width)).round(2)
        if self.strange() and X.size:
            X[self.rng.random(X.shape) < 0.3] = self.one_of(*ODD_NUMBERS)
        if not self.strange():
            return X
        names = [f"f{column}" for column in range(self.width)]
        frame = pd.DataFrame(X, columns=names)
        containers: list[Callable[[], Any]] = [
            lambda: frame, lambda: frame.astype("Float64"), lambda: frame.convert_dtypes(),
            lambda: frame.astype("float64[pyarrow]"), lambda: frame.astype(str),
            lambda: frame.astype("category"), lambda: frame.astype(object),
            lambda: frame.astype(pd.SparseDtype(float, 0.0)), lambda: frame > 0,
            lambda: frame.set_axis(["f"] * self.width, axis=1),
            lambda: frame.set_axis(range(self.width), axis=1),
            lambda: frame.set_axis(pd.MultiIndex.from_product([["a"], names]), axis=1),
            lambda: frame.assign(f0=pd.Timestamp("2020-01-01")), lambda: frame.iloc[:, :0],
            lambda: frame.assign(f0="a"), lambda: frame.assign(f0=[[1]] * n),
            lambda: frame.assign(f0=pd.Series([None] * n)), lambda: frame.iloc[::-1],
            lambda: pl.DataFrame(X), lambda: pl.DataFrame(X).lazy(), lambda: pa.table(frame),
            lambda: sp.csr_matrix(X), lambda: sp.csc_matrix(X), lambda: sp.coo_matrix(X),
            lambda: sp.csr_array(X), lambda: sp.lil_matrix(X), lambda: sp.csr_matrix(X > 0),
            lambda: sp.csr_matrix((X.ravel(), np.zeros(X.size, int), np.arange(n + 1) * self.width),
                                  shape=X.shape),
            lambda: np.asfortranarray(X), lambda: X[:, ::-1], lambda: X[::-1],
            lambda: X.astype(np.float32), lambda: X.astype(np.float16), lambda: X.astype(np.int64),
            lambda: X > 0, lambda: X.astype(object), lambda: X.astype(str),
            lambda: X.astype(complex), lambda: X.astype(">f8"), lambda: X.astype(np.longdouble),
            lambda: X.tolist(), lambda: X[:, 0], lambda: X[None], lambda: X[:, :0], lambda: X[:0],
            lambda: np.ma.masked_greater(X, 0), lambda: np.matrix(X), lambda: X[:-1],
            lambda: np.hstack([X, X]), lambda: None, lambda: "X", lambda: {}, lambda: iter(X),
        ]  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self.one_of(*containers)()
            except (ValueError, TypeError, pa.ArrowException, pd.errors.IntCastingNaNError):
                return X

    def labels(self) -> Any:
        """Return labels."""
        return self.values(lambda n: self.rng.integers(0, self.one_of(1, 2, 5), n))

    def scores(self) -> Any:
        """Return scores."""
        scale = self.one_of(1.0, 0.0, 1e-12, 1e12)
        return self.values(lambda n: self.rng.normal(size=n).round(1) * scale)

    def weights(self, n: int) -> Any:
        """Return weights, or none."""
        if self.rng.random() < 0.6:
            return None
        top = self.one_of(1.0, 1.0, 1e-300, 1e300, 1e30)
        return self.vector(self.rng.random(n) * top) if n != self.n else self.values(
            lambda length: self.rng.random(length) * top
        )  # fmt: skip

    def queries(self) -> dict[str, Any]:
        """Return qid or group, or something like it."""
        ids = np.repeat(self.rng.permutation(len(self.sizes)), self.sizes)
        if not self.strange():
            shuffled = self.rng.permutation(ids) if self.rng.random() < 0.3 else ids
            return self.one_of({"qid": shuffled}, {"group": self.sizes})
        group = self.sizes.copy()
        group[0] += self.one_of(0, 1, -1, -20, 2**40, 2**62)
        groups = [
            group, group.tolist(), group.astype(float), group.astype(float) + 0.5,
            group.astype(np.uint64), group.astype(str), [*group, 0], [], [[self.n]], self.n, None,
            [10**30], pd.Series(group), group.astype(object), np.ma.array(group, mask=group > 3),
        ]  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mixed = [(str, float, lambda i: i, lambda i: (i,))[i % 4](int(i)) for i in ids]
            qids = [
                self.vector(ids), ids.astype(str), ids.astype("datetime64[D]"), mixed,
                ids + 2.0**60, ids.astype(complex), np.where(ids > 0, ids, np.nan), ids[:-1],
                pd.Categorical(ids.astype(str)), pd.Series(ids).astype("string[pyarrow]"),
                [None, *ids[1:]], [float("nan")] * self.n, [[1]] * self.n, ids.astype(bytes),
                [b"a\0", *ids[1:]], [object()] * self.n, pl.Series(ids), None, [], "qid", 0,
            ]  # fmt: skip
        return self.one_of(
            {"qid": self.one_of(*qids)}, {"group": self.one_of(*groups)}, {},
            {"qid": ids, "group": group},
        )  # fmt: skip

    def objective(self) -> str:
        """Return the name of an objective of gbrank."""
        return str(self.one_of(*(name for name in OBJECTIVES if "lightgbm" not in name)))

    def hook(self, make: Callable[..., Any]) -> Any:
        """Return a hook."""
        return make(self.objective(), rounds=self.one_of(1, 5), start=self.one_of(True, False))

    def ranker(self) -> Any:
        """Return an estimator with some odd parameters."""
        if self.rng.random() < 0.1:
            return self.one_of(LinearRanker("ranknet", max_iter=3), SLAMPerceptron(max_iter=2))
        params: dict[str, Any] = {"n_estimators": 2, "min_child_samples": 1, "n_jobs": 1}
        params["booster"] = self.one_of("lightgbm", "xgboost")
        params["objective"] = self.one_of(*OBJECTIVES)
        odd: dict[str, list[Any]] = {
            "n_estimators": [1, 0, 2.0, -1, None, True],
            "learning_rate": [1e-300, 0.0, 1.0, 1e30, np.nan, "0.1", np.float32(0.1)],
            "num_leaves": [2, 1, 10**6, 10**12, None],
            "max_depth": [1, 0, 10**6, -1],
            "min_child_samples": [0, 10**9, 2.5],
            "subsample": [0.01, 0.5, 0.0, 1.5, np.nan],
            "subsample_by": ["query", "rows"],
            "colsample": [1e-9, 0.5, 2.0],
            "extra_trees": [True, False, "yes"],
            "reg_lambda": [1e300, -1.0, 1e-300, np.inf],
            "sigma": [1e-300, 1e300, 0.0, -1.0, np.nan, "geometric(1,0.1)", len, "x"],
            "init": ["zero", "regression", "none", GBRanker("ranknet", n_estimators=1), 3],
            "eval_metric": ["map", "nope", [], ["ndcg", "map"], None],
            "early_stopping_rounds": [1, 0, 10**9, "auto", "x"],
            "validation_fraction": [0.5, 1e-9, 0.999, 0.0, 1.0],
            "random_state": [0, -1, 2**40, None, np.random.RandomState(0), "0"],
            "n_jobs": [None, 2, 0, -1, 1.5, 10**9],
            "booster_params": [{"max_bin": 3}, {"nope": 1}, {"num_leaves": 3}, [], {1: 2}],
        }
        for name, choices in odd.items():
            if self.strange():
                params[name] = self.one_of(*choices)
        return GBRanker(**params)
