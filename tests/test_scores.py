"""Scores are scikit-learn's, on any predictions: ties, certainty, weights, labels of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    confusion_matrix,
    log_loss,
    precision_recall_fscore_support,
    roc_auc_score,
)

from naively import NaiveBayes
from naively.assess.intervals import Weighted
from naively.assess.scores import BINS, Scores, rank, scores

LABELS = [
    np.array(["ham", "spam"]),
    np.array([False, True]),
    np.array([-3, 0, 8]),
    np.array(["a", "b", "c", "dd", "e"]),
    np.array([7]),
]
STRANGERS = {"U": "stranger", "i": 99}  # a label that is never learned


@dataclass(frozen=True)
class Predictions:
    """Posteriors of some rows, and their right labels."""

    p: np.ndarray
    learned: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None

    @property
    def predicted(self) -> np.ndarray:
        """The first of the most probable classes."""
        return np.array([self.learned[row.tolist().index(max(row))] for row in self.p])

    @property
    def weights(self) -> list[float]:
        return [1.0] * len(self.y) if self.weight is None else self.weight.tolist()

    @property
    def every(self) -> list[Any]:
        return sorted({*self.learned.tolist(), *self.y.tolist()})

    @property
    def scores(self) -> Scores:
        return scores(self.p, self.learned, self.y, self.weight)


@st.composite
def predictions(draw: Any, strangers: bool = False) -> Predictions:
    """Draw posteriors of few different values, so that there are ties, zeros and ones."""
    learned = draw(st.sampled_from(LABELS))
    n, k = draw(st.integers(1, 20)), len(learned)
    cell = st.sampled_from([0.0, 0.0, 1.0, 2.0, 5.0, 1e-17]) | st.floats(0.01, 1)
    row = st.lists(cell, min_size=k, max_size=k).filter(lambda row: sum(row) > 0.005)
    raw = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    labels = learned.tolist()
    if strangers and learned.dtype.kind in STRANGERS:
        labels.append(STRANGERS[learned.dtype.kind])
    y = np.array(draw(st.lists(st.sampled_from(labels), min_size=n, max_size=n)))
    weight = None
    if draw(st.booleans()):
        one = st.sampled_from([0.0, 0.1, 1.0, 2.0, 7.25])
        weights = st.lists(one, min_size=n, max_size=n).filter(lambda weight: sum(weight) > 0)
        weight = np.array(draw(weights))
    return Predictions(raw / raw.sum(axis=1, keepdims=True), learned, y, weight)


@given(of=predictions(strangers=True))
def test_accuracy_confusion_precision_and_recall_are_scikit_learns(of: Predictions) -> None:
    found, predicted, weighed = of.scores, of.predicted, {"sample_weight": of.weight}
    assert found.rows == len(of.y)
    assert found.classes == of.every
    assert list(found.by_class) == of.every
    assert found.accuracy == pytest.approx(accuracy_score(of.y, predicted, **weighed))
    # scikit-learn warns of a table with one cell, so that a label that nobody has is added.
    nobody = [*of.every, "nobody" if of.learned.dtype.kind == "U" else 1000]
    table = confusion_matrix(of.y, predicted, labels=nobody, **weighed)[:-1, :-1]
    np.testing.assert_allclose(found.confusion, table)
    precision, recall, _, support = precision_recall_fscore_support(
        of.y, predicted, labels=of.every, zero_division=np.nan, **weighed
    )
    rows = np.array(list(found.by_class.values()))
    np.testing.assert_allclose(rows, np.transpose([precision, recall, support]))


@given(of=predictions(strangers=True))
def test_the_majority_is_counted_by_weight(of: Predictions) -> None:
    count = dict.fromkeys(of.every, 0.0)
    for label, weight in zip(of.y.tolist(), of.weights, strict=True):
        count[label] += weight
    found = of.scores
    assert found.majority == max(count, key=lambda label: count[label])  # the first of several
    assert found.majority_accuracy == pytest.approx(max(count.values()) / sum(of.weights))


@given(of=predictions())
def test_log_loss_is_scikit_learns(of: Predictions) -> None:
    found = of.scores.log_loss
    if len(of.learned) == 1:  # scikit-learn's is undefined; the only class is certain
        assert found == 0.0
    else:
        clipped, labels = np.maximum(of.p, 1e-15), of.learned
        right = log_loss(of.y, clipped, sample_weight=of.weight, labels=labels)
        assert found == pytest.approx(right, abs=1e-12)


@given(of=predictions(strangers=True))
def test_brier_score_is_that_of_the_formula_and_scikit_learns(of: Predictions) -> None:
    by_hand = 0.0
    for row, label, weight in zip(of.p.tolist(), of.y.tolist(), of.weights, strict=True):
        p = dict(zip(of.learned.tolist(), row, strict=True))
        square = sum((p.get(one, 0.0) - (one == label)) ** 2 for one in of.every)
        by_hand += weight * square / 2
    found = of.scores.brier
    assert found == pytest.approx(by_hand / sum(of.weights), abs=1e-12)
    if len(of.learned) == 2 and set(of.y.tolist()) <= set(of.learned.tolist()):
        second = of.learned[1].item()
        right = brier_score_loss(
            of.y == second, of.p[:, 1], sample_weight=of.weight, pos_label=True
        )
        assert found == pytest.approx(right, abs=1e-12)


def area(positive: np.ndarray, p: np.ndarray, weight: list[float]) -> float:
    """The share of pairs of a positive and another row that are in the right order."""
    right = total = 0.0
    for i, j in product(np.flatnonzero(positive), np.flatnonzero(~positive)):
        of_pair = weight[i] * weight[j]
        right += of_pair * (1.0 if p[i] > p[j] else 0.5 if p[i] == p[j] else 0.0)
        total += of_pair
    return right / total


@given(of=predictions(strangers=True))
def test_area_under_roc_is_the_share_of_pairs_in_order(of: Predictions) -> None:
    areas, rows = [], []
    weight = np.array(of.weights)
    for c, label in enumerate(of.learned):
        positive = of.y == label
        if weight[positive].sum() > 0 and weight[~positive].sum() > 0:
            areas.append(area(positive, of.p[:, c], of.weights))
            rows.append(weight[positive].sum())
    right = np.average(areas, weights=rows) if areas else np.nan
    np.testing.assert_allclose(of.scores.auc, right, atol=1e-12)


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("learned", LABELS[:4], ids=lambda labels: f"{len(labels)}")
def test_area_under_roc_is_scikit_learns(learned: np.ndarray, weighed: bool) -> None:
    rng = np.random.default_rng(0)
    k = len(learned)
    y = rng.choice(k, 200, p=np.arange(1, k + 1) / np.arange(1, k + 1).sum())  # unequal classes
    p = rng.dirichlet(np.ones(k), 200) + np.eye(k)[y] * rng.random((200, k))
    p /= p.sum(axis=1, keepdims=True)
    weight = rng.integers(0, 4, 200).astype(float) if weighed else None
    of = Predictions(p, learned, learned[y], weight)
    if k == 2:
        right = roc_auc_score(of.y, p[:, 1], sample_weight=weight)
    else:
        right = roc_auc_score(
            of.y, p, multi_class="ovr", average="weighted", sample_weight=weight, labels=learned
        )
        plain = roc_auc_score(of.y, p, multi_class="ovr", average="macro", sample_weight=weight)
        assert abs(plain - right) > 1e-4  # the classes are unequal enough to tell them apart
    assert of.scores.auc == pytest.approx(right, abs=1e-12)


def reliability_by_hand(of: Predictions) -> list[tuple[float, float, float]]:
    """Rows, mean confidence and accuracy of each bin, row by row."""
    bins: dict[int, list[tuple[float, float, bool]]] = {}
    for p, y, w in zip(of.p.tolist(), of.y.tolist(), of.weights, strict=True):
        place = 0
        while place < BINS - 1 and max(p) >= (place + 1) / BINS:
            place += 1
        right = of.learned.tolist()[p.index(max(p))] == y
        bins.setdefault(place, []).append((w, max(p), right))
    found = []
    for _, rows in sorted(bins.items()):
        total = sum(w for w, _, _ in rows)
        if total > 0:
            sure = sum(w * p for w, p, _ in rows) / total
            found.append((total, sure, sum(w for w, _, right in rows if right) / total))
    return found


@given(of=predictions(strangers=True))
def test_reliability_and_calibration_error_are_those_of_a_plain_loop(of: Predictions) -> None:
    found, by_hand = of.scores, reliability_by_hand(of)
    bins = [(one.rows, one.confidence, one.accuracy) for one in found.reliability]
    np.testing.assert_allclose(bins, by_hand, atol=1e-12)
    error = sum(n * abs(sure - right) for n, sure, right in by_hand) / sum(of.weights)
    assert found.calibration_error == pytest.approx(error, abs=1e-12)


@pytest.mark.parametrize("bin_", range(1, BINS + 1))
def test_a_confidence_on_the_edge_of_two_bins_is_in_the_upper(bin_: int) -> None:
    # Sixteen classes, so that even 1 / 15 is the largest probability of its row.
    p = np.full(16, (1 - bin_ / BINS) / 15)
    p[3] = bin_ / BINS
    of = Predictions(np.stack([p, np.nextafter(p, 0)]), np.arange(16), np.array([3, 3]), None)
    found = [one.rows for one in of.scores.reliability]
    assert found == ([2.0] if bin_ == BINS else [1.0, 1.0])


@given(of=predictions(strangers=True), seed=st.integers(0, 100))
def test_whole_weights_are_rows_repeated(of: Predictions, seed: int) -> None:
    times = np.random.default_rng(seed).integers(0, 3, len(of.y))
    times[0] = 1
    weighed = scores(of.p, of.learned, of.y, times.astype(float))
    repeated = scores(np.repeat(of.p, times, axis=0), of.learned, np.repeat(of.y, times))
    for name in ("accuracy", "log_loss", "brier", "auc", "calibration_error"):
        one, other = getattr(weighed, name), getattr(repeated, name)
        assert one == pytest.approx(other, nan_ok=True, abs=1e-12)
    assert weighed.majority == repeated.majority
    for label, of_label in repeated.by_class.items():
        np.testing.assert_allclose(weighed.by_class[label], of_label)


def test_labels_of_another_type_that_are_equal_are_right() -> None:
    p, learned = np.array([[0.9, 0.1, 0.0], [0.3, 0.6, 0.1]]), np.array([0, 1, 2])
    for y in ([0.0, 1.0], np.array([0, 1], np.uint8), np.array([0, 1], object), [False, True]):
        found = scores(p, learned, np.array(y))
        assert found.accuracy == 1
        assert found.confusion.shape == (3, 3)  # the class that no row has is there too
        assert str(found.classes) == "[0, 1, 2]"  # as they were learned
    long, short = np.array(["spam", "spam and eggs"]), np.array(["spam"])
    assert scores(p[:1, :2], long, short).accuracy == 1
    days = np.array(["2026-01-01", "2026-01-02"], "datetime64[ns]")
    found = scores(p[:, :2], days, days.astype("datetime64[D]"))
    assert found.log_loss == pytest.approx(-np.log([0.9, 0.6]).mean())


def test_a_string_is_no_number() -> None:
    with pytest.raises(TypeError, match="class labels must be of one type, got int and str"):
        scores(np.array([[0.9, 0.1]]), np.array([0, 1]), np.array(["0"]))


def test_a_label_that_was_never_learned_is_always_missed() -> None:
    found = scores(np.array([[1.0, 0.0]]), np.array(["a", "b"]), np.array(["c"]))
    assert found.accuracy == 0
    assert found.log_loss == -np.log(1e-15)
    assert found.brier == 1
    assert np.isnan(found.auc)
    assert found.classes == ["a", "b", "c"]
    assert found.confusion.tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0]]
    precision, recall, rows = found.by_class["c"]
    assert np.isnan(precision)
    assert (recall, rows) == (0.0, 1)


def test_scores_of_a_model_are_those_of_its_posteriors() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.choice(["a", "b", "c"], 60)
    nb = NaiveBayes("gaussian", weights=None).fit(X, y)
    found, p = nb.evaluate(X, y), nb.predict_proba(X)
    assert found.log_loss == pytest.approx(log_loss(y, p))
    assert found.accuracy == accuracy_score(y, nb.predict(X))
    assert found.auc == pytest.approx(roc_auc_score(y, p, multi_class="ovr", average="weighted"))
    with pytest.raises(ValueError, match="no rows to score"):
        nb.evaluate(X[:0], y[:0])
    with pytest.raises(ValueError, match="Row 1 has no label"):
        nb.evaluate(X[:2], np.array(["a", None], object))


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1], [2], [1], [2]], [0, 1, 1, 0]),  # two equal classes
        ([[1], [2], [1], [2]], [1, 1, 1, 1]),  # one class
        ([[1], [1], [1], [1], [1]], [0, 1, 1, 1, 1]),  # one class is predicted
        ([[1], [2]], ["a", "b"]),  # without a row its class is not known
    ],
)
@pytest.mark.parametrize("weights", ["loo", "temperature", None])
def test_a_degenerate_assessment_has_no_warning(X: Any, y: Any, weights: Any) -> None:
    found = NaiveBayes(weights=weights).fit(X, y).assess()
    assert found.rows == len(y) - len(found.too_rare)
    assert 0 <= found.accuracy <= 1
    assert found.log_loss >= 0
    assert all(np.isfinite(list(found.cost.values())))
    if len(set(y)) == 1:
        assert np.isnan(found.auc)
        assert found.accuracy == found.majority_accuracy == 1
        assert found.log_loss == found.brier == found.calibration_error == 0
        assert found.by_class == {1: (1.0, 1.0, 4)}
        assert found.confusion.tolist() == [[4]]


def test_a_print_says_all_of_it() -> None:
    learned, y = np.array(["a", "b"]), np.array(["a", "b", "b", "b"])
    p = np.array([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75], [0.75, 0.25]])
    assert str(scores(p, learned, y)).splitlines() == [
        "accuracy           0.7500   [0.194, 0.994]   (always 'b': 0.7500)",
        "log loss           0.5623 nats per row   [0.074, 2.058]",
        "Brier score        0.1875   [0.007, 0.965]",
        "area under ROC     not known: between 0.23 and 0.99, as only 1 row is of 'a'",
        "calibration error  0.0000   (by chance 0.1582)",
        "rests on           4 rows, 1 of class 'a'; in brackets: about 95 % intervals",
    ]
    many = str(scores(p.repeat(10_000, axis=0), learned, y.repeat(10_000))).splitlines()
    assert many == [
        "accuracy           0.7500   (always 'b': 0.7500)",
        "log loss           0.5623 nats per row",
        "Brier score        0.1875",
        "area under ROC     0.8333",
        "calibration error  0.0000",
        "rests on           40,000 rows, 10,000 of class 'a'",
    ]
    assert str(scores(p, learned, y[1:2].repeat(4))).splitlines()[3::2] == [
        "area under ROC     nan",
        "rests on           4 rows, all of class 'b'; in brackets: about 95 % intervals",
    ]


@given(
    rows=st.lists(
        st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.6, 1.0]), st.booleans(), st.integers(0, 3)),
        min_size=2,
        max_size=30,
    )
)
def test_area_under_roc_is_that_of_scikit_learn(rows: list[tuple[float, bool, int]]) -> None:
    score, truth, weight = (np.array(column, np.float64) for column in zip(*rows, strict=True))
    assume(0 < (truth @ weight) < weight.sum())
    for w in (weight, None):
        expected = roc_auc_score(truth, score, sample_weight=w)
        assert rank(score, truth, Weighted(w)).roc.area == pytest.approx(expected, abs=1e-12)


def test_the_only_row_of_a_class_is_not_scored_and_it_is_said() -> None:
    x = [[1.0], [2.0], [3.0], [4.0], [2.5], [3.5], [9.0], [1.5], [3.6]]
    y = ["a", "a", "b", "b", "a", "b", "c", "a", "b"]
    found = NaiveBayes().fit(x, y).assess()
    assert found.rows == 8
    assert found.too_rare == ("c",)
    assert "not scored         the only row of class 'c'" in str(found)
    assert found.log_loss < 3  # a class that nobody can know is no loss of 34 nats
    assert NaiveBayes().fit(x[:6], y[:6]).assess().too_rare == ()
    assert NaiveBayes().fit([[1.0], [2.0], [3.0]], ["a", "b", "c"]).assess().accuracy == 0
