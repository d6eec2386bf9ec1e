"""Nomograms: weights of values, which with the intercept sum to the log odds of explain."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

from naively import Bernoulli, Categorical, Gaussian, NaiveBayes
from naively.counting.axis import title_of_columns
from naively.counting.labels import encode_labels
from naively.data.frames import as_rows
from naively.inspect.odds import nomogram, round_numbers
from naively.inspect.rules import rules_of_rows

mpl.use("Agg")
RNG = np.random.default_rng(0)
N = 300
Y = np.array(["bird", "cat", "dog"])[RNG.integers(0, 3, N)]
TABLE = pd.DataFrame(
    {
        "weight": RNG.normal(np.where(Y == "bird", 1.0, 5.0), 1.0),
        "legs": RNG.poisson(np.where(Y == "bird", 2.0, 4.0)),
        "wings": np.where(RNG.random(N) < 0.9, Y == "bird", Y != "bird"),
        "coat": np.where(RNG.random(N) < 0.8, np.where(Y == "bird", "feathers", "fur"), "none"),
        "when": pd.date_range("2024-01-01", periods=N, freq="h"),
        "missing": np.where(RNG.random(N) < 0.5, np.nan, RNG.normal(size=N)),
    }
)
TWO = Y != "dog"


def sums_to_explain(nb, found, label, against):
    """Check sums of weights of random values of the scales against explanations."""
    rng = np.random.default_rng(1)
    order = nb.classes_.tolist()
    for _ in range(20):
        cells, total = {}, found.intercept
        for scale in found.scales:
            i = rng.integers(len(scale.value))
            cells[scale.column] = [scale.value[i]]
            total += scale.weight[i]
        table = pd.DataFrame({name: cells.get(name, [None]) for name in nb.schema_.names})
        table = table.astype({name: float for name in ("weight", "missing") if name in table})
        joint = nb.predict_joint_log_proba(table)[0]
        assert total == pytest.approx(joint[order.index(label)] - joint[order.index(against)])
        row = nb.explain(table)[0]
        if len(order) == 2:
            assert total == pytest.approx(row.log_odds(order.index(label)))


@pytest.mark.parametrize("weights", ["loo", None])
@pytest.mark.parametrize("event", ["auto", Gaussian(), Gaussian(variance="shared")])
def test_weights_of_two_classes_sum_to_the_log_odds(weights, event):
    models = "auto" if event == "auto" else {"weight": event, "legs": "poisson"}
    # Without the time, whose parts are columns that follow from it.
    nb = NaiveBayes(models, weights=weights).fit(TABLE[TWO].drop(columns="when"), Y[TWO])
    sums_to_explain(nb, nb.inspect.nomogram(), "cat", "bird")
    sums_to_explain(nb, nb.inspect.nomogram("bird"), "bird", "cat")


def test_weights_of_one_of_three_against_another_sum_too():
    nb = NaiveBayes().fit(TABLE.drop(columns="when"), Y)
    found = nb.inspect.nomogram("dog", against="bird")
    assert (found.label, found.against) == ("dog", "bird")
    sums_to_explain(nb, found, "dog", "bird")


def test_against_all_others_they_are_one_class_by_their_priors():
    nb = NaiveBayes({"coat": Categorical(alpha=1.0)}, weights=None).fit(TABLE[["coat"]], Y)
    found = nb.inspect.nomogram("bird")
    prior = np.array([(label == Y).mean() for label in ("bird", "cat", "dog")])
    assert found.against is None
    assert found.intercept == pytest.approx(logit(prior[0]))
    table = found.to_dict()
    for value, weight in zip(table["value"], table["weight"], strict=True):
        # Of one column it is exact: the log odds are those of predict_proba.
        p = nb.predict_proba({"coat": [value]})[0, 0]
        assert found.intercept + weight == pytest.approx(logit(p))
    assert "all others are taken as one class" in str(found)


def test_the_scale_below_is_the_probability():
    nb = NaiveBayes().fit(TABLE[TWO], Y[TWO])
    found = nb.inspect.nomogram()
    for p, total in found.probabilities.items():
        assert 1 / (1 + np.exp(-(total + found.intercept))) == pytest.approx(p)


def test_the_widest_columns_come_first_and_it_says_how_many_there_are():
    nb = NaiveBayes().fit(TABLE[TWO], Y[TWO])
    every, two = nb.inspect.nomogram(n=99), nb.inspect.nomogram(n=2)
    widths = [scale.high - scale.low for scale in every.scales]
    assert widths == sorted(widths, reverse=True)
    assert [scale.column for scale in two.scales] == [s.column for s in every.scales[:2]]
    assert f"the 2 columns of widest range, of {len(every.scales)}" in str(two)
    for scale in every.scales:
        assert scale.low - 1e-12 <= scale.weight.min() <= scale.weight.max() <= scale.high + 1e-12


def test_marks_are_at_the_weights():
    X = TABLE[TWO][["weight", "coat"]]
    nb = NaiveBayes({"weight": "gaussian"}, weights=None).fit(X, Y[TWO])
    found = nb.inspect.nomogram()
    ax = found.plot()
    marks = [line for line in ax.lines if line.get_marker() == "|"]
    for y, scale in enumerate(found.scales):
        assert marks[y].get_xdata() == pytest.approx(np.clip(scale.weight, -12, 12))
        assert set(marks[y].get_ydata()) == {y}
    written = {text.get_text() for text in ax.texts}
    assert {"feathers", "0.5", "0.99"} <= written
    assert "nats" in ax.get_xlabel()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [*(scale.column for scale in found.scales), "sum of weights", "p(cat)"]


def test_truths_levels_and_what_is_impossible():
    X = {"wings": [True, True, False, False], "coat": ["f", "f", "g", "g"]}
    nb = NaiveBayes(
        {"wings": Bernoulli(alpha=1.0), "coat": Categorical(alpha=0.0)}, weights=None
    ).fit(X, ["bird", "bird", "cat", "cat"])
    found = {scale.column: scale for scale in nb.inspect.nomogram("bird").scales}
    assert found["wings"].value == [False, True]
    assert found["wings"].weight == pytest.approx([np.log(1 / 3), np.log(3)])
    assert found["coat"].weight.tolist() == [np.inf, -np.inf]
    nb.inspect.nomogram("bird").plot()


def test_texts_and_interactions_are_left_out_and_it_says_so():
    text = np.where(Y == "cat", "it sits on the mat and purrs", "it flies or it barks all day")
    nb = NaiveBayes({"text": "text"}).fit(pd.DataFrame({"text": text, "legs": TABLE["legs"]}), Y)
    assert "texts are left out" in str(nb.inspect.nomogram())
    with pytest.raises(ValueError, match="no column whose cells have a weight each; see explain"):
        NaiveBayes().fit(list(text), Y).inspect.nomogram()


def test_many_levels_are_those_that_came_most():
    level = np.array([f"l{min(i, 30)}" for i in np.arange(N) % 60])
    scale = NaiveBayes().fit({"level": level}, Y).inspect.nomogram().scales[0]
    assert len(scale.value) == 12
    assert scale.more == 19
    assert "l30" in scale.value


def test_wrong_arguments_are_one_sentence():
    nb = NaiveBayes().fit(TABLE, Y)
    with pytest.raises(ValueError, match="n must be at least 1"):
        nb.inspect.nomogram(n=0)
    with pytest.raises(ValueError, match="no class 'fish'; the classes are 'bird', 'cat', 'dog'"):
        nb.inspect.nomogram("fish")
    with pytest.raises(ValueError, match="no class 'fish'"):
        nb.inspect.nomogram("cat", against="fish")
    with pytest.raises(ValueError, match="compares two classes, got 'cat' twice"):
        nb.inspect.nomogram("cat", against="cat")
    with pytest.raises(ValueError, match="only one was learned"):
        NaiveBayes().fit([[1.0], [2.0]], ["a", "a"]).inspect.nomogram()


@pytest.mark.parametrize(
    ("low", "high"), [(0.3, 9.9), (-1e-7, 3e-7), (1e9, 1.0001e9), (17, 90), (-3, 1e6)]
)
def test_round_numbers_are_few_and_within(low, high):
    found = round_numbers(low, high)
    assert 3 <= len(found) <= 9
    assert low <= found[0] < found[-1] <= high
    steps = np.diff(found)
    np.testing.assert_allclose(steps, steps[0], rtol=1e-6)
    mantissa = steps[0] / 10 ** np.floor(np.log10(steps[0] * (1 + 1e-9)))
    assert min(abs(mantissa - of) for of in (1, 2, 2.5, 5)) < 1e-3
    assert round_numbers(low, low).tolist() == [low]
    whole = round_numbers(low, high + 5, whole=True)
    assert (whole == np.rint(whole)).all()


def test_evidence_without_end_is_drawn_as_such() -> None:
    X = {"a": ["u", "u", "v", "v", "w", "w"]}
    nb = NaiveBayes("categorical", weights=None, smoothing=0).fit(X, ["p", "p", "p", "n", "n", "n"])
    ax = nb.inspect.nomogram().plot()
    written = {text.get_text() for text in ax.texts}
    assert {"u (+∞)", "w (-∞)", "v"} <= written
    markers = {line.get_marker() for line in ax.lines}
    assert {"<", ">", "|"} <= markers
    ends = {line.get_marker(): line.get_xdata()[0] for line in ax.lines if len(line.get_xdata())}
    (scale,) = nb.inspect.nomogram().scales
    finite = scale.weight[np.isfinite(scale.weight)]
    assert ends["<"] < finite.min() <= finite.max() < ends[">"] < 1  # no number of nats
    (zero,) = (text.get_position()[0] for text in ax.texts if text.get_text() == "0.5")
    assert zero == pytest.approx(0.0)  # of a prior of a half: the sums have the weights' zero


def test_what_rules_say_has_a_scale_and_without_a_sample_each_cell_is_on_it() -> None:
    rng = np.random.default_rng(1)
    X = {"a": rng.normal(size=900), "b": rng.normal(size=900)}
    y = np.where((np.abs(X["a"]) > 0.7) ^ (np.abs(X["b"] - 0.3) > 0.6), "yes", "no")
    nb = NaiveBayes(interactions="auto").fit(X, y)
    assert nb.weights_ is not None
    assert nb.weights_.linear.rules
    batch = nb.model_.counted.schema.encode(as_rows(X), encode_labels(y), nb.model_.view.axes)
    each = rules_of_rows(nb.model_.terms.several[-1], batch.blocks)
    told = {title_of_columns(of): added for of, _, added in each}
    added = told["a × b"][:, 1] - told["a × b"][:, 0]
    for found in (nb.inspect.nomogram("yes"), nomogram(nb.model_, "yes", None)):
        scale = next(of for of in found.scales if of.column == "a × b")
        assert scale.low <= added.min() <= added.max() <= scale.high
    # With the rows it is what they add on average, and the best rule has the quadrants.
    scale = next(of for of in nb.inspect.nomogram("yes").scales if of.column == "a × b")
    assert (scale.low, scale.high) == pytest.approx((added.min(), added.max()))
    assert scale.weight.min() < -1 < 1 < scale.weight.max()
    assert "mean over the rows" in str(nb.inspect.nomogram("yes"))
    assert "mean over the rows" not in str(nomogram(nb.model_, "yes", None))
