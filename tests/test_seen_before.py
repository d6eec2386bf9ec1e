"""Rows that came more than once are evidence of their own, where held-out rows gain by it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from naively import NaiveBayes, load
from naively.data.frames import as_rows
from naively.terms.seen import SeenRows

pytestmark = pytest.mark.filterwarnings("ignore:Nearly every row")  # what is said of them anyhow

PROFILES, COLUMNS = 60, 8
Table = dict[str, np.ndarray]


def profiles(seed: int, n: int = 1_500, kind: type = int) -> tuple[Table, np.ndarray, np.ndarray]:
    """Return rows that are copies of few, their labels, and the rate of each: its profile's own."""
    rng = np.random.default_rng(seed)
    cells, rate = rng.integers(0, 4, (PROFILES, COLUMNS)), rng.beta(0.5, 0.5, PROFILES)
    of = rng.integers(0, PROFILES, n)
    if kind is str:
        cells = np.array(["red", "green", "blue", "grey"])[cells]
    X = {f"c{j}": column for j, column in enumerate(cells[of].T)}
    return X, np.where(rng.random(n) < rate[of], "fail", "ok"), rate[of]


def letters(seed: int, n: int = 2_000) -> tuple[list[str], np.ndarray]:
    """Return texts of the same words in another order, each with a rate of its own."""
    rng = np.random.default_rng(seed)
    words = [f"word{i}" for i in range(13)]
    texts, rate = [" ".join(rng.permutation(words)) for _ in range(40)], rng.beta(0.4, 0.4, 40)
    of = rng.integers(0, 40, n)
    return [texts[i] for i in of], np.where(rng.random(n) < rate[of], "fail", "ok")


def take(X: Table, rows: Any) -> Table:
    return {name: column[rows] for name, column in X.items()}


def loss(p: np.ndarray, y: np.ndarray) -> float:
    return float(-np.log(p[np.arange(len(y)), (y == "ok").astype(int)]).mean())


def seen_of(nb: NaiveBayes) -> SeenRows:
    assert nb.weights_ is not None
    assert nb.weights_.seen is not None
    return nb.weights_.seen


@pytest.fixture(scope="module")
def fitted() -> tuple[NaiveBayes, Table, np.ndarray]:
    X, y, _ = profiles(0, kind=str)
    return NaiveBayes().fit(X, y), X, y


def test_few_profiles_are_known_by_their_own_rates() -> None:
    above = []
    for seed in range(3):
        X, y, rate = profiles(seed, kind=str)
        nb = NaiveBayes().fit(take(X, np.s_[:1200]), y[:1200])
        best = loss(np.stack([rate, 1 - rate], axis=1)[1200:], y[1200:])
        above.append(loss(nb.predict_proba(take(X, np.s_[1200:])), y[1200:]) - best)
        assert len(seen_of(nb)) == PROFILES
    assert np.mean(above) < 0.03


@pytest.mark.parametrize("seed", range(5))
def test_by_labels_that_are_shuffled_no_row_is_known(seed: int) -> None:
    X, y, _ = profiles(seed, kind=str)
    shuffled = np.random.default_rng(seed).permutation(y)
    assert NaiveBayes().fit(X, shuffled).model_.seen is None


def test_where_no_row_comes_again_none_is_known() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    assert NaiveBayes().fit(X, X.sum(axis=1) > 0).model_.seen is None


@pytest.mark.parametrize("groups", ["copies", "own"])
def test_rows_in_groups_are_not_known(groups: str) -> None:
    X, y, _ = profiles(0, kind=str)
    of = "copies" if groups == "copies" else np.arange(len(y)) % 300
    assert NaiveBayes().fit(X, y, groups=of).model_.seen is None


@pytest.mark.parametrize("options", [{"weights": None}, {"weights": "temperature"}], ids=str)
def test_other_weights_know_no_rows(options: dict[str, Any]) -> None:
    X, y, _ = profiles(0, kind=str)
    assert NaiveBayes(**options).fit(X, y).model_.seen is None


def test_contributions_sum_to_the_score(fitted: tuple[NaiveBayes, Table, np.ndarray]) -> None:
    nb, X, y = fitted
    some = {name: np.append(column[:5], "new") for name, column in X.items()}  # the last is new
    explained, p = nb.explain(some), nb.predict_proba(some)
    for row, of_row in zip(explained, p, strict=True):
        np.testing.assert_allclose(row.log_likelihood.sum(axis=0), row.joint, atol=1e-12)
        np.testing.assert_allclose(row.probability(0), of_row[0], atol=1e-12)
        np.testing.assert_allclose(row.worked().joint, row.joint, atol=1e-12)
    frame = pd.DataFrame(X)
    equal = (frame == frame.iloc[0]).all(axis=1).to_numpy()
    fails = int((y[equal] == "fail").sum())
    best = max((fails, "fail"), (equal.sum() - fails, "ok"))
    most = "all" if best[0] == equal.sum() else best[0]
    said = f"this very row was seen {equal.sum()} times, {most} of them '{best[1]}'"
    assert said in str(explained[0])
    assert "this very row" not in str(explained[5])


def test_the_posterior_is_the_share_with_what_columns_say_as_pretend_rows(
    fitted: tuple[NaiveBayes, Table, np.ndarray],
) -> None:
    nb, X, y = fitted
    seen = seen_of(nb)
    row = nb.explain(take(X, np.s_[:1]))[0]
    at = row.column.index("this very row")
    p = np.exp(row.joint - row.log_likelihood[at])
    p /= p.sum()
    frame = pd.DataFrame(X)
    equal = (frame == frame.iloc[0]).all(axis=1).to_numpy()
    n = np.array([(y[equal] == label).sum() for label in ("fail", "ok")])
    expected = (n + seen.amount * p) / (n.sum() + seen.amount)
    np.testing.assert_allclose(nb.predict_proba(take(X, np.s_[:1]))[0], expected, atol=1e-12)


def test_another_class_prior_shifts_the_log_odds(
    fitted: tuple[NaiveBayes, Table, np.ndarray],
) -> None:
    nb, X, _ = fitted
    given, rows = nb.model_.under_prior((0.1, 0.9)), as_rows(take(X, np.s_[:50]))
    before, after = (np.asarray(m.joint_log_likelihood(rows)) for m in (nb.model_, given))
    moved = given.class_log_prior - nb.model_.class_log_prior
    np.testing.assert_allclose(after - before, np.tile(moved, (50, 1)), atol=1e-12)
    fit = NaiveBayes(class_prior=(0.1, 0.9)).fit(X, fitted[2]).model_
    np.testing.assert_allclose(fit.joint_log_likelihood(rows), after, atol=1e-12)
    certain = nb.model_.under_prior((0.0, 1.0))
    np.testing.assert_array_equal(certain.posterior(rows), np.tile([0.0, 1.0], (50, 1)))


def test_however_rows_come_they_are_the_same() -> None:
    X, y, _ = profiles(1)
    names, matrix = list(X), np.stack([*X.values()], axis=1)
    nb = NaiveBayes("categorical").fit(pd.DataFrame(X), y)
    p, seen = nb.predict_proba(X), seen_of(nb)
    assert len(seen) == PROFILES
    order = np.random.default_rng(0).permutation(len(y))
    streamed = NaiveBayes("categorical").fit(pl.DataFrame({**X, "y": y}).lazy(), "y")
    for other in (streamed, NaiveBayes("categorical").fit(take(X, order), y[order])):
        np.testing.assert_allclose(other.predict_proba(X), p, atol=1e-9)
        np.testing.assert_array_equal(seen_of(other).hashes, seen.hashes)
        np.testing.assert_array_equal(seen_of(other).count, seen.count)
    for dtype in (np.float64, np.float32, np.int8):
        np.testing.assert_array_equal(
            nb.predict_proba(pd.DataFrame(matrix.astype(dtype), columns=names)), p
        )
    one = nb.predict_proba({name: [column[0].item()] for name, column in X.items()})
    np.testing.assert_array_equal(one[0], p[0])


def test_a_sparse_matrix_is_as_a_dense_one() -> None:
    X, y, _ = profiles(2)
    matrix = np.stack([*X.values()], axis=1).astype(float)
    nb = NaiveBayes("multinomial").fit(matrix, y)
    p = nb.predict_proba(matrix)
    assert len(seen_of(nb)) == PROFILES
    np.testing.assert_allclose(nb.predict_proba(sparse.csr_matrix(matrix)), p, atol=1e-12)


def test_whole_texts_are_known(tmp_path: Path) -> None:
    texts, y = letters(0)
    nb = NaiveBayes().fit(texts[:1500], y[:1500])
    assert len(seen_of(nb)) == 40
    assert "this very text was seen" in str(nb.explain(texts[:1])[0])
    p = nb.predict_proba(texts[1500:])
    explained = nb.explain(texts[1500:1510])
    for row, of_row in zip(explained, p[:10], strict=True):
        np.testing.assert_allclose(row.log_likelihood.sum(axis=0), row.joint, atol=1e-12)
        np.testing.assert_allclose(row.probability(0), of_row[0], atol=1e-12)
    nb.save(tmp_path / "rows.nb", keep_rows=True)
    again = load(tmp_path / "rows.nb")
    np.testing.assert_array_equal(again.predict_proba(texts[1500:]), p)
    assert seen_of(again.calibrate()) == seen_of(nb.calibrate())  # by texts that are words alone


def test_saved_and_pickled_it_is_the_same(
    fitted: tuple[NaiveBayes, Table, np.ndarray], tmp_path: Path
) -> None:
    nb, X, _ = fitted
    nb.save(tmp_path / "seen.nb")
    for again in (load(tmp_path / "seen.nb"), pickle.loads(pickle.dumps(nb))):  # noqa: S301
        assert seen_of(again) == seen_of(nb)
        np.testing.assert_array_equal(again.predict_proba(X), nb.predict_proba(X))


def test_merged_counts_add_and_forgotten_ones_are_gone(
    fitted: tuple[NaiveBayes, Table, np.ndarray],
) -> None:
    nb, X, y = fitted
    more, of_more, _ = profiles(0, 900, kind=str)
    other = NaiveBayes().fit(more, of_more)
    both = nb.model_ + other.model_
    assert both.seen is not None
    hashes, mine, theirs = both.seen.hashes, seen_of(nb), seen_of(other)
    np.testing.assert_array_equal(both.seen.count, mine.of(hashes) + theirs.of(hashes))
    assert theirs.amount <= both.seen.amount <= mine.amount or mine.amount <= both.seen.amount
    less = both - other.model_
    assert less.seen is not None
    np.testing.assert_array_equal(less.seen.count, mine.count)
    alone = nb.model_ + NaiveBayes(weights="temperature").fit(more, of_more).model_
    assert alone.seen == mine
    gone = np.flatnonzero((pd.DataFrame(X) == pd.DataFrame(X).iloc[0]).all(axis=1))
    left = pickle.loads(pickle.dumps(nb)).forget(take(X, gone), y[gone])  # noqa: S301
    assert len(seen_of(left)) == PROFILES - 1
    assert "this very row" not in str(left.explain(take(X, np.s_[:1]))[0])
    half = pickle.loads(pickle.dumps(nb)).decay(0.5)  # noqa: S301
    np.testing.assert_array_equal(seen_of(half).count, mine.count / 2)


def test_more_rows_keep_it(fitted: tuple[NaiveBayes, Table, np.ndarray]) -> None:
    nb, X, y = fitted
    more = pickle.loads(pickle.dumps(nb)).partial_fit(take(X, np.s_[:20]), y[:20])  # noqa: S301
    assert seen_of(more) == seen_of(nb)


def test_what_cannot_hold_it_says_so(fitted: tuple[NaiveBayes, Table, np.ndarray]) -> None:
    nb, _, _ = fitted
    for export in (nb.export.scorecard, lambda: nb.export.sql("t"), nb.export.onnx):
        with pytest.warns(UserWarning, match="other programs leave out"):
            export()
    assert any("groups='copies'" in note for note in nb.notes_)
    assert "60 rows came more than once" in str(nb.weights_)


def test_a_level_that_was_never_seen_is_no_missing_cell() -> None:
    X, y, _ = profiles(3, kind=str)
    X["c0"] = np.where(X["c0"] == "red", None, X["c0"].astype(object))
    nb = NaiveBayes().fit(X, y)
    row = int(np.flatnonzero([cell is None for cell in X["c0"]])[0])
    other = {**take(X, [row]), "c0": np.array(["new"], object)}
    assert "this very row" in str(nb.explain(take(X, [row]))[0])
    assert "this very row" not in str(nb.explain(other)[0])


def test_a_class_without_rows_and_rows_without_cells_harm_nobody() -> None:
    X, y, _ = profiles(0, kind=str)
    X = {name: np.append(column, None) for name, column in X.items()}
    nb = NaiveBayes(class_prior="uniform").partial_fit(
        X, np.append(y, "ok"), classes=["fail", "later", "ok"]
    )
    assert len(seen_of(nb)) == PROFILES
    assert np.isfinite(nb.predict_proba(X)).all()


@pytest.mark.parametrize("weight", [0.1, 10.0])
def test_a_weighed_row_is_forgotten_as_it_was_learned(weight: float) -> None:
    X, y, _ = profiles(0, kind=str)
    weights = np.full(len(y), weight)
    nb = NaiveBayes().fit(X, y, weights)
    before = seen_of(nb).count.sum()
    nb.forget(take(X, np.s_[:5]), y[:5], weights[:5])
    assert seen_of(nb).count.sum() == pytest.approx(before - 5)
