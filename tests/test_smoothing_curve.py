"""A point of a smoothing curve is a model with that pseudo-count; leaving out is refitting."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import MultinomialNB as Theirs

from naively import (
    Bernoulli,
    Beta,
    Categorical,
    Gaussian,
    Histogram,
    MultinomialNB,
    NaiveBayes,
    Text,
)
from naively.assess import curves as module
from tests.test_learning_curve import levels, numbers, rows_of, texts, truths

VALUES = [0.0, 0.5, 1.0, 7.5]
CASES = {
    "numbers": (numbers, "auto"),
    "gaussian": (numbers, "gaussian"),
    "truths": (truths, "auto"),
    "mixed": (levels, "auto"),
    "levels": (levels, {"colour": "categorical", "number": "gaussian"}),
    "texts": (texts, Text()),
}


def points(curve, which: str) -> dict[float, tuple[float, float]]:
    found = curve.to_dict()
    lines = zip(*(found[n] for n in ("which", "smoothing", "accuracy", "log_loss")), strict=True)
    return {value: (a, loss) for name, value, a, loss in lines if name == which}


@pytest.mark.parametrize("weights", [None, "loo"])
@pytest.mark.parametrize("case", CASES)
def test_a_point_is_a_model_with_that_pseudo_count(case: str, weights) -> None:
    make, event_models = CASES[case]
    X, y = make()
    even, odd = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    train, test = (rows_of(X, even), y[even]), (rows_of(X, odd), y[odd])
    nb = NaiveBayes(event_models, weights=weights).fit(*train)
    curve = nb.curve.smoothing(*test, values=VALUES)
    held_out, training = points(curve, "held-out"), points(curve, "training")
    assert list(held_out) == list(training) == VALUES
    for value in VALUES:
        fresh = NaiveBayes(event_models, smoothing=value, weights=None).fit(*train)
        for found, rows in ((held_out[value], test), (training[value], train)):
            expected = fresh.evaluate(*rows)
            assert found[0] == pytest.approx(expected.accuracy, abs=1e-12)
            assert found[1] == pytest.approx(expected.log_loss, rel=1e-10, abs=1e-12)
    assert len({loss for _, loss in held_out.values()}) > 1


@pytest.mark.slow
@pytest.mark.parametrize("case", ["truths", "gaussian", "texts", "levels"])
def test_leaving_out_is_learning_the_other_rows(case: str) -> None:
    make, event_models = CASES[case]
    X, y = make()
    n = 24
    X, y = rows_of(X, np.arange(n)), y[:n]
    if case == "gaussian":
        X, y = rows_of(numbers()[0], np.arange(0, 144, 6)), numbers()[1][:144:6]
    elif case == "levels":
        X, event_models = {"colour": X["colour"]}, "categorical"
    nb = NaiveBayes(event_models, weights=None).fit(X, y)
    left_out = points(nb.curve.smoothing(values=VALUES), "leave-one-out")
    for value in VALUES[1:] if case == "gaussian" else VALUES:  # whose variance has a floor
        hits, losses = [], []
        for i in range(n):
            rest = np.delete(np.arange(n), i)
            fresh = NaiveBayes(event_models, smoothing=value, weights=None)
            fresh.fit(rows_of(X, rest), y[rest])
            one = fresh.evaluate(rows_of(X, np.array([i])), y[i : i + 1])
            hits.append(one.accuracy)
            losses.append(one.log_loss)
        assert left_out[value][0] == pytest.approx(np.mean(hits), abs=1e-12)
        assert left_out[value][1] == pytest.approx(np.mean(losses), rel=1e-6)


def test_a_row_of_weight_2_is_two_rows() -> None:
    X, y = truths()
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    several = NaiveBayes("bernoulli", weights=None).fit(X.repeat(weight, 0), y.repeat(weight))
    expected = several.curve.smoothing(values=VALUES)
    nb = NaiveBayes("bernoulli", weights=None).fit(X, y, weight)
    found = nb.curve.smoothing(values=VALUES)
    assert found.which == expected.which
    training = points(found, "training"), points(expected, "training")
    for value in VALUES:
        assert training[0][value] == pytest.approx(training[1][value])


def test_only_class_of_its_row_is_gone_when_it_is_left_out() -> None:
    nb = NaiveBayes("bernoulli", weights=None).fit([[0], [1], [1]], ["a", "a", "b"])
    left = points(nb.curve.smoothing(values=[1]), "leave-one-out")[1]
    # The row of b is then of a for sure; those of a have a p(b) that follows from what is left.
    first = 0.5 * (1 / 3) / (0.5 * (1 / 3) + 0.5 * (1 / 3))  # 0 is false once in b's one: (1) / 3
    second = 0.5 * (1 / 3) / (0.5 * (1 / 3) + 0.5 * (2 / 3))
    losses = [-np.log(first), -np.log(second), -np.log(1e-15)]
    assert left[1] == pytest.approx(np.mean(losses))


def test_a_row_that_is_impossible_in_every_class_has_the_prior_of_the_others() -> None:
    X, y = [[1, 1], [0, 0], [0, 0], [0, 0], [0, 0]], ["a", "a", "a", "a", "b"]
    nb = NaiveBayes("bernoulli", weights=None).fit(X, y)
    found = nb.curve.smoothing(values=[0])
    losses = []
    for i in range(5):
        rest = [j for j in range(5) if j != i]
        fresh = NaiveBayes("bernoulli", smoothing=0, weights=None)
        fresh.fit([X[j] for j in rest], [y[j] for j in rest])
        losses.append(fresh.evaluate([X[i]], [y[i]]).log_loss)
    assert losses[0] == pytest.approx(-np.log(3 / 4))  # of four other rows, three are of a
    assert points(found, "leave-one-out")[0][1] == pytest.approx(np.mean(losses))


def test_what_the_counts_make_of_a_column_has_the_pseudo_count_too() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = (rng.random((60, 3)) < 0.2 + 0.5 * y[:, None]).astype(float)
    more, label = [[2.0, 0.5, 7.0]], [1]
    nb = NaiveBayes(weights=None).fit([*X.tolist(), *more], [*y, *label]).forget(more, label)
    assert {group.event.name for group in nb.model_.counted.schema.groups} == {"histogram"}
    found = points(nb.curve.smoothing(X, y, values=[9]), "held-out")[9]
    fresh = NaiveBayes("bernoulli", smoothing=9, weights=None).fit(X, y).evaluate(X, y)
    assert found == pytest.approx((fresh.accuracy, fresh.log_loss))


def test_texts_without_a_word_that_is_learned_from() -> None:
    X, y = texts()
    nb = NaiveBayes(Text(min_df=1000), weights=None).fit(X, y)
    found = points(nb.curve.smoothing(X, y, values=[1]), "held-out")[1]
    expected = nb.evaluate(X, y)
    assert found == pytest.approx((expected.accuracy, expected.log_loss))


def test_nothing_is_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = truths()
    nb = NaiveBayes("bernoulli", weights=None).fit(X, y)
    nb.curve.smoothing(X, y, values=[1])  # the sample is drawn

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("naively.events.base.EventModel.tally", refuse)
    nb.curve.smoothing(X, y, values=VALUES)


def test_it_is_scikit_learns_of_counts() -> None:
    X = np.random.default_rng(0).poisson(2.0, (60, 4))
    y = np.arange(60) % 3
    curve = MultinomialNB().fit(X[:40], y[:40]).curve.smoothing(X[40:], y[40:], values=[0.5, 3])
    for value, (accuracy, loss) in points(curve, "held-out").items():
        theirs = Theirs(alpha=value).fit(X[:40], y[:40])
        p = theirs.predict_proba(X[40:])[np.arange(20), y[40:]]
        assert accuracy == pytest.approx(theirs.score(X[40:], y[40:]))
        assert loss == pytest.approx(-np.log(p).mean())


def test_event_models_given_as_objects_are_smoothed_too() -> None:
    X, y = truths()
    given = {0: Bernoulli(prior=Beta(3, 3)), (1, 2): Bernoulli(m=2, p=0.3), (3, 4): Bernoulli(9.0)}
    nb = NaiveBayes(given, weights=None).fit(X, y)
    expected = NaiveBayes(Bernoulli(2.0), weights=None).fit(X, y).evaluate(X, y)
    found = points(nb.curve.smoothing(values=[2]), "training")[2]
    assert found == pytest.approx((expected.accuracy, expected.log_loss))


@pytest.mark.parametrize("event", [Histogram(m=5.0), Categorical(m=2.0), Gaussian()])
def test_a_point_is_of_the_usual_options(event) -> None:
    X, y = load_iris(return_X_y=True)
    nb = NaiveBayes(event, weights=None).fit(X.round(), y)
    like = NaiveBayes(event.name, smoothing=2.0, weights=None).fit(X.round(), y)
    found = points(nb.curve.smoothing(values=[2]), "training")[2]
    assert found[1] == pytest.approx(like.evaluate(X.round(), y).log_loss)


def test_what_cannot_be_is_a_sentence() -> None:
    X, y = truths()
    nb = NaiveBayes("bernoulli").fit(X, y)
    for wrong in (-0.1, np.nan, np.inf, "one", True):
        with pytest.raises(ValueError, match="A pseudo-count must be a number of at least 0"):
            nb.curve.smoothing(values=[1, wrong])
    with pytest.raises(ValueError, match="values is empty"):
        nb.curve.smoothing(values=[])
    mle = NaiveBayes("bernoulli", estimate="mle", weights=None).fit(X, y)
    with pytest.raises(ValueError, match=r"nothing to smooth: no event model \(bernoulli\) adds"):
        mle.curve.smoothing()
    nb.forget(X[:1], y[:1])
    with pytest.raises(ValueError, match="rows that were learned are not in memory"):
        nb.curve.smoothing()
    assert set(nb.curve.smoothing(X, y, values=[1]).which) == {"held-out"}


def test_what_leave_one_out_has_chosen_is_said_and_marked() -> None:
    X, y = truths()
    nb = NaiveBayes("bernoulli").fit(X, y)
    curve = nb.curve.smoothing(X, y)
    (group,) = nb.model_.view.schema.groups
    chosen = group.event.settled(nb.model_.view.counts[group.key]).alpha
    assert curve.chosen == {"bernoulli": chosen}
    assert not NaiveBayes("bernoulli", smoothing=1).fit(X, y).curve.smoothing(values=[1]).chosen
    for metric in ("accuracy", "log_loss"):
        ax = curve.plot(metric=metric)
        lines = {line.get_label(): line for line in ax.get_lines()}
        for name in ("held-out", "leave-one-out", "training"):
            found = points(curve, name)
            np.testing.assert_allclose(lines[name].get_xdata(), list(found))
            at = 0 if metric == "accuracy" else 1
            np.testing.assert_allclose(lines[name].get_ydata(), [of[at] for of in found.values()])
        (auto,) = (line for name, line in lines.items() if name.startswith("auto"))
        assert auto.get_xdata()[0] == pytest.approx(chosen)
        assert [text.get_text() for text in ax.texts] == ["0", "½", "1"]
        assert [text.xy[0] for text in ax.texts] == [0.0, 0.5, 1.0]
        assert ax.get_xscale() == "symlog"


def test_a_curve_of_few_points_has_all_of_them_below_the_axis() -> None:
    X, y = truths()
    ax = NaiveBayes("bernoulli").fit(X, y).curve.smoothing(values=[0.2, 0.7]).plot()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.2", "0.7"]
    assert [text.get_text() for text in ax.texts] == ["½"]
    assert module.VALUES[0] == 0
