"""NaiveBayes on every kind of rows, its verbs, and bad input one by one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

from naively import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gaussian,
    Histogram,
    Multinomial,
    NaiveBayes,
    load,
)

TABLE = {
    "size": [1.0, 2.0, None, 8.0, 9.0, 7.5],
    "colour": ["red", "red", "blue", None, "blue", "green"],
    "sold": [True, False, True, False, None, False],
    "note": [
        "a very good thing to have",
        "what a good buy this was",
        None,
        "it broke on the first day",
        "never again will I buy this",
        "it is broken and it smells",
    ],
}
Y = ["good", "good", "good", "bad", "bad", "bad"]
TEXTS = [text or "" for text in TABLE["note"]]


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame(TABLE)


def test_each_column_gets_the_event_model_that_its_values_suggest(table: pd.DataFrame) -> None:
    nb = NaiveBayes(weights=None).fit(table, Y)
    chosen = {name: group.event for name, group in nb.schema_.columns.items()}
    assert chosen == {
        "size": Histogram(),
        "colour": Categorical(m="auto"),
        "sold": Bernoulli("auto"),
        "note": Multinomial("auto"),
    }
    assert nb.schema_.columns["note"].kind == "text"
    assert nb.n_features_in_ == 4
    assert nb.feature_names_in_.tolist() == list(TABLE)
    assert not hasattr(nb.fit([[1.0], [2.0]], ["a", "b"]), "feature_names_in_")


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(TABLE),
        pa.table(TABLE),
        TABLE,
        pd.DataFrame(TABLE).convert_dtypes(),
        pd.DataFrame(TABLE).astype({"colour": "category"}),
        pl.DataFrame(TABLE).with_columns(pl.col("colour").cast(pl.Categorical)),
        pl.DataFrame(TABLE).select("note", "size", "sold", "colour"),
    ],
    ids=[
        "polars",
        "pyarrow",
        "mapping",
        "pandas nullable",
        "pandas category",
        "polars category",
        "reordered",
    ],
)
def test_all_frames_are_one(frame: object, table: pd.DataFrame) -> None:
    nb = NaiveBayes(weights=None).fit(table, Y)
    expected = nb.predict_proba(table)
    np.testing.assert_allclose(nb.predict_proba(frame), expected, rtol=1e-12)
    np.testing.assert_allclose(
        NaiveBayes(weights=None).fit(frame, Y).predict_proba(table), expected, rtol=1e-12
    )


def chosen(X: object) -> dict[str | int, str]:
    nb = NaiveBayes(weights=None).fit(X, ["a", "b", "a"])
    assert nb.predict(X).shape == (3,)
    return {name: group.event.name for name, group in nb.schema_.columns.items()}


@pytest.mark.parametrize(
    ("column", "event"),
    [
        ([np.str_("u"), np.str_("v"), None], "categorical"),
        ([np.float32(1), np.int32(2), None], "histogram"),
        (np.array([1.0, pd.NA, np.nan], object), "histogram"),
        (["u", pd.NA, np.nan], "categorical"),
        ([True, pd.NA, None], "bernoulli"),
    ],
)
def test_scalars_of_numpy_and_missing_of_pandas(column: object, event: str) -> None:
    assert chosen({"x": column}) == {"x": event}


def test_columns_of_pandas_may_be_named_by_numbers() -> None:
    expected = {"0": "histogram", "1": "categorical"}
    assert chosen(pd.DataFrame([[1.0, "u"], [2.0, "v"], [3.0, "u"]])) == expected
    for twice in (
        pd.DataFrame([[1.0, 2.0]] * 3, columns=["a", "a"]),
        pd.DataFrame([[1.0, 2.0]] * 3, columns=[1, "1"]),
        pa.Table.from_arrays([pa.array([1.0])] * 2, names=["a", "a"]),
        {1: [1.0], "1": ["u"]},
    ):
        with pytest.raises(ValueError, match="more than one column named"):
            NaiveBayes(weights=None).fit(twice, ["a", "b", "a"])


def test_moments_may_have_a_time_zone() -> None:
    days = pd.to_datetime(["2020-01-01", "2020-02-01", None])
    frames = pd.DataFrame({"d": days}), pd.DataFrame({"d": days.tz_localize("UTC")})
    one, other = (
        NaiveBayes(weights=None).fit(frame, ["a", "b", "a"]).predict_proba(frame)
        for frame in frames
    )
    np.testing.assert_array_equal(one, other)


def test_texts_of_an_object_array_may_be_missing() -> None:
    nb = NaiveBayes(weights=None, smoothing=1.0).fit(
        np.array(["very good", np.nan, "bad"], object), ["a", "a", "b"]
    )
    assert nb.predict(["good", "bad"]).tolist() == ["a", "b"]


def test_every_sparse_format_is_one() -> None:
    dense = np.array([[1, 0, 2], [0, 3, 0], [1, 1, 0]])
    expected = (
        NaiveBayes("multinomial", weights=None).fit(dense, ["a", "b", "a"]).predict_proba(dense)
    )
    for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
        X = sparse.csr_array(dense).asformat(form)
        p = NaiveBayes("multinomial", weights=None).fit(X, ["a", "b", "a"]).predict_proba(X)
        np.testing.assert_allclose(p, expected, rtol=1e-12)
    with pytest.raises(ValueError, match="Expected 2D array"):
        NaiveBayes(weights=None).fit(sparse.coo_array(np.array([1.0, 0.0])), ["a", "b"])


def columns_of(kind: str, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return columns that a step before a classifier would make, of shape (rows, columns)."""
    n, c = len(y), y[:, None]
    return {
        "scaled": rng.normal(c, size=(n, 2)),
        "fractions": np.where(rng.random((n, 3)) < 0.3 + 0.3 * c, rng.random((n, 3)), 0.0),
        "ages": rng.integers(20, 60, (n, 1)) + 5 * c,
        "one-hot": np.eye(4)[rng.integers(0, 2, n) + y],
        "truth": rng.random((n, 1)) < 0.7,
        "one count": rng.poisson(0.3 + c, (n, 1)),
        "words": rng.poisson(0.1 + 0.4 * (c == np.arange(6) % 2)),
        "some missing": np.where(rng.random((n, 1)) < 0.1, np.nan, rng.normal(c)),
        "infinite": np.where(rng.random((n, 1)) < 0.1, np.inf, 0.0),
    }[kind].astype(float)


@pytest.mark.parametrize(
    "kinds",
    [
        ("scaled", "one-hot"), ("fractions",), ("fractions", "one-hot", "truth"), ("ages",),
        ("one-hot",), ("one count", "one-hot", "fractions"), ("some missing", "one-hot"),
        ("infinite", "fractions"),
    ],
    ids=" and ".join,
)  # fmt: skip
def test_sparse_is_dense(kinds: Sequence[str]) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(160) % 2
    dense = np.hstack([columns_of(kind, y, rng) for kind in kinds])
    thin = sparse.csr_array(dense)
    of_dense, of_sparse = NaiveBayes().fit(dense, y), NaiveBayes().fit(thin, y)
    assert of_sparse.schema_ == of_dense.schema_
    for one in (of_dense, of_sparse):
        np.testing.assert_array_equal(one.predict_proba(thin), of_dense.predict_proba(dense))
    parts = [NaiveBayes().partial_fit(X[:80], y[:80], [0, 1]) for X in (dense, thin)]
    for nb, X in zip(parts, (dense, thin), strict=True):
        nb.partial_fit(X[80:], y[80:])
    np.testing.assert_array_equal(parts[0].predict_proba(thin), parts[1].predict_proba(thin))


@pytest.mark.parametrize("given", ["auto", {0: "gaussian"}])
def test_columns_of_a_sparse_matrix_are_told_apart_and_counts_are_said(given: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(160) % 2
    kinds = ("scaled", "one-hot", "words", "fractions")
    X = sparse.csr_array(np.hstack([columns_of(kind, y, rng) for kind in kinds]))
    nb = NaiveBayes(given).fit(X, y)
    columns = {group.event.name: list(group.columns) for group in nb.schema_.groups}
    assert columns["multinomial"] == [*range(2, 12)]  # one-hot beside counts too
    assert {*range(12, 15)} <= {*columns["histogram"]}
    for said in (str(nb.schema_), nb.notes_[-1]):
        assert "counts: whole numbers, none negative, mostly 0 in a sparse matrix" in said
    alone = NaiveBayes("multinomial").fit(X[:, 6:12], y)
    only = NaiveBayes().fit(X[:, 6:12], y)
    np.testing.assert_array_equal(only.predict_proba(X[:, 6:12]), alone.predict_proba(X[:, 6:12]))
    assert only.schema_.groups == alone.schema_.groups
    for more in (X[:, 12:15], X[:, 12:15].toarray()):
        with pytest.raises(ValueError, match=r"'x0', .* held counts until now, and holds fra"):
            NaiveBayes().fit(X[:, 6:9], y).partial_fit(more, y)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(lambda: MinMaxScaler(clip=False), id="min-max"),
        pytest.param(MaxAbsScaler, id="max-abs"),
        pytest.param(lambda: StandardScaler(with_mean=False), id="standard"),
        pytest.param(lambda: KBinsDiscretizer(4), id="bins"),
    ],
)
def test_a_pipeline_that_makes_a_sparse_matrix_is_cross_validated(step: Any) -> None:
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2
    X = pd.DataFrame(
        {"a": rng.exponential(1 + y), "b": rng.normal(y), "c": rng.choice([*"pqr"], 200)}
    )
    thin = ColumnTransformer(
        [("n", step(), ["a", "b"]), ("c", OneHotEncoder(handle_unknown="ignore"), ["c"])],
        sparse_threshold=1.0,
    )
    dense = clone(thin).set_params(sparse_threshold=0.0)
    scores = [
        cross_val_score(
            make_pipeline(of, NaiveBayes()), X, y, scoring="neg_log_loss", error_score="raise"
        )
        for of in (thin, dense)
    ]
    np.testing.assert_array_equal(*scores)
    assert scores[0].mean() > -0.69


def test_a_sparse_matrix_that_is_too_large_for_a_table_says_what_is_done() -> None:
    y = np.arange(3_000) % 2
    X = sparse.csr_array(([1.0, -0.5], ([0, 1], [3, 70_000])), shape=(3_000, 100_000))
    with pytest.raises(ValueError, match=r"Column 'x70000' of the sparse matrix .*alternate_sign"):
        NaiveBayes().fit(X, y)
    with pytest.warns(UserWarning, match="too many for a table of numbers: .*'multinomial'"):
        nb = NaiveBayes().fit(abs(X), y)
    assert [group.event.name for group in nb.schema_.groups] == ["multinomial"]


def test_an_array_after_a_frame_warns_as_scikit_learn_does() -> None:
    frame = pd.DataFrame({"u": [1.0, 2.0, 7.0, 8.0], "v": [0.0, 1.0, 0.0, 2.0]})
    nb = NaiveBayes(weights=None).fit(frame, [0, 0, 1, 1])
    for X in (frame.to_numpy(), frame.to_numpy().tolist(), sparse.csr_array(frame.to_numpy())):
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            assert nb.predict(X).tolist() == [0, 0, 1, 1]
    assert nb.predict(frame[["v", "u"]]).tolist() == [0, 0, 1, 1]
    NaiveBayes(weights=None).fit(frame.to_numpy(), [0, 0, 1, 1]).predict(frame.to_numpy())


@pytest.mark.parametrize(
    ("levels", "strangers"),
    [
        (np.array([[-100], [100]], np.int8), np.array([[0], [-1]], np.int8)),
        (np.array([[0], [1]]), np.array([[2**32], [2**32 - 1]], np.uint64)),
        (np.array([[1], [2]], np.uint8), np.array([[2**32 + 1], [2**64 - 1]], np.uint64)),
        (np.array([[2**63 + 5], [2**63 + 7]], np.uint64), np.array([[5], [-7]])),
    ],
    ids=["int8", "own codes", "code table", "uint64"],
)
def test_categories_of_any_integer_type(levels: np.ndarray, strangers: np.ndarray) -> None:
    nb = NaiveBayes("categorical", weights=None).fit(levels, ["a", "b"])
    expected = NaiveBayes("categorical", weights=None).fit([["low"], ["high"]], ["a", "b"])
    np.testing.assert_array_equal(
        nb.predict_proba(levels), expected.predict_proba([["low"], ["high"]])
    )
    np.testing.assert_array_equal(nb.predict_proba(strangers), [[0.5, 0.5]] * 2)


@pytest.mark.parametrize(
    "y",
    [
        pa.array(["a", "b", "a"]),
        pl.Series(["a", "b", "a"], dtype=pl.Categorical).to_numpy(),
        np.array([2**63 + 1, 2**63 + 2, 2**63 + 1], np.uint64),
        np.array([-100, 100, -100], np.int8),
        pd.Series([True, False, True], index=[3, 3, 0]),
    ],
    ids=["pyarrow", "polars categories", "uint64", "int8", "pandas index"],
)
def test_labels_of_any_type(y: object) -> None:
    X = [[1.0], [9.0], [1.5]]
    assert NaiveBayes(weights=None).fit(X, y).predict(X).tolist() == list(y.tolist())


def test_a_model_of_texts_can_be_copied_and_pickled(table: pd.DataFrame) -> None:
    nb = NaiveBayes(weights=None).fit(table, Y)
    again = deepcopy(nb)  # by pickle's protocol
    np.testing.assert_array_equal(again.predict_proba(table), nb.predict_proba(table))
    again.partial_fit(table, Y)
    assert nb.class_count_.sum() == len(Y)


def test_the_target_may_be_a_column(table: pd.DataFrame) -> None:
    labelled = table.assign(verdict=Y)
    nb = NaiveBayes(weights=None).fit(labelled, "verdict")
    np.testing.assert_array_equal(
        nb.predict_proba(table), NaiveBayes(weights=None).fit(table, Y).predict_proba(table)
    )
    with pytest.raises(ValueError, match="no target column 'verdikt'; the columns are 'verdict'"):
        NaiveBayes(weights=None).fit(labelled, "verdikt")


def test_a_list_of_texts_is_one_text_column() -> None:
    nb = NaiveBayes(weights=None).fit(TEXTS, Y)
    assert nb.predict(["a good thing", "it broke"]).tolist() == ["good", "bad"]
    as_series = NaiveBayes(weights=None).fit(pd.Series(TEXTS), pd.Series(Y))
    np.testing.assert_array_equal(as_series.predict_proba(TEXTS), nb.predict_proba(TEXTS))
    np.testing.assert_array_equal(
        NaiveBayes(weights=None).fit(np.array(TEXTS), np.array(Y)).predict_proba(TEXTS),
        nb.predict_proba(TEXTS),
    )


def test_methods_agree_with_each_other() -> None:
    X, y = load_iris(return_X_y=True)
    nb = NaiveBayes(weights=None).fit(X, y)
    joint, p = nb.predict_joint_log_proba(X), nb.predict_proba(X)
    np.testing.assert_allclose(np.log(p), nb.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(p, np.exp(joint) / np.exp(joint).sum(1, keepdims=True), rtol=1e-9)
    np.testing.assert_array_equal(nb.predict(X), nb.classes_[p.argmax(axis=1)])
    assert nb.score(X, y) == np.mean(nb.predict(X) == y) > 0.95


def test_float32_integers_fortran_and_strides_are_one() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.rint(X * 10)
    expected = NaiveBayes(weights=None).fit(X, y).predict_proba(X)
    wide = np.zeros((2 * len(X), 2 * X.shape[1]))
    wide[::2, ::2] = X
    for same in (X.astype(np.float32), X.astype(np.int16), np.asfortranarray(X), wide[::2, ::2]):
        np.testing.assert_allclose(
            NaiveBayes(weights=None).fit(same, y).predict_proba(same), expected, rtol=1e-9
        )


def test_float32_sums_are_float64() -> None:
    rng = np.random.default_rng(0)
    X = (1e6 + rng.normal(size=(200_000, 1))).astype(np.float32)
    nb = NaiveBayes(Gaussian(smoothing=0), weights=None).fit(X, np.zeros(len(X), int))
    exact = X.astype(np.float64)
    mean, variance = Gaussian(smoothing=0).moments(*nb.tally_.blocks.values())
    np.testing.assert_allclose(
        [mean[0, 0], variance[0, 0]], [exact.mean(), exact.var()], rtol=1e-12
    )


def test_the_variance_of_a_far_column_is_right() -> None:
    X = np.array([[1e8 - 1], [1e8 + 1], [1e8 - 1], [1e8 + 1]])
    nb = NaiveBayes(Gaussian(smoothing=0), weights=None).fit(X, [0, 0, 1, 1])
    np.testing.assert_array_equal(
        Gaussian(smoothing=0).moments(*nb.tally_.blocks.values())[1], [[1.0, 1.0]]
    )


def test_units_do_not_matter() -> None:
    X, y = load_iris(return_X_y=True)
    scale = np.array([1e-6, 1.0, 1e3, 1e9])
    np.testing.assert_allclose(
        NaiveBayes(weights=None).fit(X * scale, y).predict_proba(X * scale),
        NaiveBayes(weights=None).fit(X, y).predict_proba(X),
        rtol=1e-6,
        atol=1e-12,
    )


def test_new_classes_levels_words_and_columns_may_come_later(table: pd.DataFrame) -> None:
    nb = NaiveBayes(weights=None).fit(table[:2], Y[:2])
    later = table[2:].assign(weight=[1.0, 2.0, 3.0, 4.0])
    nb.partial_fit(later, ["new", "bad", "bad", "bad"])
    assert nb.classes_.tolist() == ["bad", "good", "new"]
    assert "weight" in nb.schema_.columns
    whole = pd.concat([table[:2], later])
    refit = NaiveBayes(
        {
            name: group.event if group.kind != "text" else "text"
            for name, group in nb.schema_.columns.items()
        },
        weights=None,
    ).fit(whole, ["good", "good", "new", "bad", "bad", "bad"])
    np.testing.assert_allclose(nb.predict_proba(whole), refit.predict_proba(whole), rtol=1e-9)


def test_prediction_changes_nothing() -> None:
    nb = NaiveBayes(weights=None).fit({"colour": ["red", "blue"], "note": TEXTS[:2]}, ["a", "b"])
    rows = {"colour": ["green", None], "note": ["never seen words at all", None]}
    first = nb.predict_proba(rows)
    size = {name: len(block.axis) for name, block in nb.tally_.blocks.items()}
    np.testing.assert_array_equal(nb.predict_proba(rows), first)
    assert {name: len(block.axis) for name, block in nb.tally_.blocks.items()} == size


def test_merge_forget_and_decay(table: pd.DataFrame) -> None:
    whole = NaiveBayes(weights=None).fit(table, Y)
    half = NaiveBayes({"note": "text"}, weights=None).fit(table[:3], Y[:3])
    rest = NaiveBayes({"note": "text"}, weights=None).fit(table[3:], Y[3:])
    half.merge(rest)
    np.testing.assert_allclose(half.predict_proba(table), whole.predict_proba(table), rtol=1e-9)
    before = half.predict_proba(table)
    with pytest.raises(ValueError, match="Cannot forget rows that were not learned: too few in"):
        half.forget(table.assign(colour="purple"), Y)
    np.testing.assert_array_equal(half.predict_proba(table), before)
    half.decay(0.5)
    np.testing.assert_array_equal(half.class_count_, whole.class_count_ / 2)
    for factor in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="decay factor"):
            half.decay(factor)


@pytest.mark.parametrize(
    ("event", "X", "stranger"),
    [
        ("multinomial", [[1, 3], [1, 2], [0, 1]], [5, 0]),
        ("bernoulli", [[1, 0], [0, 0], [0, 0]], [0, 1]),
        ("gaussian", [[1, 3], [1, 2], [0, 1]], [100, 0]),
    ],
)
def test_numbers_that_were_not_learned_cannot_be_forgotten(
    event: str, X: list[list[int]], stranger: list[int]
) -> None:
    nb = NaiveBayes(event, weights=None).fit(X, ["a", "a", "a"])
    with pytest.raises(ValueError, match=r"too few in column 'x[01]', class 'a'"):
        nb.forget([stranger], ["a"])


def test_a_column_that_is_missing_throughout_may_have_any_type(table: pd.DataFrame) -> None:
    nb = NaiveBayes(weights=None).fit(table, Y)
    nothing = pd.DataFrame({name: [np.nan, np.nan] for name in table})
    np.testing.assert_allclose(nb.predict_proba(nothing), [np.exp(nb.class_log_prior_)] * 2)
    np.testing.assert_array_equal(
        nb.partial_fit(nothing, ["good", "bad"]).predict_proba(table[:0]), np.empty((0, 2))
    )


def test_models_that_count_a_column_differently_do_not_merge() -> None:
    numbers = NaiveBayes(weights=None).fit({"x": [1.0, 2.0]}, ["a", "b"])
    levels = NaiveBayes("categorical", weights=None).fit({"x": [1.0, 2.0]}, ["a", "b"])
    with pytest.raises(ValueError, match="Column 'x' is histogram in one model and categorical"):
        numbers.merge(levels)


def test_the_order_of_columns_and_of_groups_does_not_matter() -> None:
    X = {"p": [1.0, 2.0, 1.0], "q": ["u", "v", "u"], "r": [5.0, 3.0, 4.0]}
    y = ["a", "b", "a"]
    events = {"p": "categorical", "q": "categorical", "r": Gaussian(smoothing=0.1)}
    twice = NaiveBayes(events, weights=None).fit({name: X[name] * 2 for name in X}, y * 2)
    for order in (["p", "q", "r"], ["r", "q", "p"], ["q", "p", "r"]):
        other = NaiveBayes(events, weights=None).fit({name: X[name] for name in order}, y)
        both = NaiveBayes(events, weights=None).fit(X, y).merge(other)
        np.testing.assert_allclose(both.predict_proba(X), twice.predict_proba(X), rtol=1e-12)
        assert both.n_features_in_ == 3


def test_an_array_has_the_columns_of_the_frame_in_their_order(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [5.0, 1, 5, 1], "c": [9.0, 8, 1, 1]})
    nb = NaiveBayes({"b": "multinomial"}, weights=None).fit(frame, ["u", "v", "u", "v"])
    expected = nb.predict_proba(frame)
    nb.save(tmp_path / "model")
    for each in (nb, load(tmp_path / "model")):
        with pytest.warns(UserWarning, match="valid feature names"):
            np.testing.assert_array_equal(each.predict_proba(frame.to_numpy()), expected)


def test_frames_and_arrays_may_follow_each_other() -> None:
    frame, y = pd.DataFrame({"a": [1.0, 2.0], "b": [4.0, 3.0]}), ["u", "v"]
    for first, second in ((frame, frame.to_numpy()), (frame.to_numpy(), frame)):
        nb = NaiveBayes(weights=None).fit(first, y).partial_fit(second, y)
        assert nb.n_features_in_ == 2
        assert nb.predict(first).tolist() == y
    with pytest.raises(ValueError, match="names in one model and only places in the other"):
        NaiveBayes(weights=None).fit(frame, y).merge(
            NaiveBayes(weights=None).fit(frame.to_numpy(), y)
        )


def test_class_priors() -> None:
    X, y = [[0.0], [1.0], [5.0]], ["a", "a", "b"]
    uniform = NaiveBayes(class_prior="uniform", weights=None).fit(X, y)
    assert uniform.class_log_prior_.tolist() == [np.log(0.5)] * 2
    given = NaiveBayes(class_prior={"a": 0.1, "b": 0.9}, weights=None).fit(X, y)
    np.testing.assert_allclose(np.exp(given.class_log_prior_), [0.1, 0.9])
    for wrong in ([0.5, 0.6], [1.5, -0.5], [1.0], {"a": 1.0}, "guess", [np.nan, 1.0]):
        with pytest.raises(ValueError, match="class_prior"):
            NaiveBayes(class_prior=wrong, weights=None).fit(X, y).predict(X)


def test_a_prior_of_the_class_prior(tmp_path: Path) -> None:
    X, y = [[1.0], [2.0], [3.0], [4.0]], ["a", "b", "b", "c"]
    for prior, counts in ((Dirichlet(2), [3, 4, 3]), (Dirichlet([1, 2, 3]), [2, 4, 4])):
        nb = NaiveBayes(class_prior=prior).fit(X, y)
        expected = np.divide(counts, sum(counts))
        np.testing.assert_allclose(np.exp(nb.class_log_prior_), expected)
        nb.save(tmp_path / "model.naively")
        again = load(tmp_path / "model.naively")
        assert again.class_prior == prior
        np.testing.assert_array_equal(again.class_log_prior_, nb.class_log_prior_)
        assert clone(nb).class_prior == prior
    with pytest.raises(ValueError, match="is for two classes, but there are 3; give a Dirichlet"):
        NaiveBayes(class_prior=Beta(3, 2)).fit(X, y).predict(X)
    with pytest.raises(ValueError, match="has 2 counts for 3 classes"):
        NaiveBayes(class_prior=Dirichlet([1, 2])).fit(X, y).predict(X)


def test_an_event_model_by_name_by_column_or_for_all() -> None:
    X = {"x": [1.0, 2.0, 1.0], "y": [3.0, 4.0, 3.0]}
    some = NaiveBayes({"x": "categorical"}, weights=None).fit(X, [0, 1, 0])
    names = {str(key) for key in some.tally_.blocks}
    assert names == {"categorical(m='auto') of numbers", "histogram"}
    every = NaiveBayes("bernoulli", weights=None).fit(X, [0, 1, 0])
    assert [*map(str, every.tally_.blocks)] == ["bernoulli(alpha='auto') of numbers"]
    with pytest.raises(ValueError, match="Column 'x0' holds numbers, not text"):
        NaiveBayes("text", weights=None).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="no event model 'gausian'; there are bernoulli"):
        NaiveBayes("gausian", weights=None).fit(X, [0, 1, 0])
    with pytest.raises(ValueError, match="event_models: There is no column 'z'"):
        NaiveBayes({"z": "gaussian"}, weights=None).fit(X, [0, 1, 0])
    with pytest.raises(ValueError, match="Column 'c' holds strings, which a gaussian"):
        NaiveBayes("gaussian", weights=None).fit({"c": ["u", "v"]}, [0, 1])


def test_impossible_for_every_class_is_the_class_prior() -> None:
    nb = NaiveBayes(Categorical(alpha=0), weights=None).fit({"c": ["u", "u", "v"]}, ["a", "a", "b"])
    np.testing.assert_allclose(nb.predict_proba({"c": ["w"]}), [[2 / 3, 1 / 3]])
    assert np.isneginf(nb.predict_joint_log_proba({"c": ["w"]})).all()
    np.testing.assert_array_equal(nb.predict_proba({"c": ["v"]}), [[0.0, 1.0]])
    rows = {"c": ["u", "v", "w", "u"], "d": ["p", "q", "p", "q"]}
    nb.fit({"c": ["u", "u", "v"], "d": ["p", "p", "q"]}, ["b", "b", "a"])
    explained = nb.explain(rows)
    assert [nb.classes_[row.best] for row in explained] == nb.predict(rows).tolist()
    assert "every class is impossible" in str(explained[3])


@parametrize_with_checks([NaiveBayes(weights=None)])
def test_scikit_learn_checks(estimator: NaiveBayes, check: Callable[[NaiveBayes], None]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks look for the warnings they want themselves
        check(estimator)


def test_scikit_learn_can_use_it() -> None:
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(NaiveBayes(weights=None), X, y, cv=3).mean() > 0.9
    nb = NaiveBayes(class_prior="uniform", weights=None)
    assert clone(nb).get_params() == nb.get_params()
    with pytest.raises(NotFittedError):
        nb.predict(X)


# Bad input, one by one.


NEGATIVE = [[1, -2], [1, 1]]
TWO, AB = [[1.0], [2.0]], ["a", "b"]


@pytest.mark.parametrize(
    ("event", "X", "y", "error", "said"),
    [
        ("auto", np.empty((0, 3)), [], ValueError, "no rows to learn from"),
        ("auto", pd.DataFrame({"x": []}), [], ValueError, "no rows to learn from"),
        ("auto", np.array([1.0, 2.0]), AB, ValueError, r"got 1D array .* write \{\"x\": X\}"),
        ("auto", "text", ["a"], TypeError, "got one string; wrap a text in a list"),
        ("auto", TWO, ["a"], ValueError, "inconsistent numbers of samples"),
        ("auto", 3, ["a"], TypeError, "Cannot read a int as a table"),
        ("auto", ["one", 2], AB, ValueError, "Text 1 is a int; each must be a string"),
        ("auto", {"x": [{"a": 1}, {"a": 2}]}, AB, ValueError, "'x' holds a dict in row 0"),
        ("auto", TWO, ["a", 1], TypeError, "Labels must be of one type"),
        ("gaussian", {"age": [1.0, 2.0], "size": [1.0, np.inf]}, AB, ValueError,
         "Column 'size' holds infinite values"),
        ("gaussian", [[1.0, -np.inf], [2.0, 1.0]], AB, ValueError,
         "Column 'x1' holds infinite values"),
        ("gaussian", [[1e200], [2.0]], AB, ValueError, "squares overflow"),
        ("multinomial", NEGATIVE, AB, ValueError,
         "Negative values in data passed to Multinomial, in column 'x1'"),
        ("multinomial", sparse.csr_array(NEGATIVE), AB, ValueError,
         r"Negative values in data.*'x1'"),
        ("multinomial", sparse.csr_array([[np.nan, -2], [1, 1]]), AB, ValueError,
         "Negative values in data"),
    ],
)  # fmt: skip
def test_what_cannot_be_learned_is_said(
    event: str, X: Any, y: list[Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        NaiveBayes(event, weights=None).fit(X, y)


def test_no_rows_are_predicted_as_none() -> None:
    assert NaiveBayes(weights=None).fit(TWO, AB).predict(np.empty((0, 1))).shape == (0,)


def test_one_class_only_is_predicted() -> None:
    nb = NaiveBayes(weights=None).fit([[1.0], [2.0]], ["only", "only"])
    assert nb.predict([[99.0]]).tolist() == ["only"]
    np.testing.assert_array_equal(nb.predict_proba([[99.0]]), [[1.0]])
    assert len(nb.explain([[99.0]])[0].top(0)) == 2


@pytest.mark.parametrize(
    "y",
    [
        ["a", None, "b"],
        [0.0, np.nan, 1.0],
        np.array(["a", None, "b"], object),
        pd.Series(["a", None, "b"]),
        pl.Series(["a", None, "b"]),
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        ["a", pd.NA, "b"],
        pa.array(["a", None, "b"]),
    ],
)
def test_a_missing_label_names_the_row(y: object) -> None:
    with pytest.raises(ValueError, match="Row 1 has no label"):
        NaiveBayes(weights=None).fit([[1.0], [2.0], [3.0]], y)


@pytest.mark.parametrize("weight", [[1.0, -1.0], [1.0, np.inf], [1.0, np.nan], [0.0, 0.0]])
def test_weights_must_be_finite_and_not_negative(weight: list[float]) -> None:
    said = "finite and at least 0, but row 1 has" if weight[0] else "all sample weights are zero"
    with pytest.raises(ValueError, match=said):
        NaiveBayes(weights=None).fit(TWO, AB, sample_weight=weight)


def test_a_histogram_counts_infinities_as_extreme_cells() -> None:
    X = [[-np.inf], [1.0], [2.0], [1e200], [np.inf], [np.inf]]
    nb = NaiveBayes(weights=None).fit(X, ["a", "a", "a", "b", "b", "b"])
    assert nb.predict([[-np.inf], [np.inf]]).tolist() == ["a", "b"]


def test_a_changed_type_names_the_column() -> None:
    nb = NaiveBayes(weights=None).fit({"age": [1.0, 2.0], "colour": ["red", "blue"]}, ["a", "b"])
    with pytest.raises(ValueError, match="Column 'age' held numbers in training and holds strings"):
        nb.predict({"age": ["old"], "colour": ["red"]})
    with pytest.raises(ValueError, match="Column 'colour' held strings in training and holds numb"):
        nb.predict({"age": [1.0], "colour": [3.0]})


def test_lacking_and_extra_columns_are_said() -> None:
    nb = NaiveBayes(weights=None).fit({"age": [1.0, 2.0], "colour": ["red", "blue"]}, ["a", "b"])
    with pytest.warns(UserWarning, match="No column 'colour': counted as missing"):
        p = nb.predict_proba({"age": [1.0]})
    np.testing.assert_array_equal(p, nb.predict_proba({"age": [1.0], "colour": [None]}))
    with pytest.warns(UserWarning, match="Column 'size' was not learned: ignored"):
        nb.predict({"age": [1.0], "colour": ["red"], "size": [3.0]})
    with pytest.raises(ValueError, match="The table has none of the learned columns"):
        nb.predict({"height": [1.0]})
    with pytest.raises(ValueError, match="X has 3 features, but NaiveBayes is expecting 2"):
        NaiveBayes(weights=None).fit([[1.0, 2.0], [3.0, 4.0]], ["a", "b"]).predict(
            [[1.0, 2.0, 3.0]]
        )


def test_a_mixed_column_names_column_and_row() -> None:
    with pytest.warns(UserWarning, match=r"'x' mixes numbers and strings \(first in row 1\)"):
        NaiveBayes(weights=None).fit({"x": [1.5, "two"]}, AB)


def test_an_empty_document_is_the_class_prior() -> None:
    nb = NaiveBayes(weights=None).fit([*TEXTS, ""], [*Y, "good"])
    np.testing.assert_allclose(
        np.log(nb.predict_proba(["", None, "!?"])), np.tile(nb.class_log_prior_, (3, 1))
    )


@pytest.mark.parametrize("series", [list, tuple, pd.Series, pl.Series])
def test_numbers_in_a_row_are_one_column(series: Any) -> None:
    x, new, y = [1.0, 2.0, 8.0, 9.0], [1.5, 8.5, 3.0], ["a", "a", "b", "b"]
    nb = NaiveBayes.textbook("gaussian").fit(series(x), y)
    table = NaiveBayes.textbook("gaussian").fit(np.array(x)[:, None], y)
    np.testing.assert_array_equal(
        nb.predict_joint_log_proba(series(new)), table.predict_joint_log_proba(np.c_[new])
    )
    two = NaiveBayes.textbook("gaussian").fit(np.c_[x, x], y)
    with pytest.raises(ValueError, match="X has 1 features"):
        two.predict(series(new))
    assert NaiveBayes().fit([True, False, None, True], y).schema_.kinds == {0: "boolean"}


def test_labels_of_different_types() -> None:
    nb = NaiveBayes(weights=None).fit(TWO, AB)
    with pytest.raises(TypeError, match="class labels must be of one type"):
        nb.partial_fit([[1.0]], [3])


@pytest.mark.parametrize("how", ["mean", "map", "mle", "predictive"])
def test_how_to_estimate_reaches_every_event_model(how: str, table: pd.DataFrame) -> None:
    nb = NaiveBayes(estimate=how, weights=None).fit(table, Y)
    assert {group.event.estimate for group in nb.schema_.groups} == {how}
    assert np.isfinite(nb.predict_proba(table)).all()
    nb.partial_fit(table.assign(new=1.0), Y)
    assert nb.schema_.columns["new"].event == Histogram(estimate=how)
    with pytest.raises(ValueError, match="estimate must be"):
        NaiveBayes(estimate="guess", weights=None).fit(table, Y)


def test_one_row_cannot_be_assessed() -> None:
    with pytest.raises(ValueError, match="fewer than two rows"):
        NaiveBayes().fit([[1.0]], ["a"]).assess()


def test_the_name_of_what_is_predicted_is_kept(tmp_path) -> None:
    table = pd.DataFrame({"size": [1.0, 2.0, 7.0, 8.0] * 5, "kind": [0, 0, 1, 1] * 5})
    nb = NaiveBayes().fit(table, "kind")
    assert nb.target_ == "kind"
    nb.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.target_ == "kind"
    assert "kind = 1" in again.export.report(table, "kind").html
    assert again.partial_fit(table, "kind").target_ == "kind"
    assert nb.fit(table[["size"]], table["kind"].to_numpy()).target_ == ""
