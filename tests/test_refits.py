"""Cross-validation of given rows is what learning again without each fold shows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.naive_bayes import MultinomialNB as TheirMultinomialNB

from naively import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from naively.assess.refits import Named, Splits, deal, fill, in_blocks, splits_of
from naively.counting.labels import encode_labels
from tests.learning import coded

N = 240


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Rows of 40 customers, each with a lean of its own, in an order of days."""
    rng = np.random.default_rng(0)
    customer = rng.integers(0, 40, N)
    lean = rng.normal(size=40)[customer]
    y = np.where(rng.random(N) < 1 / (1 + np.exp(-2 * lean)), "stays", "goes")
    return pd.DataFrame(
        {
            "customer": [f"c{c:02}" for c in customer],
            "day": [
                str(dt.date(2024, 1, 1) + dt.timedelta(int(d))) for d in rng.integers(0, 90, N)
            ],
            "x": lean + rng.normal(size=N),
            "colour": rng.choice(["red", "green", "blue"], N),
            "y": y,
        }
    )


def by_hand(
    make: Callable[[], Any], X: pd.DataFrame, y: np.ndarray, fold: Sequence[int], splits: Splits
) -> float:
    """The log loss of models that are learned one by one."""
    loss, rows = 0.0, 0
    assert list(splits.fold) == list(fold)
    for split in splits:
        groups = {} if splits.groups is None else {"groups": splits.groups[split.learned]}
        model = make().fit(X.iloc[split.learned], y[split.learned], **groups)
        p = model.predict_proba(X.iloc[split.judged])
        loss += log_loss(y[split.judged], p, labels=model.classes_, normalize=False)
        rows += len(split.judged)
    return loss / rows


def plan_of(nb: Any, X: Any, y: Any, folds: int, **beside: Any) -> Splits:
    fresh = nb._unfitted()
    _, labels = fresh._read_whole(X, y, None)
    return splits_of(labels, folds, **beside)


# --- What is scored ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": None, "event_models": "gaussian"},
        {"weights": "temperature", "class_prior": "uniform"},
        {"interactions": "auto", "presence": "ignore"},
    ],
    ids=lambda options: ",".join(options) or "default",
)
def test_scores_are_those_of_models_learned_one_by_one(table, options: dict[str, Any]) -> None:
    nb = NaiveBayes(**options)
    columns = ["x"] if options.get("event_models") else ["x", "colour"]
    X, y = table[columns], table["y"].to_numpy()
    for beside in ({}, {"groups": "customer"}, {"time": "day"}):
        named = {what: Named(name, table[name]) for what, name in beside.items()}
        found = nb.assess(table[[*columns, *beside.values()]], y, folds=4, **beside)
        done = plan_of(nb, X, y, 4, **named)
        expected = by_hand(lambda: NaiveBayes(**options), X, y, done.fold, done)
        assert found.log_loss == pytest.approx(expected, rel=1e-9)
        assert found.rows == ((done.fold > 0).sum() if done.in_order else N)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    ("ours", "theirs"), [(GaussianNB, TheirGaussianNB), (MultinomialNB, TheirMultinomialNB)]
)
def test_drop_ins_are_judged_as_scikit_learn_judges_its_own(ours, theirs, grouped: bool) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150)
    X = rng.poisson(2 + y[:, None], (150, 4)).astype(float)
    groups = rng.integers(0, 20, 150) if grouped else None
    named = {"groups": Named("", groups)} if grouped else {}
    fold = plan_of(ours(), X, y, 5, **named).fold
    p = cross_val_predict(theirs(), X, y, cv=PredefinedSplit(fold), method="predict_proba")
    found = ours().assess(X, y, folds=5, groups=groups)
    assert found.log_loss == pytest.approx(log_loss(y, p), rel=1e-8)
    assert found.accuracy == pytest.approx((p.argmax(axis=1) == y).mean())


def test_every_drop_in_is_assessed_from_rows() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = rng.poisson(1.0 + y[:, None], (80, 3))
    for kind in (GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB):
        nb = kind().fit(X, y)
        found = nb.assess(X, y, folds=4)
        assert (found.rows, found.how) == (80, "4 folds, refitted")
        assert found.log_loss == kind().assess(X, y, folds=4).log_loss


@pytest.mark.parametrize("kind", ["array", "sparse", "texts", "polars", "records"])
def test_rows_come_in_any_form_that_is_learned(kind: str) -> None:
    import scipy.sparse

    X, y = load_iris(return_X_y=True)
    words = np.array(["rose", "lily", "tulip"])
    rng = np.random.default_rng(0)
    rows: Any = {
        "array": lambda: X,
        "sparse": lambda: scipy.sparse.csr_matrix(X.round()),
        "texts": lambda: [f"{words[c if rng.random() < 0.8 else 0]} number {i}" for i, c in
                          enumerate(y)],
        "polars": lambda: pl.DataFrame({f"x{j}": X[:, j] for j in range(4)}),
        "records": lambda: [dict(zip("abcd", row, strict=True)) for row in X.tolist()],
    }[kind]()  # fmt: skip
    nb = NaiveBayes().fit(rows, y)
    found = nb.assess(rows, y, folds=3)
    assert found.rows == 150
    assert found.accuracy > 0.6
    assert found.log_loss == pytest.approx(NaiveBayes().assess(rows, y, folds=3).log_loss)


def test_weights_are_learned_and_scored(table) -> None:
    X, y = table[["x", "colour"]], table["y"].to_numpy()
    weight = np.random.default_rng(1).integers(0, 3, N).astype(float)
    found = NaiveBayes().assess(X, y, folds=3, sample_weight=weight)
    fresh, loss = plan_of(NaiveBayes(), X, y, 3), 0.0
    for judged, learned in fresh:
        nb = NaiveBayes().fit(X.iloc[learned], y[learned], weight[learned])
        p = nb.predict_proba(X.iloc[judged])
        right = nb.classes_.searchsorted(y[judged])
        loss -= weight[judged] @ np.log(p[np.arange(len(judged)), right])
    assert found.log_loss == pytest.approx(loss / weight.sum())
    with pytest.raises(ValueError, match="all sample weights are zero"):
        NaiveBayes().assess(X, y, sample_weight=np.zeros(N))


def test_the_estimator_stays_as_it_is(table) -> None:
    X, y = table[["x", "colour"]], table["y"]
    nb = NaiveBayes(smoothing=2.0, random_state=np.random.default_rng(3)).fit(X, y)
    before = nb.assess().to_dict()
    model, state = nb.model_, nb.random_state.bit_generator.state
    nb.assess(X, y, folds=3)
    assert nb.model_ is model
    assert nb.assess().to_dict() == before
    assert nb.random_state.bit_generator.state == state
    unfitted = NaiveBayes()
    unfitted.assess(X, y, folds=3)
    assert "model_" not in vars(unfitted)


def test_what_groups_share_is_no_merit() -> None:
    rng = np.random.default_rng(0)
    group = np.arange(600) // 10
    y = rng.integers(0, 2, 60)[group]  # of each group one
    mark = rng.normal(size=(60, 2))[group] + rng.normal(0, 0.01, (600, 2))  # that says which group
    nb = NaiveBayes().fit(mark, y)
    assert nb.assess().accuracy > 0.75
    assert nb.assess(mark, y).accuracy > 0.75
    found = nb.assess(mark, y, groups=group)
    low, high = found.intervals["accuracy"]
    assert low < 0.5 < high
    assert high - low > 0.2  # as of 60 groups
    assert "600 rows in 60 groups" in str(found)


def test_copies_are_no_merit() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 6)).repeat(5, axis=0), rng.integers(0, 2, 120).repeat(5)
    found = NaiveBayes(weights=None).assess(X, y, groups="copies")
    assert found.log_loss > np.log(2)
    assert NaiveBayes(weights=None).assess(X, y).log_loss < found.log_loss


def test_rows_of_few_levels_are_equal_by_chance() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (2000, 3)), rng.integers(0, 2, 2000)
    y[rng.random(2000) < 0.5] = 0
    apart = NaiveBayes().assess(X, y)
    assert apart.log_loss == pytest.approx(NaiveBayes().fit(X, y).assess().log_loss, abs=0.01)


# --- Which rows judge which ----------------------------------------------------------------------


@given(
    n=st.integers(2, 80),
    k=st.integers(1, 4),
    groups=st.integers(1, 40),
    folds=st.integers(2, 12),
    seed=st.integers(0, 1000),
)
def test_no_group_is_split_and_no_fold_is_empty(n, k, groups, folds, seed) -> None:
    rng = np.random.default_rng(seed)
    labels = encode_labels(rng.integers(0, k, n))
    group = np.unique(rng.integers(0, groups, n), return_inverse=True)[1]
    fold = deal(labels, group, folds)
    assert len({(g, f) for g, f in zip(group, fold, strict=True)}) == group.max() + 1
    assert len(set(fold.tolist())) == min(folds, group.max() + 1)
    assert fold.tolist() == deal(labels, group, folds).tolist()


@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=4),
    folds=st.integers(2, 9),
    seed=st.integers(0, 99),
)
def test_single_rows_are_dealt_evenly_by_class(sizes: list[int], folds: int, seed: int) -> None:
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    labels = coded(codes, len(sizes))
    fold = deal(labels, np.arange(len(codes)), folds)
    for c in range(len(sizes)):
        of_class = np.bincount(fold[codes == c], minlength=folds)
        assert np.ptp(of_class) <= 1
    assert np.ptp(np.bincount(fold, minlength=folds)) <= 1


@given(
    loads=st.lists(st.integers(0, 20), min_size=1, max_size=8),
    n=st.integers(0, 60),
    seed=st.integers(0, 99),
)
def test_filling_levels_the_loads(loads: list[int], n: int, seed: int) -> None:
    totals = np.random.default_rng(seed).integers(0, 9, len(loads)).astype(float)
    more = fill(np.array(loads, float), totals, n)
    by_hand_ = list(loads)
    for _ in range(n):
        by_hand_[int(np.argmin(by_hand_))] += 1
    assert sorted(np.array(loads) + more) == sorted(by_hand_)
    assert (more >= 0).all()


def test_groups_have_their_share_of_each_class() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 200, 2000)
    y = (rng.random(2000) < rng.beta(0.5, 4, 200)[group]).astype(int)  # some have most of class 1
    fold = deal(encode_labels(y), np.unique(group, return_inverse=True)[1], 5)
    share = np.array([y[fold == f].mean() for f in range(5)])
    rows = np.bincount(fold)
    assert np.ptp(rows) < 20
    assert np.ptp(share) < 0.01


@given(times=st.lists(st.integers(0, 15), min_size=3, max_size=60), folds=st.integers(2, 6))
def test_blocks_are_in_order_and_split_no_time(times: list[int], folds: int) -> None:
    moments = np.array(times, float)
    if len(set(times)) <= folds:
        with pytest.raises(ValueError, match="different times, too few for folds="):
            in_blocks(moments, folds + 1)
        return
    block = in_blocks(moments, folds + 1)
    assert set(block.tolist()) == set(range(folds + 1))
    ends = [(moments[block == b].min(), moments[block == b].max()) for b in range(folds + 1)]
    for (_, last), (first, _) in pairwise(ends):
        assert last < first


def test_blocks_of_different_times_are_of_one_size() -> None:
    moments = np.random.default_rng(0).permutation(110).astype(float)
    assert np.bincount(in_blocks(moments, 11)).tolist() == [10] * 11


def test_each_block_is_judged_by_those_before_it_without_its_groups() -> None:
    rng = np.random.default_rng(0)
    labels, group = encode_labels(rng.integers(0, 2, 90)), rng.integers(0, 30, 90)
    moments = rng.integers(0, 40, 90)
    alone = splits_of(labels, 4, time=Named("", moments))
    both = splits_of(labels, 4, Named("", group), Named("", moments))
    assert len(list(alone)) == 4
    for one, two in zip(alone, both, strict=True):
        assert moments[one.learned].max() < moments[one.judged].min()
        assert one.judged.tolist() == two.judged.tolist()
        assert not set(group[two.learned]) & set(group[two.judged])
        mine = set(group[one.judged])
        assert two.learned.tolist() == [i for i in one.learned if group[i] not in mine]


def test_times_are_numbers_dates_or_strings() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(d) for d in (40, 3, 100, 3)]
    spelled: list[Any] = [
        days, [str(d) for d in days], np.array(days, "datetime64[D]"), pd.Series(days),
        pl.Series(days), [d.toordinal() for d in days], [d.toordinal() / 7 for d in days],
    ]  # fmt: skip
    for times in spelled:
        assert np.argsort(Named("", times).moments(4), kind="stable").tolist() == [1, 3, 0, 2]
    late = Named("", ["2024-01-31T10:00", "2024-01-31T09:00"]).moments(2)
    assert late[0] - late[1] == 3600


@pytest.mark.parametrize(
    "values", [["b", "a", "b"], [2, 1, 2], [2.5, 1.5, 2.5], [True, False, True]]
)
def test_groups_are_of_any_kind(values: list[Any]) -> None:
    for given_as in (values, np.array(values), np.array(values, object), pl.Series(values)):
        codes = Named("", given_as).codes(3)
        assert codes[0] == codes[2] != codes[1]


# --- Columns that are named ----------------------------------------------------------------------


def test_a_named_column_is_learned_only_if_the_model_has_learned_it(table) -> None:
    y, by = table["y"], {"groups": "customer", "folds": 3}
    with_it, without = table[["customer", "x", "colour"]], table[["x", "colour"]]
    expected = NaiveBayes().assess(without, y, groups=table["customer"], folds=3)
    assert NaiveBayes().assess(with_it, y, **by).log_loss == expected.log_loss
    fitted = NaiveBayes().fit(without, y)
    assert fitted.assess(with_it, y, **by).log_loss == expected.log_loss
    knows = NaiveBayes().fit(with_it, y)
    right = NaiveBayes().assess(with_it, y, groups=table["customer"], folds=3).log_loss
    assert knows.assess(with_it, y, **by).log_loss == right
    assert right != expected.log_loss
    more = fitted.assess(table.drop(columns="y"), y, **by)  # and no other column
    assert more.log_loss == expected.log_loss
    named = knows.assess(table[["customer", "x", "colour", "y"]], "y", **by)
    assert named.log_loss == right
    of_drop_in = GaussianNB().assess(table[["customer", "x"]], y, **by)
    alone = GaussianNB().assess(table[["x"]], y, groups=table["customer"], folds=3)
    assert of_drop_in.log_loss == alone.log_loss


def test_what_it_is_is_said(table) -> None:
    X, y = table.drop(columns="y"), table["y"]
    of = NaiveBayes().assess
    group, day = table["customer"].nunique(), table["day"]
    assert of(X, y, folds=5, groups="customer").how == (
        f"5 folds by 'customer' ({group} groups), refitted"
    )
    assert of(X[["x"]], y, folds=5, groups=X["customer"]).how == (
        f"5 folds by group ({group} groups), refitted"
    )
    found = of(X, y, folds=3, time="day")
    assert found.how == "3 blocks in order of 'day', each judged by those before it"
    assert f"judged by          {found.how}" in str(found).splitlines()
    assert of(X[["x"]], y, folds=3, time=day).how.startswith("3 blocks in order of time, ")
    assert of(X[["x"]], y).how == "10 folds, refitted"
    assert of(X[["x"]][:4], ["a", "a", "b", "b"]).how == "4 folds, refitted"


def test_a_class_that_is_not_met_is_missed_and_it_is_said(table) -> None:
    X = table[["x"]]
    y = np.where(np.arange(N) >= N - 20, "new", table["y"])
    found = NaiveBayes().assess(X, y, folds=3, time=np.arange(N))
    assert found.unmet == {"new": 20}
    assert found.by_class["new"][1] == 0
    line = "missed             20 rows of class 'new', which the model that judges them has not met"
    assert line in str(found)
    by_group = NaiveBayes().assess(X, y, folds=3, groups=np.where(y == "new", -1, np.arange(N)))
    assert by_group.unmet == {"new": 20}
    once = np.where(np.arange(N) == 7, "once", table["y"])
    found = NaiveBayes().assess(X, once)
    assert (found.too_rare, found.unmet, found.rows) == (("once",), {}, N - 1)
    assert NaiveBayes().assess([[1.0], [2.0], [3.0]], ["a", "b", "c"]).accuracy == 0


# --- What is wrong is a sentence -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"folds": 1}, "folds must be a whole number of at least 2, got 1"),
        ({"folds": 2.5}, "folds must be a whole number of at least 2, got 2.5"),
        ({"folds": True}, "folds must be a whole number"),
        ({"groups": "custom"}, "no column of groups 'custom'; the columns are 'customer'"),
        ({"time": "when"}, "no column of time 'when'"),
        ({"groups": "colour"}, "3 different groups in 'colour', fewer than folds=10; ask for at m"),
        ({"groups": np.zeros(N)}, "All rows are of one group"),
        ({"groups": [*"ab"]}, "There are 240 rows, but groups has 2 values"),
        ({"groups": [None, *range(N - 1)]}, "Row 0 has no group; fill it in"),
        ({"time": [*range(N - 2), None, None]}, r"Row 238 \(and 1 more\) has no time; fill it in"),
        ({"time": "colour"}, "time must be numbers, dates or strings .* but 'colour' holds '"),
        ({"time": np.arange(N) % 4}, "4 different times, too few for folds=10, which needs 11"),
        (
            {"time": np.arange(N), "groups": np.arange(N) % 12, "folds": 3},
            "All rows before block 1 are of groups that are in it too",
        ),
    ],
)
def test_what_cannot_be_split_is_a_sentence(table, given_: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        NaiveBayes().assess(table.drop(columns="y"), table["y"], **given_)


def test_rows_and_what_is_said_of_them_come_together(table) -> None:
    X, y = table[["x"]], table["y"]
    nb = NaiveBayes().fit(X, y)
    for name in ("y", "groups", "time", "sample_weight"):
        with pytest.raises(ValueError, match=f"{name} is of rows that are given; give X and y too"):
            nb.assess(**{name: y})
    for rows, labels, said in (
        (X, None, "needs the labels; give y"),
        (iter([X]), y, "in memory; read some of them into a frame"),
        (pl.LazyFrame({"x": [1.0, 2.0]}), [0, 1], "in memory"),
        (X, [y[0], None, *y[2:]], "Row 1 has no label"),
        (X, y[1:], "240 rows and 239 labels"),
        (X[:1], y[:1], "fewer than two rows"),
    ):
        with pytest.raises(ValueError, match=said):
            nb.assess(rows, labels)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        GaussianNB().assess([[1.0], [np.nan], [2.0]], [1, 2, 1])
