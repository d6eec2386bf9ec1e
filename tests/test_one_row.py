"""Weights, copies, frequencies and groups: what is one row, and what is left out with it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.utils.class_weight import compute_sample_weight

from naively import NaiveBayes, load
from naively.fitting.sample import deal, fold_of_groups
from tests.chessboard import chessboard
from tests.products import assert_same_tally

Columns = dict[str, np.ndarray]


def mixed(n: int, seed: int = 0, rare: float = 0.3) -> tuple[Columns, np.ndarray]:
    """Numbers that differ by class, levels of which one kind says nothing, and truths."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < rare, "yes", "no")
    yes = y == "yes"
    X = {
        "a": rng.normal(1.2 * yes),
        "b": np.round(rng.normal(0.8 * yes), 2),
        "many": rng.integers(0, 100, n).astype(str).astype(object),
        "level": np.where(rng.random(n) < 0.7, np.where(yes, "x", "y"), "z").astype(object),
        "true": rng.random(n) < np.where(yes, 0.6, 0.4),
    }
    return X, y


def few_levels(n: int, seed: int = 0) -> tuple[Columns, np.ndarray]:
    """A table of which many rows are equal by chance."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes"], n)
    cells = {name: rng.choice(["p", "q", "r"], n).astype(object) for name in "ab"}
    cells["c"] = np.where(rng.random(n) < 0.6, y, "no").astype(object)
    return cells, y


def texts(n: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice(["ham", "spam"], n)
    words = {"ham": [f"h{i}" for i in range(60)], "spam": [f"s{i}" for i in range(60)]}
    both = [f"w{i}" for i in range(200)]
    return [
        " ".join([*rng.choice(both, 9), *rng.choice(words[label], 3)]) for label in y.tolist()
    ], y


def take(X: Any, rows: Any) -> Any:
    if isinstance(X, dict):
        return {name: of[rows] for name, of in X.items()}
    return [X[i] for i in rows]


def log_loss(nb: NaiveBayes, X: Any, y: np.ndarray, weight: Any = None, prior: Any = None) -> float:
    p = nb.predict_proba(X, class_prior=prior)
    right = p[np.arange(len(y)), np.searchsorted(nb.classes_, y)]
    return float(np.average(-np.log(right), weights=weight))


TABLES = pytest.mark.parametrize("made", [mixed, texts, few_levels], ids=lambda of: of.__name__)


# Weights


@TABLES
@pytest.mark.parametrize("factor", [10.0, 1e-3])
@pytest.mark.parametrize("weights", ["loo", "temperature"])
def test_that_all_weights_are_multiplied_does_not_show(
    made: Any, factor: float, weights: Any
) -> None:
    X, y = made(150)
    given = np.random.default_rng(0).choice([0.5, 1.0, 1.7], 150)
    a = NaiveBayes(weights=weights).fit(X, y, given)
    b = NaiveBayes(weights=weights).fit(X, y, given * factor)
    np.testing.assert_allclose(b.predict_proba(X), a.predict_proba(X), atol=1e-6)
    assert b.assess().log_loss == pytest.approx(a.assess().log_loss, abs=1e-6)
    np.testing.assert_allclose(b.class_count_, a.class_count_ * factor)


def test_without_weights_of_columns_a_row_of_weight_two_is_two_rows() -> None:
    X, y = mixed(80)
    twice = np.repeat(np.arange(80), 2)
    a = NaiveBayes(weights=None).fit(X, y, np.full(80, 2.0))
    b = NaiveBayes(weights=None).fit(take(X, twice), y[twice])
    assert_same_tally(a.tally_, b.tally_)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-12)


def test_balanced_weights_are_another_class_prior() -> None:
    X, y = mixed(600, rare=0.1)
    weight = compute_sample_weight("balanced", y)
    weighed, plain = NaiveBayes().fit(X, y, weight), NaiveBayes().fit(X, y)
    np.testing.assert_allclose(
        weighed.predict_proba(X), plain.predict_proba(X, class_prior=[0.5, 0.5]), atol=0.01
    )
    even = NaiveBayes(class_prior="uniform").fit(X, y)
    np.testing.assert_allclose(weighed.predict_proba(X), even.predict_proba(X), atol=0.01)


def test_rows_of_other_weights_are_as_many_as_kish_has_it() -> None:
    X, y = mixed(200)
    w = np.random.default_rng(1).lognormal(size=200)
    nb = NaiveBayes().fit(X, y, w)
    u = np.sqrt(w)
    kish = [u[y == c].sum() ** 2 / w[y == c].sum() for c in nb.classes_]
    np.testing.assert_allclose(nb.model_.view.rows, kish)
    assert nb.weights_ is not None
    assert nb.weights_.rows == pytest.approx(sum(kish))


# Copies


def test_rows_that_are_equal_by_chance_count_one_by_one() -> None:
    X, y = few_levels(400)
    nb = NaiveBayes().fit(X, y)
    assert nb.model_.view.rows.sum() == nb.assess().rows == 400
    assert nb.notes_ == ()


def test_oversampling_is_another_class_prior() -> None:
    X, y = mixed(1000, rare=0.05)
    new, of_new = mixed(2000, 1, rare=0.05)
    even = compute_sample_weight("balanced", of_new)
    rng, rare = np.random.default_rng(0), np.flatnonzero(y == "yes")
    every = np.append(np.flatnonzero(y == "no"), rng.choice(rare, (y == "no").sum()))
    copied = NaiveBayes().fit(take(X, every), y[every], groups="copies")
    plain = NaiveBayes().fit(X, y)
    shifted = log_loss(plain, new, of_new, even, [0.5, 0.5])
    assert log_loss(copied, new, of_new, even) < 1.1 * shifted


# Frequencies


def test_a_table_of_counts_learns_as_its_rows() -> None:
    X, y = few_levels(500)
    frame = pl.DataFrame({**X, "y": y})
    counts = frame.group_by(frame.columns, maintain_order=True).len("times")
    whole = NaiveBayes().fit(X, y)
    at_once = NaiveBayes().fit(counts, "y", frequencies="times")
    assert "times" not in at_once.feature_names_in_
    streamed = NaiveBayes().fit(counts.lazy(), "y", frequencies="times")
    halves = NaiveBayes().fit(counts[:9], "y", frequencies="times")
    halves.partial_fit(counts[9:], "y", frequencies="times").calibrate()
    for nb in (at_once, streamed, halves):
        np.testing.assert_allclose(nb.predict_proba(X), whole.predict_proba(X), atol=1e-9)
        assert nb.assess().rows == 500
    weighed = NaiveBayes().fit(counts, "y", "times")
    assert "give them as frequencies=" in weighed.notes_[0]


def test_frequencies_are_whole_numbers() -> None:
    X, y = mixed(3)
    with pytest.raises(ValueError, match=r"row 1 has 0\.5"):
        NaiveBayes().fit(X, y, frequencies=[1, 0.5, 1])
    with pytest.raises(ValueError, match="whole numbers"):
        NaiveBayes().fit(X, y, frequencies=["a", "b", "c"])
    with pytest.raises(ValueError, match="frequencies must have shape"):
        NaiveBayes().fit(X, y, frequencies=[1, 2])
    with pytest.raises(ValueError, match="no column of frequencies 'n'"):
        NaiveBayes().fit(X, y, frequencies="n")


# Groups


def near_copies(n: int, times: int, noise: float, seed: int = 0) -> tuple[Columns, Any, Any]:
    """Several rows of each of n persons, which hardly differ."""
    X, y = mixed(n, seed, rare=0.4)
    person = np.repeat(np.arange(n), times)
    X = take(X, person)
    rng = np.random.default_rng(seed)
    X |= {name: X[name] + rng.normal(0, noise, n * times) for name in "ab"}
    return X, y[person], person


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Nearly every row")
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.5])
def test_near_copies_in_groups_are_as_one_row_each(noise: float) -> None:
    new, of_new = mixed(2000, 99, rare=0.4)
    apart, grouped, plain = [], [], []
    for seed in range(3):
        X, y, person = near_copies(100, 8, noise, seed)
        apart.append(log_loss(NaiveBayes().fit(X, y), new, of_new))
        nb = NaiveBayes().fit(X, y, groups=person)
        grouped.append(log_loss(nb, new, of_new))
        plain.append(log_loss(NaiveBayes().fit(*mixed(100, seed, rare=0.4)), new, of_new))
        assert nb.assess().log_loss == pytest.approx(grouped[-1], rel=0.5)
    assert np.mean(grouped) < 1.05 * np.mean(plain)
    assert np.mean(grouped) < np.mean(apart) or noise == 0


def test_rows_that_only_share_a_group_are_rows_of_their_own() -> None:
    X, y = mixed(600)
    nb = NaiveBayes().fit(X, y, groups=np.arange(600) // 6)
    assert nb.model_.view.rows.sum() > 400


def test_groups_are_evidence_by_models_without_their_fold() -> None:
    """By brute force: pure models of the other rows."""
    X, y, person = near_copies(30, 3, 0.3)
    X = {name: X[name] for name in ("a", "level")}
    nb = NaiveBayes({"a": "gaussian", "level": "categorical"}).fit(X, y, groups=person)
    sample = nb._learned.sample.of(nb.model_)
    (found,) = sample._by_fold([nb.model_.weighed(None)])
    (batch,) = sample.batches
    assert batch.labels.group is not None
    fold = fold_of_groups(batch.labels.group, 10)
    rows = nb.model_.counted.schema.decode(batch.blocks)
    cells = {name: rows.values(name) for name in X}
    right = nb.classes_[batch.labels.codes]
    for at in range(10):
        pure = NaiveBayes({"a": "gaussian", "level": "categorical"}, weights=None)
        pure.fit(take(cells, fold != at), right[fold != at])
        some = np.flatnonzero(fold == at)
        says = pure.predict_joint_log_proba(take(cells, some)) - pure.class_log_prior_
        says -= says.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(found.table.sum(axis=0)[some], says, atol=1e-9)


def test_groups_stay_whole_and_neither_order_nor_batches_show(tmp_path: Path) -> None:
    X, y, person = near_copies(30, 4, 0.1)
    frame = pl.DataFrame({**X, "person": person, "y": y})
    nb = NaiveBayes().fit(frame, "y", groups="person")
    assert "person" not in nb.feature_names_in_
    order = np.random.default_rng(0).permutation(120)
    shuffled = NaiveBayes().fit(frame[order], "y", groups="person")
    streamed = NaiveBayes().fit(frame.lazy(), "y", groups="person")
    split = NaiveBayes().fit(frame[:51], "y", groups="person")
    split.partial_fit(frame[51:], "y", groups="person").calibrate()
    merged = NaiveBayes().fit(frame[:51], "y", groups="person")
    merged.merge(NaiveBayes().fit(frame[51:], "y", groups="person"))
    nb.save(tmp_path / "rows.naively", keep_rows=True)
    p, loss = nb.predict_proba(X), nb.assess().log_loss
    for other in (shuffled, streamed, split, merged, load(tmp_path / "rows.naively").calibrate()):
        np.testing.assert_allclose(other.predict_proba(X), p, atol=1e-6)
        assert other.assess().log_loss == pytest.approx(loss, abs=1e-6)
    sample = nb._learned.sample.of(nb.model_)
    dealt = deal(sample.labels, sample.copies, 7)
    assert (np.count_nonzero(dealt, axis=1) == 1).all()
    for group in np.unique(sample.labels.group):
        assert len(np.unique(dealt[sample.labels.group == group].argmax(axis=1))) == 1


@pytest.mark.filterwarnings("ignore:All rows are of one group")
def test_each_group_is_drawn_from_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more rows than may be kept, whatever batches they come in."""
    monkeypatch.setattr("naively.fitting.reservoir.ROWS", 100)
    X, y, person = near_copies(12, 40, 0.1)
    person[30:400] = person[0]  # which leaves room for others
    drawn = []
    for cuts in ([0, 480], [0, 50, 211, 480], [0, 479, 480]):
        nb = NaiveBayes()
        for begin, end in pairwise(cuts):
            part = slice(begin, end)
            nb.partial_fit(take(X, part), y[part], groups=person[part])
        sample = nb._learned.sample.of(nb.model_)
        group, rows = np.unique(sample.labels.group, return_counts=True)
        assert len(group) == len(np.unique(person))
        assert 80 < rows.sum() <= 100
        assert rows.max() < 70
        drawn.append(sorted(rows.tolist()))
    assert drawn[0] == drawn[1] == drawn[2]


@pytest.mark.filterwarnings("ignore:All rows are of one group")
def test_a_group_that_is_too_large_is_drawn_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("naively.fitting.reservoir.ROWS", 100)
    X, y = mixed(400)
    nb = NaiveBayes().fit(X, y, groups=np.where(np.arange(400) < 380, "one", "other"))
    assert 0 < len(nb._learned.sample.of(nb.model_)) <= 100


def test_a_class_of_one_group_is_not_scored() -> None:
    X, y = mixed(60)
    y = np.append(["none"] * 4, y[4:])
    nb = NaiveBayes().fit(X, y, groups=np.append([0] * 4, np.arange(1, 57)))
    assert nb.assess().too_rare == ("none",)
    assert np.isfinite(nb.assess().log_loss)
    assert nb.assess().log_loss < 1


def test_groups_that_are_wrong_are_one_sentence() -> None:
    X, y = mixed(20)
    with pytest.raises(ValueError, match="Row 3 has no group"):
        NaiveBayes().fit(X, y, groups=[1.0, 2.0, 3.0, np.nan, *range(16)])
    with pytest.raises(ValueError, match="groups must have shape"):
        NaiveBayes().fit(X, y, groups=[1, 2])
    with pytest.raises(ValueError, match="column of groups"):
        NaiveBayes().fit(X, y, groups="person")
    with pytest.warns(UserWarning, match="All rows are of one group"):
        nb = NaiveBayes().fit(X, y, groups=["one"] * 20)
    with pytest.raises(ValueError, match="but one group"):
        nb.assess()
    with pytest.raises(ValueError, match="groups needs all labels"):
        NaiveBayes(semi_supervised=True).fit(X, [None, *y[1:]], groups=np.arange(20))


def test_rows_without_a_group_are_groups_of_their_own() -> None:
    X, y, person = near_copies(40, 4, 0.1)
    half = slice(0, 80)
    nb = NaiveBayes().partial_fit(take(X, half), y[half], groups=person[half])
    nb.partial_fit(take(X, slice(80, 160)), y[80:]).calibrate()
    assert len(np.unique(nb._learned.sample.of(nb.model_).labels.group)) == 20 + 80


def test_interactions_of_rows_in_groups_are_those_that_other_groups_have() -> None:
    X, odd = chessboard(300)
    X = {name: np.repeat(column, 4) for name, column in X.items()}
    y, group = np.repeat(odd, 4), np.repeat(np.arange(300), 4)
    nb = NaiveBayes(interactions="auto").fit(X, y, groups=group)
    assert nb.weights_.linear.rules
    assert nb.score(*chessboard(1000, seed=1)) > 0.7
    rng = np.random.default_rng(0)
    none = NaiveBayes(interactions="auto").fit(
        X, np.repeat(rng.integers(0, 2, 300), 4), groups=group
    )
    assert "no product and no rule" in none.why_no_interactions_


def test_equal_rows_of_their_own_groups_are_rows_of_their_own() -> None:
    X, y = texts(100)
    every = np.tile(np.arange(100), 2)
    nb = NaiveBayes().fit(take(X, every), y[every], groups=np.arange(200))
    assert nb.notes_ == ()
    assert nb.model_.view.rows.sum() == pytest.approx(200, rel=0.5)
