"""Missing cells as evidence: what is counted of them follows from what is counted of the columns.

The oracle of a count is ``pandas.isna`` by class.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from naively import (
    Bernoulli,
    Binomial,
    Categorical,
    Exponential,
    Gaussian,
    Geometric,
    JointTable,
    KernelDensity,
    LogNormal,
    Model,
    Multinomial,
    NaiveBayes,
    NegativeBinomial,
    Patterns,
    Poisson,
    Text,
)
from naively.counting.axis import LEVEL
from naively.counting.labels import encode_labels
from naively.data.frames import as_rows
from naively.fitting import weights as calibrate
from naively.fitting.leave_one_out import left_out
from naively.model.counted import Counted
from naively.schema import settle as missing_module
from naively.schema.choose import infer
from naively.schema.schema import Group
from naively.schema.settings import Settings
from tests.learning import encoded
from tests.products import assert_same_tally

rng = np.random.default_rng(7)
N = 120
Y = rng.choice(["a", "b", "c"], N, p=[0.5, 0.3, 0.2])
RATE = {"a": 0.1, "b": 0.4, "c": 0.25}


def some(cells: Any, nothing: Any = None) -> np.ndarray:
    """Take cells away, of each class another share."""
    column = np.array(cells, object if nothing is None else None)
    column[rng.random(N) < np.array([RATE[label] for label in Y])] = nothing
    return column


WORDS = ["buy", "now", "lunch", "claim", "pills"]
X: dict[str, np.ndarray] = {
    "number": some(rng.normal(size=N), np.nan),
    "narrow": some(rng.normal(size=N).astype(np.float32), np.float32(np.nan)),
    "truth": some(rng.integers(0, 2, N).astype(float), np.nan),
    "string": some(rng.choice(["red", "green", ""], N)),
    "boolean": some((rng.random(N) < 0.4).tolist()),
    "text": some([" ".join(rng.choice(WORDS, 6)) for _ in range(N)]),
    "time": some(
        np.datetime64("2021-01-01", "us") + rng.integers(0, 10**6, N).astype("timedelta64[m]"),
        np.datetime64("NaT", "us"),
    ),
    "iso": some([f"2021-0{rng.integers(1, 10)}-03T08:00:00" for _ in range(N)]),
    "whole": rng.integers(0, 5, N),
}
ISNA = pd.DataFrame(X).isna()


def objects(table: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return columns of objects as lists, which frames read as what they hold."""
    return {k: of.tolist() if of.dtype == object else of for k, of in table.items()}


def records(table: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    rows = zip(*(of.tolist() for of in table.values()), strict=True)
    return [dict(zip(table, row, strict=True)) for row in rows]


FRAMES: dict[str, Any] = {
    "columns": dict,
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda table: pd.DataFrame(objects(table)).convert_dtypes(),
    "pandas, categorical": lambda t: pd.DataFrame(t).astype(
        {name: "category" for name in ("string", "text") if name in t}
    ),
    "Polars": lambda t: pl.DataFrame(
        {name: pl.Series(of, nan_to_null=False) for name, of in objects(t).items()}
    ),
    "PyArrow": lambda t: pa.table({name: pa.array(of) for name, of in t.items()}),
    "PyArrow, in chunks": lambda t: pa.concat_tables(
        [pa.table({k: pa.array(of[at]) for k, of in t.items()}) for at in (np.s_[:31], np.s_[31:])]
    ),
    "records": records,
}


def group_of(nb: NaiveBayes) -> Group | None:
    """The group of missing cells, if there is one."""
    found = [group for group in nb.model_.view.schema.groups if group.kind == "missing"]
    assert len(found) <= 1
    return found[0] if found else None


def counted(nb: NaiveBayes) -> dict[Any, np.ndarray]:
    """How many cells of each column are there, and missing, by class: (2, classes)."""
    group = group_of(nb)
    if group is None:
        return {}
    table = nb.model_.view.tally.blocks[group.key][LEVEL].high.reshape(len(group.columns), 2, -1)
    per = nb.model_.view.rows_per_weight
    table = table if per is None else table / per  # from rows to what they weigh
    return {name.of: of for name, of in zip(group.derived, table, strict=True)}


def by_hand(isna: pd.DataFrame, y: np.ndarray, weight: np.ndarray | None = None) -> dict[Any, Any]:
    """The same by pandas; of columns with a missing cell and another."""
    weight = np.ones(len(y)) if weight is None else weight
    classes = np.unique(y[weight > 0])
    return {
        name: np.array(
            [[weight[(of == gone) & (y == c)].sum() for c in classes] for gone in (False, True)]
        )
        for name, of in isna.items()
        if (of & (weight > 0)).any() and (~of & (weight > 0)).any()
    }


def assert_counted(nb: NaiveBayes, expected: dict[Any, Any], atol: float = 1e-9) -> None:
    found = counted(nb)
    assert set(found) == set(expected)
    for name, table in expected.items():
        np.testing.assert_allclose(found[name], table, rtol=0, atol=atol, err_msg=str(name))


def fit(table: Any = None, y: Any = None, weight: Any = None, **settings: Any) -> NaiveBayes:
    return NaiveBayes(**settings).fit(X if table is None else table, Y if y is None else y, weight)


def take(at: Any, names: Any = None) -> dict[str, np.ndarray]:
    return {name: X[name][at] for name in (X if names is None else names)}


# What is counted


@pytest.mark.parametrize("frame", FRAMES)
def test_missing_cells_are_counted_by_class(frame: str) -> None:
    make = FRAMES[frame]
    nb = fit(make(X))
    assert_counted(nb, by_hand(ISNA, Y))
    assert "whole" not in counted(nb)
    group = group_of(nb)
    assert group is not None
    names = [name.of for name in group.derived]
    rows = encoded(nb.model_, make(X))
    np.testing.assert_array_equal(rows.blocks[group.key].codes, ISNA[names].to_numpy())
    for i in range(0, N, 17):  # a row alone may have columns without any cell
        one = encoded(nb.model_, FRAMES[frame.split(",", maxsplit=1)[0]](take(slice(i, i + 1))))
        np.testing.assert_array_equal(one.blocks[group.key].codes[0], ISNA[names].to_numpy()[i])


@pytest.mark.parametrize(
    "event",
    [
        *(LogNormal(), Bernoulli(threshold=1.5), Bernoulli(threshold=0.5), Poisson(), Gaussian()),
        *(Binomial(trials=9), Categorical(), Categorical(codes=9), Exponential(), Geometric()),
        *(NegativeBinomial(r=2), KernelDensity()),
    ],
    ids=str,
)
def test_training_and_prediction_mean_the_same_cells(event: Any) -> None:
    """An event model may change cells before it counts them, but none is lost."""
    x = rng.integers(1, 8, (N, 2)).astype(float)
    x[rng.random((N, 2)) < 0.3] = np.nan
    nb = fit(x, event_models=event)
    assert_counted(nb, by_hand(pd.DataFrame(x).isna(), Y))
    group = group_of(nb)
    assert group is not None
    labels = encode_labels(Y)
    model, rows = nb.model_, as_rows(x)
    at_prediction = model.encode(rows).blocks[group.key]
    of_sample = model.recode(model.counted.schema.encode(rows, labels)).blocks[group.key]
    np.testing.assert_array_equal(at_prediction.codes, np.isnan(x))
    np.testing.assert_array_equal(of_sample.codes, np.isnan(x))


@pytest.mark.parametrize("kind", list(ISNA.columns[:-1]))
def test_the_sample_means_the_cells_that_the_table_means(kind: str) -> None:
    nb = fit(take(slice(None), [kind]))
    group, labels = group_of(nb), encode_labels(Y)
    assert group is not None
    rows = as_rows(take(slice(None), [kind]))
    for batch in (nb.model_.counted.schema.encode(rows, labels), nb.model_.encode(rows, labels)):
        codes = nb.model_.recode(batch).blocks[group.key].codes[:, 0]
        np.testing.assert_array_equal(codes, ISNA[kind])
        split = nb.model_.recode(batch.split()).blocks[group.key].codes[:, 0]
        np.testing.assert_array_equal(split, ISNA[kind])


@pytest.mark.parametrize(
    ("table", "event"),
    [
        (rng.poisson(2.0, (N, 3)), "multinomial"),
        (np.where(rng.random((N, 3)) < 0.2, np.nan, 1.0), Multinomial()),
        (np.where(rng.random((N, 3)) < 0.2, np.nan, 1.0), JointTable()),
        (sparse.csr_array(rng.poisson(0.3, (N, 3))), "auto"),
        (sparse.csr_array(rng.poisson(0.3, (N, 3))), Poisson()),
        ({"a": rng.normal(size=N), "b": rng.choice(["x", "y"], N)}, "auto"),
    ],
    ids=["counts", "bag with NaN", "whole rows", "sparse", "sparse rates", "complete"],
)
def test_one_event_and_complete_columns_have_none(table: Any, event: Any) -> None:
    assert group_of(fit(table, event_models=event)) is None


def test_parts_of_a_time_have_none_beside_that_of_the_time() -> None:
    nb = fit({"time": X["time"]})
    assert any(group.kind == "part" for group in nb.schema_.groups)
    assert list(counted(nb)) == ["time"]


@pytest.mark.parametrize(
    "texts", [Text(), [Text(), Text(ngram_range=(2, 2))], Patterns(), "auto"], ids=str
)
def test_a_text_in_several_blocks_is_missing_once(texts: Any) -> None:
    nb = fit({"text": X["text"]}, event_models=texts)
    assert_counted(nb, by_hand(ISNA[["text"]], Y))


def test_a_long_text_is_not_missing() -> None:
    """Though only its first characters are read."""
    texts = [f"word {i} of a text of some words" for i in range(N)]
    texts[3], texts[5] = "word " * 400, None
    nb = fit({"text": texts})
    gone = pd.DataFrame({"text": texts}).isna()
    assert_counted(nb, by_hand(gone, Y))
    group, labels = group_of(nb), encode_labels(Y)
    assert group is not None
    for batch in (nb.model_.counted.schema, nb.model_.view.schema):
        codes = nb.model_.recode(batch.encode(as_rows({"text": texts}), labels)).blocks[group.key]
        np.testing.assert_array_equal(codes.codes[:, 0], gone["text"])
    runs, words = Text("char_wb", ngram_range=(2, 3), max_characters=100), Text(binary=True)
    for given in ([words, runs], [runs, words]):
        nb = fit({"text": texts}, event_models=given)
        assert_counted(nb, by_hand(gone, Y))
        group = group_of(nb)
        assert group is not None
        held = nb.model_.recode(nb.model_.counted.schema.encode(as_rows({"text": texts}), labels))
        np.testing.assert_array_equal(held.blocks[group.key].codes[:, 0], gone["text"])
    assert group_of(fit({"text": texts[:5] + texts[6:] + texts[:1]})) is None
    assert_counted(fit({"text": texts}, event_models=Text(max_characters=100)), by_hand(gone, Y))


def test_of_many_columns_those_with_most_missing_cells_have_evidence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(missing_module, "MOST", 2)
    x = rng.normal(size=(N, 4))
    for j, gone in enumerate((3, 9, 1, 7)):
        x[:gone, j] = np.nan
    assert set(counted(fit(x))) == {1, 3}


# The laws of counting


def test_a_column_whose_missing_cells_are_forgotten_has_none() -> None:
    gone = np.isnan(X["number"])
    table = {"number": X["number"], "whole": X["whole"]}
    nb = fit(table)
    nb.forget({name: of[gone] for name, of in table.items()}, Y[gone])
    assert group_of(nb) is None
    never = fit({name: of[~gone] for name, of in table.items()}, Y[~gone])
    for one in (nb, never):
        one.calibrate({name: of[:40] for name, of in table.items()}, Y[:40])
    np.testing.assert_allclose(nb.predict_proba(table), never.predict_proba(table), atol=1e-5)


@pytest.mark.parametrize("weight", [0.1, 1 / 3, 1e-12, 1e12])
def test_weights_that_round_make_no_missing_cell(weight: float) -> None:
    """The rows less the cells that are there, in floats, are only about nothing."""
    complete = {"x": np.nan_to_num(X["number"]), "z": rng.choice(["r", "g"], N)}
    some_weights = weight * rng.random(N)
    assert group_of(fit(complete, weight=some_weights)) is None
    nb = fit({**complete, "gone": X["number"]}, weight=some_weights)
    expected = by_hand(ISNA[["number"]], Y, some_weights)["number"]
    assert_counted(nb, {"gone": expected}, atol=1e-9 * weight * N)


def test_a_hundred_decays_make_no_missing_cell_and_lose_none() -> None:
    nb = fit({"x": X["number"], "z": X["whole"]})
    for _ in range(100):
        nb.decay(0.9)
    expected = by_hand(ISNA[["number"]], Y)["number"] * 0.9**100
    assert_counted(nb, {"x": expected}, atol=1e-9 * 0.9**100)


# What is answered


@pytest.mark.parametrize("name", list(ISNA.columns[:-1]))
def test_an_absent_column_is_one_of_missing_cells(name: str) -> None:
    nb = fit()
    nothing = {**X, name: np.full(N, None)}
    absent = {other: of for other, of in X.items() if other != name}
    with pytest.warns(UserWarning, match="missing"):
        p = nb.predict_proba(absent)
    np.testing.assert_array_equal(p, nb.predict_proba(nothing))


def test_a_column_missing_throughout_is_no_column_in_training() -> None:
    with_it = fit({**take(slice(None)), "nothing": np.full(N, np.nan)})
    assert "nothing" not in counted(with_it)
    np.testing.assert_array_equal(
        with_it.predict_proba({**X, "nothing": np.full(N, np.nan)}), fit().predict_proba(X)
    )


@pytest.mark.slow
def test_leave_one_out_is_the_model_without_the_row() -> None:
    """There or missing, with two pretend rows by the share of all classes, computed by hand."""
    nb = fit()
    group = group_of(nb)
    assert group is not None
    rows, labels = as_rows(X), encode_labels(Y)
    found = left_out(nb.model_, [nb.model_.encode(rows, labels)])
    for name in group.derived:
        (at,) = (i for i, part in enumerate(found.parts) if part.column == name)
        gone = ISNA[name.of].to_numpy()
        for i in range(N):
            left = np.arange(N) != i
            n = np.array([(left & (c == Y)).sum() for c in nb.classes_])
            like = np.array([(left & (c == Y) & (gone == gone[i])).sum() for c in nb.classes_])
            share = (like.sum() + 0.5) / (n.sum() + 1.0)  # half a row more of each
            log_p = np.log((like + 2.0 * share) / (n + 2.0))
            np.testing.assert_allclose(found.table[at, i], log_p - log_p.mean(), atol=1e-12)
            if i % 20 == 0:
                without = fit(take(left), Y[left])
                only = nb.model_.encode(rows.take(slice(i, i + 1)))
                likelihood = without.model_.view.terms[group.key]
                item = likelihood.items(only.blocks[group.key])
                column = list(without.model_.view.schema.groups[-1].columns).index(name)
                mine = item.value[item.column == column]
                np.testing.assert_allclose(found.table[at, i], (mine - mine.mean())[0], atol=1e-12)


def test_they_are_shrunk_twice_as_much_with_500_rows_as_with_very_many() -> None:
    """The ridge of a column does not depend on the rows; that of a missing cell does."""
    ridges = {}
    for rows in (500.0, 500_000.0):
        kinds, shared = np.array(["column", "missing"]), np.zeros(2, np.bool_)
        found = calibrate.penalty_of(kinds, np.ones(2), rows, shared, np.arange(2)[None], 0)
        ridges[rows] = found.alone
        assert found.centre[1] == 0
    assert ridges[500.0][0] == ridges[500_000.0][0]
    assert ridges[500.0][1] == pytest.approx(2 * ridges[500_000.0][1], rel=2e-3)


def test_its_weights_are_shrunk_towards_nothing() -> None:
    """Cells that are missing at random are given almost no weight; those that tell, one."""
    rng = np.random.default_rng(0)

    def draw(n: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
        y = rng.choice(["a", "b"], n)
        z = rng.normal(size=n) + (y == "b")
        told = np.where(rng.random(n) < np.where(y == "a", 0.1, 0.6), np.nan, rng.normal(size=n))
        random = np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n))
        return {"z": z, "told": told, "random": random}, y

    X, y = draw(2000)
    nb, less = NaiveBayes().fit(X, y), NaiveBayes(presence="ignore").fit(X, y)
    of = {name: np.mean(list(w.values())) for name, w in nb.weights_.by_name.items()}
    assert of["told is missing"] > 0.5
    assert of["random is missing"] < 0.3
    new = draw(2000)
    assert nb.evaluate(*new).log_loss < less.evaluate(*new).log_loss - 0.02


def test_the_first_missing_cells_change_nothing_until_weights_are_fitted() -> None:
    table = {"x": np.nan_to_num(X["number"]), "w": X["whole"]}
    nb = fit(table)
    more = {"x": np.array([np.nan, 1.0]), "w": np.array([1, 2])}
    nb.partial_fit(more, ["a", "b"])
    group = group_of(nb)
    assert group is not None
    assert [str(name) for name in group.columns] == ["x is missing"]
    part = nb.model_.view.parts[group.key].keys
    np.testing.assert_array_equal(nb.weights_.table(part, nb.classes_.tolist()), 0.0)
    ignoring = fit(table, presence="ignore").partial_fit(more, ["a", "b"])
    new = {"x": np.array([0.3, np.nan, -2.0]), "w": np.array([0, 1, 3])}
    np.testing.assert_allclose(
        nb.predict_proba(new), ignoring.predict_proba(new), rtol=0, atol=1e-12
    )


# Without it


PURE = [{"presence": "ignore"}, {"weights": None}, {"weights": "temperature"}]


@pytest.mark.parametrize("settings", PURE, ids=str)
def test_there_is_none_where_it_is_not_wanted(settings: dict[str, Any]) -> None:
    assert group_of(fit(**settings)) is None


@pytest.mark.parametrize("settings", PURE[1:], ids=str)
def test_without_weights_for_each_part_the_option_says_nothing(settings: dict[str, Any]) -> None:
    auto, ignore = fit(**settings), fit(**settings, presence="ignore")
    np.testing.assert_array_equal(auto.predict_proba(X), ignore.predict_proba(X))
    assert str(auto.model_) == str(ignore.model_)


def test_what_follows_from_missing_cells_is_not_counted() -> None:
    """Rows are counted by what a model counts: its schema holds what follows from that, too."""
    rows, labels = as_rows({"l": ["u", None, "v", "u"]}), encode_labels(["a", "a", "b", "b"])
    settings = Settings(presence="auto")
    model = Model.learn(rows, labels, infer(rows), settings)
    again = Model.learn(rows, labels, model.counted.schema, settings)
    np.testing.assert_array_equal(again.posterior(rows), model.posterior(rows))
    with pytest.raises(ValueError, match="count by the attribute counted of a model"):
        Model.learn(rows, labels, model.view.schema, settings)
    with pytest.raises(ValueError, match="count by the attribute counted of a model"):
        Counted.of(model.encode(rows, labels), model.view.schema, settings)


def test_the_model_of_how_rows_are_generated_has_none() -> None:
    """The probability of a row would not sum to 1 with it."""
    table = {name: of for name, of in X.items() if name != "text"}
    given = {
        "number": Gaussian(),
        "narrow": Exponential(),
        "truth": Bernoulli(),
        "whole": Poisson(),
    }
    table["narrow"] = np.abs(table["narrow"])
    numbers = {name: table[name] for name in given}
    auto, ignore = fit(table), fit(table, presence="ignore")
    np.testing.assert_array_equal(auto.score_samples(table), ignore.score_samples(table))
    a, b = fit(numbers, event_models=given), fit(numbers, event_models=given, presence="ignore")
    assert group_of(a) is not None
    assert a.inspect.log_likelihood(numbers, Y) == b.inspect.log_likelihood(numbers, Y)
    drawn, labels = auto.inspect.sample(50, random_state=3)
    other, others = ignore.inspect.sample(50, random_state=3)
    np.testing.assert_array_equal(labels, others)
    for name in table:
        np.testing.assert_array_equal(
            pd.Series(drawn[name]).astype(str), pd.Series(other[name]).astype(str)
        )
    conjugate = {"truth": "bernoulli", "string": "categorical"}
    few = {name: table[name] for name in conjugate}
    a = fit(few, event_models=conjugate, estimate="mean")
    b = fit(few, event_models=conjugate, estimate="mean", presence="ignore")
    assert a.inspect.log_marginal_likelihood(few, Y) == b.inspect.log_marginal_likelihood(few, Y)


def test_another_word_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"presence.*auto.*ignore"):
        fit(presence="never")


# Odd tables


@pytest.mark.slow
def test_rows_without_a_label_are_learned_from_too() -> None:
    y = np.where(rng.random(N) < 0.5, None, Y)
    nb = fit(y=y, semi_supervised=True)
    labelled = np.array([label is not None for label in y])
    if nb.unlabelled_weight_ == 0:
        assert_counted(nb, by_hand(ISNA[labelled], Y[labelled]))
    p = nb.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    if (group := group_of(nb)) is not None:
        block = nb.model_.view.tally.blocks[group.key][LEVEL].high.reshape(
            len(group.columns), 2, -1
        )
        np.testing.assert_allclose(
            block.sum(axis=1), np.tile(nb.class_count_, (len(block), 1)), rtol=1e-9
        )


def test_one_class() -> None:
    nb = fit({"x": X["number"]}, np.full(N, "only"))
    np.testing.assert_array_equal(nb.predict_proba({"x": [np.nan, 1.0]}), 1.0)


def test_a_class_that_comes_later_has_missing_cells_of_its_own() -> None:
    table = take(slice(None), ["number", "string"])
    old = np.flatnonzero(Y != "c")
    new = np.flatnonzero(Y == "c")
    nb = fit({k: of[old] for k, of in table.items()}, Y[old])
    nb.partial_fit({k: of[new] for k, of in table.items()}, Y[new])
    assert_counted(nb, by_hand(ISNA[["number", "string"]], Y))


def test_a_column_that_only_one_class_has_is_answered() -> None:
    x = np.where(Y == "a", rng.normal(size=N), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nb = fit({"x": x, "z": rng.normal(size=N)})
    p = nb.predict_proba({"x": [0.0, np.nan], "z": [0.0, 0.0]})
    assert np.isfinite(p).all()
    assert p[0, 0] > p[1, 0]


@pytest.mark.parametrize("n", [2, 3])
def test_a_row_a_class(n: int) -> None:
    x = np.array([1.0, np.nan, 2.0])[:n]
    nb = NaiveBayes().fit({"x": x}, ["a", "b", "c"][:n])
    assert np.isfinite(nb.predict_proba({"x": [np.nan, 1.0]})).all()


def test_explanations_sum_and_name_the_column() -> None:
    nb = fit()
    nothing = {name: np.full(1, None) for name in X}
    joint = nb.predict_joint_log_proba(nothing)
    terms = nb.model_.terms
    total = terms.start.copy()
    for _, found in terms.items(terms.read(encoded(nb.model_, nothing))):
        np.add.at(total[None], found.row, found.value)
    np.testing.assert_allclose(total, joint[0], atol=1e-12)


def test_fractional_weights_that_were_forgotten_leave_nothing() -> None:
    """The counts are differences, which do not show how the sums were made."""
    weight = rng.choice([0.3, 7.25, 1.0, 1e-7], N)
    nb, never = fit(weight=weight), fit(take(np.s_[:80]), Y[:80], weight[:80])
    assert_same_tally(nb.forget(take(np.s_[80:]), Y[80:], weight[80:]).tally_, never.tally_)
    light = take(slice(None), ["whole", "number"])
    light["number"] = np.append(np.nan_to_num(X["number"])[:-1], np.nan)
    nb = fit(light, weight=np.append(np.full(N - 1, 1e8), 1e-3))
    assert counted(nb)["number"][1].sum() == pytest.approx(1e-3)
