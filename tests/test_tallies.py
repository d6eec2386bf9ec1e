"""Counts of several tallies side by side, and rows that fade."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from naively import Counts, Fading, NaiveBayes

mpl.use("Agg")
MONDAY = NaiveBayes().fit({"s": ["u", "u", "v"]}, ["ham", "ham", "spam"])
TUESDAY = NaiveBayes().fit({"s": ["w", "u"]}, ["spam", "virus"])


def test_classes_of_tallies_and_of_their_sum():
    tallies = {"monday": MONDAY.tally_, "tuesday": TUESDAY.tally_}
    found = Counts.of({**tallies, "merged": MONDAY.tally_ + TUESDAY.tally_})
    assert found.to_dict() == {
        "class": ["ham", "spam", "virus"],
        "monday": [2, 1, 0],
        "tuesday": [0, 1, 1],
        "merged": [2, 2, 1],
    }
    ax = found.plot()
    for j, bars in enumerate(ax.containers):
        assert [bar.get_width() for bar in bars] == found.count[:, j].tolist()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [*tallies, "merged"]


def test_levels_of_models_and_of_their_sum():
    models = {"monday": MONDAY.model_, "tuesday": TUESDAY.model_}
    found = Counts.of_column({**models, "merged": MONDAY.model_ + TUESDAY.model_}, "s")
    table = found.to_dict()
    of = {level: [table[name][i] for name in found.names] for i, level in enumerate(table["s"])}
    assert of == {"u": [2, 1, 3], "v": [1, 0, 1], "w": [0, 1, 1]}
    with pytest.raises(ValueError, match="No levels of column 'x0' are counted in 'a'"):
        Counts.of_column({"a": NaiveBayes().fit([[1.0], [2.0]], [0, 1]).model_}, 0)


def test_a_tally_draws_its_classes():
    ax = MONDAY.tally_.plot()
    assert [bar.get_width() for bar in ax.containers[0]] == [2, 1]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ham", "spam"]
    assert ax.get_legend() is None
    many = NaiveBayes().fit(np.arange(60.0)[:, None], np.arange(60) % 30)
    assert "and 20 more classes" in " ".join(text.get_text() for text in many.tally_.plot().texts)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.0, 0.9, 0.5])
def test_fading_is_what_a_model_does_that_decays(factor):
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 9, 12).tolist()
    nb, effective = None, []
    for n in sizes:
        X, y = rng.normal(size=(n, 1)), np.arange(n) % 2
        if nb is None:
            nb = NaiveBayes(weights=None).fit(X, y)
        else:
            nb = nb.decay(factor).partial_fit(X, y)
        effective.append(float(nb.class_count_.sum()))
    found = Fading.of(sizes, factor)
    assert found.effective == pytest.approx(effective)
    assert found.to_dict()["new"] == sizes
    n = 0.0
    for new, held in zip(sizes, found.effective, strict=True):  # the recurrence itself
        n = factor * n + new
        assert held == pytest.approx(n)
    ax = found.plot()
    tops = np.sum([[bar.get_height() for bar in bars] for bars in ax.containers], axis=0)
    assert tops == pytest.approx(effective)
    assert len(ax.containers) == 8


def test_what_is_left_halves_in_a_half_life():
    found = Fading.of([100.0] * 9, 0.5 ** (1 / 4))
    assert found.half_life == pytest.approx(4)
    assert found.left[2, 6] == pytest.approx(50)
    assert found.left[6, 2] == 0
    assert Fading.of([1.0], 1.0).half_life == np.inf


def test_batches_may_be_tallies():
    found = Fading.of([MONDAY.tally_, TUESDAY.tally_], 0.5)
    assert found.effective.tolist() == [3.0, 3.5]


@pytest.mark.parametrize("factor", [0.0, -1.0, 1.5, np.nan])
def test_a_wrong_factor_is_one_sentence(factor):
    with pytest.raises(ValueError, match="must be above 0 and at most 1"):
        Fading.of([1.0], factor)


@pytest.mark.parametrize("rows", [-1.0, np.nan, np.inf])
def test_a_wrong_number_of_rows_is_one_sentence(rows):
    with pytest.raises(ValueError, match="a number of rows that is at least 0"):
        Fading.of([rows], 0.5)
