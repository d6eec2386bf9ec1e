"""Arrays, sparse matrices and frames of every make: they are read, or one sentence says why not."""

from __future__ import annotations

import datetime as dt
import random
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

from naively import BernoulliNB, GaussianNB, MultinomialNB, NaiveBayes
from tests.fuzz import fuzz
from tests.fuzz.test_never_nan import one_sentence_or_nothing
from tests.in_batches import joined

ROWS = 6
Make = Callable[[random.Random], Any]

CELLS: list[list[Any]] = [
    [1, 2, 3],
    [1.5, float("nan"), float("inf"), -1e308],
    [10**17, -(10**30), 2**63, 2**64, 10**400],
    [Decimal("1.5"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1e999")],
    [Fraction(1, 3), Fraction(10**400, 3)],
    ["red", "", "a\0b", "\ud800", "x" * 200, "two words", "2020-01-01"],
    [b"red", b"\xff", b""],
    [True, False],
    [dt.date(2020, 1, 2), dt.date.min, dt.date.max],
    [dt.datetime(2020, 1, 2, tzinfo=dt.UTC), dt.datetime.min, dt.datetime.max],  # noqa: DTZ901
    [dt.timedelta(1), dt.timedelta.min, dt.timedelta.max],
    [dt.time(1, 2), dt.time.max],
    [["a", "b"], [], ["c"]],
    [[1, 2], [3]],
    [[1.5], [None]],
    [{"a": 1}, {"b": 2}],
    [{1, 2}],
    [object()],
    [1 + 2j],
    [np.float32(1), np.int8(2), np.bool_(True), np.str_("s"), np.datetime64("NaT")],
    [np.array([1, 2]), np.array([[1]])],
    [None],
    [pd.NA, pd.NaT, None, float("nan")],
    [pd.Interval(0, 1), pd.Period("2020-01")],
    [range(3), (1,), ("a",)],
]


def test_cells_of_all_kinds() -> None:
    fuzz(lambda rng: reads(cells(rng), rng), 25)


def test_arrays_of_all_kinds() -> None:
    fuzz(lambda rng: reads(array(rng), rng), 25)


def test_frames_of_all_kinds() -> None:
    fuzz(lambda rng: reads(frame(rng), rng), 25)


def test_sparse_matrices_that_are_none() -> None:
    fuzz(broken_sparse, 40)


def reads(X: Any, rng: random.Random) -> None:
    y = [rng.choice("ab") for _ in range(ROWS)]
    y[:2] = "ab"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", FutureWarning)
        for make in (NaiveBayes, lambda: NaiveBayes(weights=None), lambda: NaiveBayes("gaussian")):
            with one_sentence_or_nothing():
                nb = make().fit(X, y)
                p = joined(nb.predict_proba(X))
                assert ((p >= 0) & (p <= 1)).all()
                assert not np.isnan(joined(nb.score_samples(X))).any()
                nb.explain(X)
                nb.forget(X, y)


def cells(rng: random.Random) -> Any:
    def column() -> list[Any]:
        kinds = rng.sample(CELLS, 1 if rng.random() < 0.8 else 2)
        return [rng.choice([*rng.choice(kinds), None]) for _ in range(ROWS)]

    columns = {f"c{j}": column() for j in range(rng.randint(1, 3))}
    if rng.random() < 0.5:
        return columns
    rows = list(zip(*columns.values(), strict=True))
    if rng.random() < 0.5:
        return [dict(zip(columns, row, strict=True)) for row in rows]
    return [list(row) for row in rows]


def array(rng: random.Random) -> Any:
    base = np.array([[rng.randint(-3, 3) for _ in range(3)] for _ in range(ROWS)])
    mask = np.array([[rng.random() < 0.3 for _ in range(3)] for _ in range(ROWS)])
    makers: list[Callable[[], Any]] = [
        lambda: base.astype(
            rng.choice(["f2", "f4", ">f8", ">i4", "i1", "u8", "g", "?", "O", "c16"])
        ),
        lambda: np.ma.masked_array(base.astype(rng.choice(["f8", "i4", "?", "O", "U3"])), mask),
        lambda: np.ma.masked_array(base, True),
        lambda: np.asfortranarray(base)[::-1],
        lambda: base[:, ::-1].astype(float),
        lambda: base.view(np.matrix),
        lambda: base.astype("U5"),
        lambda: base.astype("S5"),
        lambda: base.astype("m8[D]"),
        lambda: base.astype("M8[Y]"),
        lambda: base.astype(np.dtypes.StringDType()),
        lambda: np.zeros((ROWS, 0)),
        lambda: np.zeros((0, 3)),
        lambda: np.zeros((ROWS, 2, 2)),
        lambda: np.float64(3.0),
        lambda: np.array(3),
        lambda: base[:, 0],
        lambda: np.zeros(ROWS, [("a", "f8"), ("b", "i4", (2,))]),
        lambda: np.zeros(ROWS, [("a", "f8"), ("b", [("c", "i4")])]),
        lambda: np.zeros(ROWS, [("a", "f8"), ("b", "U3")]).view(np.recarray),
        lambda: np.ma.masked_array(np.zeros(ROWS, [("a", "f8"), ("b", "i4")]), [(1, 0)] * ROWS),
        lambda: np.broadcast_to(np.float64(2), (ROWS, 4)),
        lambda: np.full((ROWS, 2), np.iinfo(np.uint64).max),
        lambda: np.array([[None, 1.0]] * ROWS, object),
        lambda: memoryview(base.astype(float)),
        lambda: (row for row in base.tolist()),
        lambda: {"a": np.ma.masked_array(base[:, 0], mask[:, 0]), "b": base[:, 1]},
        lambda: {"a": iter(range(ROWS)), "b": range(ROWS)},
        lambda: {1: base[:, 0], "1": base[:, 1]},
        lambda: {None: base[:, 0], (1, 2): base[:, 1]},
        dict,
        lambda: [[]] * ROWS,
        lambda: None,
        lambda: "text",
        lambda: 3,
    ]
    return rng.choice(makers)()


def frame(rng: random.Random) -> Any:
    n = list(range(ROWS))
    none = [None if rng.random() < 0.3 else i for i in n]
    strings = [None if i is None else "abc"[i % 3] for i in none]
    makers: list[Callable[[], Any]] = [
        lambda: pd.DataFrame({"a": pd.array(none, "Int64"), "b": pd.array(strings, "string")}),
        lambda: pd.DataFrame({"a": pd.Categorical(strings), "b": pd.Categorical(none)}),
        lambda: pd.DataFrame({"a": pd.Categorical(strings, ordered=True)}, index=[0] * ROWS),
        lambda: pd.DataFrame({"a": pd.interval_range(0, ROWS), "b": n}),
        lambda: pd.DataFrame({"a": pd.period_range("2020", periods=ROWS, freq="M")}),
        lambda: pd.DataFrame({"a": pd.arrays.SparseArray([0.0] * ROWS), "b": n}),
        lambda: pd.DataFrame({"a": pd.date_range("2020", periods=ROWS, tz="Asia/Tokyo")}),
        lambda: pd.DataFrame({("a", 1): n, ("a", 2): none}),
        lambda: pd.DataFrame([n, n]).T.rename(columns={0: "x", 1: "x"}),
        lambda: pd.DataFrame({"a": pd.array([True, None, False] * 2, "boolean"), "b": n}),
        lambda: pd.DataFrame({"a": np.array(n, "m8[s]"), "b": [Decimal(i) for i in n]}),
        lambda: pd.DataFrame({"a": [b"x"] * ROWS}),
        lambda: pd.DataFrame(index=n),
        lambda: pd.Series(strings),
        lambda: pd.Series(n),
        lambda: pd.Index(strings),
        lambda: pl.DataFrame({"a": pl.Series([2**100 + i for i in n], dtype=pl.Int128), "b": n}),
        lambda: pl.DataFrame({"a": pl.Series(none, dtype=pl.Int128)}),
        lambda: pl.DataFrame({"a": pl.Series([Decimal(i) / 3 for i in n]), "b": none}),
        lambda: pl.DataFrame({"a": pl.Series(strings, dtype=pl.Categorical)}),
        lambda: pl.DataFrame({"a": pl.Series(strings, dtype=pl.Enum(["a", "b", "c"]))}),
        lambda: pl.DataFrame({"a": [[1, 2], None, [], [3], [4], [5]], "b": n}),
        lambda: pl.DataFrame({"a": [["x"], None, [], ["y", "z"], ["x"], [None]], "b": n}),
        lambda: pl.DataFrame({"a": [[[1]]] * ROWS}),
        lambda: pl.DataFrame({"a": [{"x": i, "y": "s"} for i in n]}),
        lambda: pl.DataFrame({"a": pl.Series([None] * ROWS, dtype=pl.Null), "b": n}),
        lambda: pl.DataFrame({"a": pl.Series([object()] * ROWS, dtype=pl.Object)}),
        lambda: pl.DataFrame({"a": pl.Series([[1, 2]] * ROWS, dtype=pl.Array(pl.Int8, 2))}),
        lambda: pl.DataFrame({"a": [b"x"] * ROWS}),
        lambda: pl.DataFrame({"a": [dt.time(i) for i in n], "b": [dt.timedelta(i) for i in n]}),
        lambda: pl.LazyFrame({"a": none, "b": strings}),
        lambda: pl.Series("s", strings),
        pl.DataFrame,
        lambda: pa.table({"a": pa.nulls(ROWS), "b": n}),
        lambda: pa.table({"a": pa.array([Decimal(i) for i in n], pa.decimal256(50, 3))}),
        lambda: pa.table({"a": pa.array(strings).dictionary_encode(), "b": none}),
        lambda: pa.table({"a": pa.array([[i] for i in n], pa.list_(pa.int8()))}),
        lambda: pa.table({"a": pa.array([{"x": i} for i in n])}),
        lambda: pa.table({"a": pa.array([[("k", i)] for i in n], pa.map_(pa.string(), pa.int8()))}),
        lambda: pa.table({"a": pa.array(strings, pa.large_string())}),
        lambda: pa.table({"a": pa.array(strings, pa.string_view())}),
        lambda: pa.table({"a": pa.array([b"ab"] * ROWS, pa.binary(2))}),
        lambda: pa.table({"a": pa.array(n, pa.duration("ns")), "b": pa.array(n, pa.time32("s"))}),
        lambda: pa.table(
            {"a": pa.array(n, pa.date64()), "b": pa.array(n, pa.timestamp("ns", "UTC"))}
        ),
        lambda: pa.table({"a": pa.array(np.array(n, "f2")), "b": n}),
        lambda: pa.table([pa.array(n), pa.array(n)], names=["x", "x"]),
        lambda: pa.RecordBatch.from_pydict({"a": n}),
        lambda: pa.array(strings),
        lambda: pa.chunked_array([strings[:2], strings[2:]]),
    ]
    return rng.choice(makers)()


def broken_sparse(rng: random.Random) -> None:
    matrix = sparse.random_array((ROWS, 4), density=0.5, rng=rng.randint(0, 9), dtype=np.float64)
    kind = rng.choice(["csr", "csc", "coo", "bsr", "lil", "dia"])
    X = matrix.asformat(kind)
    wrong = rng.choice([-1, -(2**31), 2**30, 99, 4, 6, 0])
    part = rng.choice([*vars(X)])
    value = vars(X)[part]
    if isinstance(value, np.ndarray) and value.size and value.dtype.kind in "if":
        act = rng.choice(["cell", "short", "long", "empty", "2d"])
        changed = value.copy()
        if act == "cell":
            changed.ravel()[rng.randrange(value.size)] = wrong
        vars(X)[part] = {
            "cell": changed,
            "short": value[:-1],
            "long": np.append(value, wrong),
            "empty": value[:0],
            "2d": value.reshape(1, -1),
        }[act]
    elif isinstance(value, np.ndarray) and value.size:  # the lists of a lil
        changed = value.copy()
        changed[rng.randrange(len(value))] = rng.choice([[wrong], [0, 0], [3, 1], [], [1.5], None])
        vars(X)[part] = changed
    y = list("ab" * (ROWS // 2))
    good = NaiveBayes("gaussian").fit(np.eye(ROWS, 4), y)
    for verb in (
        lambda: NaiveBayes().fit(X, y),
        lambda: good.predict_proba(X),
        lambda: good.score_samples(X),
        lambda: good.explain(X),
        lambda: MultinomialNB().fit(X, y),
        lambda: BernoulliNB().fit(np.eye(ROWS, 4), y).predict(X),
        lambda: BernoulliNB().fit(np.eye(ROWS, 4), y).partial_fit(X, y),
        lambda: GaussianNB().fit(np.eye(ROWS, 4), y).forget(X, y),
    ):
        with one_sentence_or_nothing(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            verb()
