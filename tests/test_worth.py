"""What a column is worth is how much worse the model is without it, when it is learned anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from naively import NaiveBayes
from naively.fitting.leave_one_out import left_out, linear_evidence


def _table(rows: int = 2_000) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, rows)
    a, b = (y == 1) + rng.normal(size=rows), (y == 2) + 0.7 * rng.normal(size=rows)
    return pd.DataFrame({"a": a, "b": b, "noise": rng.normal(size=rows)}), y


def test_of_two_copies_each_is_worth_nothing_and_both_what_one_was() -> None:
    X, y = _table()
    alone = NaiveBayes().fit(X, y).assess().cost
    found = NaiveBayes().fit(X.assign(copy=X["a"]), y).assess()
    assert alone["a"] > 0.1
    assert abs(found.cost["a"]) < 1e-3
    assert abs(found.cost["copy"]) < 1e-3
    assert found.together == {("a", "copy"): pytest.approx(alone["a"], rel=0.05)}
    assert found.cost["b"] == pytest.approx(alone["b"], rel=0.05)
    assert "a and copy together, which repeat each other" in str(found)


def test_three_copies_and_levels_are_found() -> None:
    X, y = _table()
    level = pd.cut(X["a"], 6).astype(str)
    found = NaiveBayes().fit(X.assign(u=level, v=level, w=level)[["b", "u", "v", "w"]], y).assess()
    assert list(found.together) == [("u", "v", "w")]
    assert max(abs(found.cost[name]) for name in "uvw") < 2e-3
    alone = NaiveBayes().fit(X.assign(u=level)[["b", "u"]], y).assess().cost["u"]
    assert found.together["u", "v", "w"] == pytest.approx(alone, rel=0.1)


def test_the_importances_of_copies_are_shares_of_what_one_has() -> None:
    X, y = _table()
    one = NaiveBayes().fit(X, y).feature_importances_
    two = NaiveBayes().fit(X.assign(copy=X["a"]), y).feature_importances_
    assert two[0] + two[3] == pytest.approx(one[0], rel=0.1)
    assert two[0] == pytest.approx(two[3], rel=0.1)


def _best(base: np.ndarray, terms: np.ndarray, codes: np.ndarray) -> float:
    """Return the mean log loss with each term weighed anew, by another search (SciPy's BFGS)."""

    def losses(x: np.ndarray) -> np.ndarray:
        joint = base + np.tensordot(x[: len(terms)], terms, 1) + x[len(terms) :]
        return np.logaddexp.reduce(joint, axis=1) - joint[np.arange(len(joint)), codes]

    def penalised(x: np.ndarray) -> float:
        weight, bias = x[: len(terms)] - 1, x[len(terms) :]
        return float(losses(x).sum() + 0.5 * weight @ weight + 2.5 * bias @ bias)

    start = np.repeat([1.0, 0.0], [len(terms), base.shape[1]])
    return float(losses(minimize(penalised, start, method="BFGS").x).mean())


@pytest.mark.parametrize("class_prior", ["data", [0.05, 0.05, 0.9]])
def test_the_others_are_weighed_anew_on_the_table_with_each_row_left_out(class_prior: Any) -> None:
    """The evidence of a column is that of its cells, of their being missing, and of its terms."""
    X, y = _table(400)
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    nb = NaiveBayes(class_prior=class_prior).fit(X, y)
    batches = nb._learned.sample.of(nb.model_).encoded(nb.model_)
    found, weights = left_out(nb.model_, batches), nb.weights_
    own = {name: np.zeros_like(found.prior) for name in X}
    for part, table in zip(found.parts, found.table, strict=True):
        own[str(part).split(" ")[0]] += weights.table([part], [0, 1, 2])[0] * table
    for name, added in linear_evidence(nb.model_, batches).items():
        own[name] += added
    base, codes = found.prior + weights.bias_of([0, 1, 2]), found.labels.codes
    whole, cost = _best(base, np.stack([*own.values()]), codes), nb.assess().cost
    for name in X:
        rest = np.stack([of for other, of in own.items() if other != name])
        assert cost[name] == pytest.approx(_best(base, rest, codes) - whole, rel=0.01, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"), [("penguins", "species"), ("adult", "income"), ("taxis", "payment")]
)
def test_it_is_what_learning_without_the_column_loses(
    data_folder: Path, name: str, target: str
) -> None:
    """Within a factor of two or three, and what chance adds; a term of the sum is off by up to 80.

    The others are weighed anew, and not given other steps, by which they would say more.
    """
    X = pd.read_csv(data_folder / "tables" / f"{name}.csv")
    X = X[X[target].notna()].head(4_000)
    y = X.pop(target).astype(str)

    def loss(table: pd.DataFrame) -> float:
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        how: dict[str, Any] = {"cv": folds, "method": "predict_proba"}
        return float(log_loss(y, cross_val_predict(NaiveBayes(derived=None), table, y, **how)))

    said, whole = NaiveBayes(derived=None).fit(X, y).assess().cost, loss(X)
    columns = [column for column in X if column in said]
    lost = {column: loss(X.drop(columns=column)) - whole for column in columns}
    assert columns
    for column in columns:
        assert lost[column] / 2 - 0.02 < said[column] < 3 * lost[column] + 0.02, column


def test_of_a_plain_sum_it_is_the_sum_without_the_term() -> None:
    X, y = _table(120)

    def left_out(table: pd.DataFrame) -> float:
        p = np.empty((len(y), 3))
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            model = NaiveBayes("gaussian", weights=None).fit(table[rest], y[rest])
            p[i] = model.predict_proba(table.iloc[[i]])[0]
        return float(log_loss(y, p))

    found = NaiveBayes("gaussian", weights=None).fit(X, y).assess().cost
    assert found["a"] == pytest.approx(left_out(X.drop(columns="a")) - left_out(X), rel=1e-2)


def test_with_a_temperature_the_others_have_another_one() -> None:
    X, y = _table()
    nb = NaiveBayes("gaussian", weights="temperature").fit(X.assign(copy=X["b"]), y)
    found = nb.assess()
    # Without one of the two copies the others are less sure of themselves.
    assert found.cost["b"] == pytest.approx(found.cost["copy"], abs=1e-9)
    assert found.cost["b"] < 0.02
    assert found.cost["a"] > 0.1
