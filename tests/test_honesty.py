"""What assess() says is what fresh rows show, and of noise it says that nothing was learned."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_circles,
    make_classification,
    make_hastie_10_2,
    make_moons,
)
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from naively import NaiveBayes
from naively.assess import folds as cross_validate
from naively.assess.scores import Scores
from naively.counting.labels import Labels, encode_labels
from naively.data.frames import as_rows
from naively.fitting.sample import deal
from tests.fittings import order_in_sample

ROWS = 200  # of each half of a table, at most
SURE = np.log(1e6)  # nats that chance gives once in a million
WITHIN = 1.1


@pytest.fixture(autouse=True)
def _on_one_thread() -> Iterator[None]:
    """The tables are small, so that threads would only wait for each other."""
    with threadpool_limits(1):
        yield


@dataclass(frozen=True)
class Table:
    """Columns and labels."""

    name: str
    columns: dict[str, np.ndarray]
    y: np.ndarray

    def take(self, rows: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
        return {name: column[rows] for name, column in self.columns.items()}, self.y[rows]


def of_matrix(name: str, X: Any, y: Any) -> Table:
    return Table(name, {f"x{j}": column for j, column in enumerate(np.asarray(X).T)}, np.asarray(y))


def bundled() -> Iterator[Table]:
    """scikit-learn's tables."""
    for load in (load_iris, load_wine, load_breast_cancer, load_digits):
        X, y = load(return_X_y=True)
        yield of_matrix(load.__name__, X[:, :: 1 + X.shape[1] // 15], y)


def synthetic() -> Iterator[Table]:
    """Clouds, other shapes; levels, truths and gaps; and one column again and again."""
    rng = np.random.default_rng(0)
    for k, sep in ((2, 0.5), (2, 1.5), (5, 1.0)):
        X, y = make_classification(
            1300, 12, n_informative=5, n_classes=k, class_sep=sep, flip_y=0.05, random_state=k
        )
        yield of_matrix(f"clouds of {k} classes, {sep} apart", X, y)
    yield of_matrix("moons", *make_moons(1300, noise=0.3, random_state=0))
    yield of_matrix("circles", *make_circles(1300, noise=0.2, factor=0.5, random_state=0))
    yield of_matrix("a sum of squares", *make_hastie_10_2(1300, random_state=0))
    y = rng.choice(["no", "yes"], 1300, p=[0.7, 0.3])
    levels = {
        f"c{j}": np.where(rng.random(1300) < 0.2 * j, y, rng.choice(["no", "yes", "?"], 1300))
        for j in range(4)
    }
    truths = {f"t{j}": rng.random(1300) < np.where(y == "yes", 0.6, 0.4) for j in range(6)}
    gaps = np.where(rng.random(1300) < 0.3, np.nan, rng.normal(1.0 * (y == "yes")))
    yield Table("levels, truths and gaps", {**levels, **truths, "gaps": gaps}, y)
    one = rng.normal(1.0 * (y == "yes"))
    again = {f"x{j}": one + rng.normal(0, 0.1, 1300) for j in range(10)}
    yield Table("one column ten times", again, y)


def read(path: Path, target: str) -> Table:
    """A CSV of numbers and strings; an empty field is missing."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns: dict[str, np.ndarray] = {}
    for name in rows[0]:
        cells = [row[name] or None for row in rows]
        try:
            columns[name] = np.array([np.nan if x is None else float(x) for x in cells])
        except ValueError:
            columns[name] = np.array(cells, object)
    y = np.array([row[target] for row in rows])
    del columns[target]
    return Table(path.stem, columns, y)


Assess = Callable[[NaiveBayes], Scores]


def ratio(table: Table, assess: Assess) -> float:
    """The log loss that is assessed over that on fresh rows: the same ones, of two halves."""
    order = np.random.default_rng(0).permutation(len(table.y))[: 2 * ROWS]
    halves = [order[: len(order) // 2], order[len(order) // 2 :]]
    assessed = fresh = 0.0
    for mine, other in (halves, halves[::-1]):
        nb = NaiveBayes().fit(*table.take(mine))
        assessed += assess(nb).log_loss
        X, y = table.take(other)
        fresh += nb.evaluate(X, y).log_loss
    return assessed / fresh


def check_tables(tables: list[Table], assess: Assess) -> None:
    """The geometric mean of the ratios is 1 within 10 %."""
    mean = np.exp(np.mean(np.log([ratio(table, assess) for table in tables])))
    assert 1 / WITHIN < mean < WITHIN


def check_noise(X: np.ndarray, assess: Assess) -> None:
    """Of labels that are drawn beside X no more is foretold than their frequency."""
    # Right answers: for any rule at most the share q of the more frequent class, and at least those
    # of guessing by frequency. Let d be the sum of log p(label) - log q(label), p foretold without
    # the label: the mean of exp(d) is 1, so that d exceeds log(1e6) once in a million times.
    n, q = len(X), 0.6
    y = np.where(np.random.default_rng(1).random(n) < q, "often", "rarely")
    found = assess(NaiveBayes().fit(X, y))
    held, folds = found.folds
    assert abs(found.rows - n * held / folds) < 2
    n = found.rows
    chance = 4 * np.sqrt(q * (1 - q) / n)
    guessed = q**2 + (1 - q) ** 2
    assert guessed - chance < found.accuracy < q + chance
    of_frequency = -np.log(np.where(y == "often", q, 1 - q)).mean()
    assert found.log_loss > of_frequency - SURE / n


def by_the_model_that_learned_them(
    model: Any, sample: Any, _: Any, dealt: np.ndarray, **__: Any
) -> cross_validate.Predicted:
    """What assess() must not do."""
    folds = [sample.keep(fold) for fold in dealt.T]
    p = np.concatenate([fold.posterior(model) for fold in folds])
    copies = np.concatenate([fold.copies for fold in folds])
    places = np.concatenate([np.flatnonzero(fold) for fold in dealt.T])
    labels = Labels.join([fold.labels for fold in folds])
    return cross_validate.Predicted(p, labels, copies, places)


@pytest.fixture
def cheat(monkeypatch: pytest.MonkeyPatch) -> Assess:
    """An assess() that scores rows by the model that has learned them."""
    monkeypatch.setattr(cross_validate, "cross_validate", by_the_model_that_learned_them)
    return NaiveBayes.assess


def noise(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(rows, columns))


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "columns"), [(1000, 1), (1000, 20), (60, 1000)])
def test_of_noise_nothing_is_learned(rows: int, columns: int) -> None:
    check_noise(noise(rows, columns), NaiveBayes.assess)


@pytest.mark.slow
@pytest.mark.parametrize("levels", [2, 8])
def test_of_levels_that_are_noise_nothing_is_learned(levels: int) -> None:
    X = np.random.default_rng(0).integers(0, levels, (800, 30)).astype(str).astype(object)
    check_noise(X, NaiveBayes.assess)


def test_of_noise_a_cheat_would_have_learned(cheat: Assess) -> None:
    with pytest.raises(AssertionError):
        check_noise(noise(200, 300), cheat)


@pytest.mark.slow
def test_it_is_the_log_loss_of_fresh_rows() -> None:
    check_tables([*bundled(), *synthetic()], NaiveBayes.assess)


def test_the_log_loss_of_a_cheat_is_not_that_of_fresh_rows(cheat: Assess) -> None:
    with pytest.raises(AssertionError):
        check_tables([*bundled(), *synthetic()], cheat)


REAL = {
    "adult": "income", "balance_scale": "class", "bank_marketing": "y", "breast_cancer": "Class",
    "congress_voting": "Class", "credit_g": "class", "heart_cleveland": "num",
    "horse_colic": "surgical_lesion", "kr_vs_kp": "class", "pima_diabetes": "class",
}  # fmt: skip


@pytest.fixture
def real(data_folder: Path) -> list[Table]:
    """Real tables; the test is skipped without them."""
    return [read(data_folder / "tables" / f"{name}.csv", REAL[name]) for name in REAL]


@pytest.mark.slow
def test_of_real_tables_it_is_the_log_loss_of_fresh_rows(real: list[Table]) -> None:
    check_tables(real, NaiveBayes.assess)


def test_of_real_tables_the_log_loss_of_a_cheat_is_not(real: list[Table], cheat: Assess) -> None:
    with pytest.raises(AssertionError):
        check_tables(real, cheat)


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["loo", "temperature", None])
def test_it_is_cross_validation_by_learning_again(weights: Any) -> None:
    table = next(table for table in synthetic() if "levels" in table.name)
    X, y = table.take(np.arange(120))
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0], 120)
    nb = NaiveBayes(weights=weights).fit(X, y, weight)
    labels = encode_labels(y, weight)
    folds = nb.assess().folds[0]
    assert folds > 2
    sample = nb._learned.sample
    assert sample is not None
    order = order_in_sample(nb, nb.model_.counted.schema.encode(as_rows(X), labels))
    fold, rows = np.empty(120, np.int64), sample.of(nb.model_)
    fold[order] = deal(rows.labels, rows.copies, folds).argmax(axis=1)
    assert np.ptp(np.bincount(fold)) <= 1
    p = np.empty((120, 2))
    for f in range(folds):
        rest, held = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        again = NaiveBayes(weights=weights).fit(*table.take(rest), weight[rest])
        p[held] = again.predict_proba(table.take(held)[0])
    found = nb.assess()
    # Rows of equal cells are dealt into thirds by what the other rows hold, which may choose
    # another ridge.
    rel = 2e-2 if weights == "loo" else 1e-6
    assert found.log_loss == pytest.approx(log_loss(y, p, sample_weight=weight), rel=rel)
    right = ((p[:, 1] > 0.5) == (y == "yes")) @ weight / sum(weight)
    assert found.accuracy == pytest.approx(right, abs=0.02 if weights == "loo" else 1e-9)


def planned(seen: int, n: int, *, interactions: bool = False) -> cross_validate.Folds:
    """The folds of a sample of n rows of a small table."""
    X = np.random.default_rng(0).normal(size=(50, 12))
    model = NaiveBayes().fit(X, X[:, 0] > 0).model_
    return cross_validate.plan(model, n, seen, interactions=interactions)


@pytest.mark.parametrize("seen", [10_000, 15_000, 20_000, 31_000, 1_000_000])
def test_no_fold_is_more_than_a_tenth_of_the_rows_learned(seen: int) -> None:
    folds = planned(seen, 10_000)
    assert 10_000 / folds.dealt <= seen / 10
    assert folds.held_out >= 2
    if 10_000 / seen > 0.4:  # nor less of them than that takes
        assert 10_000 / (folds.dealt - 1) > seen / 10
    assert folds.dealt >= 4  # weights are fitted to three quarters of the sample, at least


def test_pairs_that_are_counted_on_the_sample_miss_a_tenth_of_it() -> None:
    assert planned(1_000_000, 10_000, interactions=True).dealt == 10


@pytest.mark.parametrize(("n", "rows"), [(150, 150), (900, 900), (3_000, 2_000), (10_000, 2_000)])
def test_few_rows_are_scored_however_quickly_they_are_learned(n: int, rows: int) -> None:
    folds = planned(n, n)
    assert n * folds.held_out / folds.dealt >= rows
