"""A point of a learning curve is a model that learned these rows alone; nothing is refitted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris

from naively import Bernoulli, MultinomialNB, NaiveBayes, Text
from naively.assess import curves as module
from naively.assess.curves import LearningCurve, check_sizes, count_held_out

WORDS = ["cheap", "pills", "buy", "now", "lunch", "noon", "see", "you", "watch", "at"]
N = 80


def numbers():
    X, y = load_iris(return_X_y=True)
    X = X.copy()
    X[::7, 1] = np.nan
    return X, np.array(["s", "ve", "vi"])[y]


def truths():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, N)
    return (rng.random((N, 5)) < 0.3 + 0.4 * y[:, None]).astype(float), y


def levels():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, N)
    colour = np.array(["red", "blue", "green", "grey"])[(y + rng.integers(0, 2, N)) % 4]
    return {"colour": colour, "size": rng.normal(size=N) + y, "truth": (y > 0) * 1}, y


def texts():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, N)
    drawn = [rng.choice(WORDS[:7] if c else WORDS[3:], rng.integers(1, 6)) for c in y]
    return [" ".join(words) for words in drawn], np.array(["ham", "spam"])[y]


def rows_of(X, some):
    if isinstance(X, dict):
        return {name: np.asarray(column)[some] for name, column in X.items()}
    return [X[i] for i in some] if isinstance(X, list) else X[some]


CASES = {
    "numbers": (numbers, "auto"), "gaussian": (numbers, "gaussian"), "truths": (truths, "auto"),
    "given": (truths, Bernoulli(0.3)), "mixed": (levels, "auto"), "texts": (texts, "text"),
    "rare words": (texts, Text(min_df=3)),
}  # fmt: skip


def of(curve: LearningCurve, size: int, repeat: int, which: str) -> tuple[float, float, int]:
    columns = curve.to_dict()
    for line in zip(*columns.values(), strict=True):
        found = dict(zip(columns, line, strict=True))
        if (found["size"], found["repeat"], found["which"]) == (size, repeat, which):
            return found["accuracy"], found["log_loss"], found["classes"]
    raise AssertionError


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("own_test", [False, True])
def test_a_point_is_a_model_of_these_rows_alone(case: str, own_test: bool) -> None:
    make, event_models = CASES[case]
    X, y = make()
    n, rng = len(y), np.random.default_rng(4)
    sizes = [3, 10, 41]
    nb = NaiveBayes(event_models)
    if own_test:
        X_test, y_test = rows_of(X, np.arange(0, n, 3)), y[::3]
        rest = np.setdiff1d(np.arange(n), np.arange(0, n, 3))
        X, y = rows_of(X, rest), y[rest]
        how = {"sizes": sizes, "repeats": 2, "random_state": 4}
        curve = nb.curve.learning(X, y, test=(X_test, y_test), **how)
    else:
        curve = nb.curve.learning(X, y, test=17, sizes=sizes, repeats=2, random_state=4)
    for repeat in range(2):
        order = rng.permutation(len(y))
        if not own_test:
            aside = order[-17:]
            X_test, y_test = rows_of(X, aside), y[aside]
        for size in sizes:
            some = order[:size]
            fresh = NaiveBayes(event_models, weights=None).fit(rows_of(X, some), y[some])
            for which, at, right in (
                ("training", rows_of(X, some), y[some]),
                ("held-out", X_test, y_test),
            ):
                found, expected = of(curve, size, repeat, which), fresh.evaluate(at, right)
                assert found[0] == pytest.approx(expected.accuracy, abs=1e-12)
                assert found[1] == pytest.approx(expected.log_loss, rel=1e-9, abs=1e-12)
                assert found[2] == len(fresh.classes_)


@pytest.mark.parametrize("case", ["numbers", "texts"])
def test_with_weights_it_is_what_fit_gives(case: str) -> None:
    make, event_models = CASES[case]
    X, y = make()
    curve = NaiveBayes(event_models).curve.learning(
        X, y, test=20, sizes=[40], repeats=1, weights=True, random_state=4
    )
    order = np.random.default_rng(4).permutation(len(y))
    fresh = NaiveBayes(event_models).fit(rows_of(X, order[:40]), y[order[:40]])
    expected = fresh.evaluate(rows_of(X, order[-20:]), y[order[-20:]])
    pure = NaiveBayes(event_models, weights=None).fit(rows_of(X, order[:40]), y[order[:40]])
    plain = pure.evaluate(rows_of(X, order[-20:]), y[order[-20:]]).log_loss
    assert of(curve, 40, 0, "held-out")[1] == pytest.approx(expected.log_loss, rel=1e-4)
    assert abs(plain - expected.log_loss) > 1e-3


def test_each_row_is_counted_once_in_a_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    count = module.count_batch

    def watched(batch, schema):
        counted.append(len(batch))
        return count(batch, schema)

    monkeypatch.setattr(module, "count_batch", watched)
    NaiveBayes().curve.learning(*numbers(), test=50, sizes=[10, 30, 70], repeats=2)
    assert counted == [10, 20, 40] * 2


def test_a_class_that_has_not_come_has_posterior_0() -> None:
    X, y = truths()
    X_test, y_test = X[:10], np.where(y[:10] > 0, "new", "known")
    curve = NaiveBayes().curve.learning(
        X, np.where(y > 0, "other", "known"), test=(X_test, y_test), sizes=[1, 60], repeats=1
    )
    accuracy, loss, classes = of(curve, 1, 0, "held-out")
    share = float((y_test == "new").mean())
    first = np.random.default_rng(0).permutation(N)[0]
    missed = 1.0 if y[first] else share  # of the class that came first, all other rows are missed
    assert classes == 1
    assert accuracy == pytest.approx(1 - missed)
    assert loss == pytest.approx(-np.log(1e-15) * missed)
    assert of(curve, 60, 0, "held-out")[1] > -np.log(1e-15) * share


def test_a_given_class_prior_is_that_among_the_classes_that_came() -> None:
    X, y = numbers()
    prior = {"s": 0.2, "ve": 0.3, "vi": 0.5}
    nb = NaiveBayes("gaussian", class_prior=prior)
    curve = nb.curve.learning(X, y, test=(X, y), sizes=[2, 150], repeats=1, random_state=3)
    first = np.random.default_rng(3).permutation(150)[:2]
    assert set(y[first]) == {"s", "vi"}
    then = NaiveBayes("gaussian", class_prior={"s": 2 / 7, "vi": 5 / 7}, weights=None)
    expected = then.fit(X[first], y[first]).evaluate(X, y)
    assert of(curve, 2, 0, "held-out")[1] == pytest.approx(expected.log_loss)
    assert of(curve, 150, 0, "held-out")[2] == 3


def test_it_needs_no_fit_and_changes_nothing() -> None:
    X, y = numbers()
    nb = NaiveBayes()
    nb.curve.learning(X, y, repeats=1, sizes=[10])
    assert "model_" not in vars(nb)
    nb.fit(X[:50], y[:50])
    before = vars(nb).copy()
    nb.curve.learning(X, y, repeats=1, sizes=[10])
    assert vars(nb) == before


def test_drop_ins_have_curves() -> None:
    X = np.random.default_rng(0).poisson(2.0, (60, 4))
    y = np.arange(60) % 2
    curve = MultinomialNB(alpha=0.7).curve.learning(X, y, test=10, sizes=[5, 50], repeats=1)
    order = np.random.default_rng(0).permutation(60)
    fresh = MultinomialNB(alpha=0.7).fit(X[order[:50]], y[order[:50]])
    expected = fresh.evaluate(X[order[-10:]], y[order[-10:]])
    assert of(curve, 50, 0, "held-out")[1] == pytest.approx(expected.log_loss)


def test_tables_that_are_not_in_memory() -> None:
    pl = pytest.importorskip("polars")
    X, y = levels()
    frame = pl.DataFrame({**X, "y": y})
    nb = NaiveBayes()
    lazy = nb.curve.learning(frame.lazy(), "y", sizes=[10, 50], repeats=2)
    assert lazy.to_dict() == nb.curve.learning(frame, "y", sizes=[10, 50], repeats=2).to_dict()
    batches = nb.curve.learning(iter([frame[:30], frame[30:]]), "y", sizes=[10, 50], repeats=2)
    assert batches.log_loss == pytest.approx(lazy.log_loss)


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ([100], [100]), ([1.0], [100]), ([0.001, 0.25], [1, 25]), ([1.0, 10.0], [1, 10]),
        (np.array([5, 2, 5]), [2, 5]), (range(1, 4), [1, 2, 3]),
    ],
)  # fmt: skip
def test_sizes_are_counts_or_shares(sizes, found) -> None:
    assert check_sizes(sizes, 100) == found


def test_sizes_are_even_on_a_logarithmic_scale_by_default() -> None:
    sizes = check_sizes(None, 10_000)
    assert (sizes[0], sizes[-1], len(sizes)) == (10, 10_000, 10)
    ratios = [b / a for a, b in pairwise(sizes)]
    assert max(ratios) / min(ratios) < 1.1
    assert check_sizes(None, 3) == [3]


@pytest.mark.parametrize("sizes", [[0], [-1], [2.5], [0.0], ["ten"], [np.nan], [True], [None]])
def test_a_size_that_cannot_be_is_a_sentence(sizes) -> None:
    with pytest.raises(ValueError, match="sizes must be whole numbers of rows that are at least 1"):
        check_sizes(sizes, 100)


def test_more_rows_than_there_are() -> None:
    with pytest.raises(ValueError, match="There are 100 rows to learn, and sizes asks for 101"):
        check_sizes([10, 101], 100)
    with pytest.raises(ValueError, match="sizes is empty"):
        check_sizes([], 100)
    with pytest.raises(ValueError, match="10 of 10 rows cannot be held out"):
        count_held_out(10, 10)
    for wrong in (0, 1.5, -0.2, "some", np.nan):
        with pytest.raises(ValueError, match="test must be a share"):
            count_held_out(wrong, 10)
    with pytest.raises(ValueError, match="repeats must be"):
        NaiveBayes().curve.learning(*numbers(), repeats=0)


def test_the_picture_shows_mean_least_and_greatest() -> None:
    curve = NaiveBayes().curve.learning(*numbers(), sizes=[5, 20, 100], repeats=3)
    frame = curve.to_frame("pandas")
    for metric in ("accuracy", "log_loss"):
        ax = curve.plot(metric=metric)
        assert ax.get_xscale() == "log"
        lines = {line.get_label(): line for line in ax.get_lines()}
        assert set(lines) == {"held-out", "training"}
        assert lines["training"].get_linestyle() == "--"
        for (name, line), band in zip(lines.items(), ax.collections, strict=True):
            by_size = frame[frame.which == name].groupby("size")[metric]
            np.testing.assert_allclose(line.get_xdata(), [5, 20, 100])
            np.testing.assert_allclose(line.get_ydata(), by_size.mean())
            corners = band.get_paths()[0].vertices
            for size, least, most in zip(by_size.min().index, by_size.min(), by_size.max()):  # noqa: B905
                at = corners[corners[:, 0] == size, 1]
                assert at.min() == pytest.approx(least)
                assert at.max() == pytest.approx(most)
    with pytest.raises(ValueError, match="metric must be 'accuracy' or 'log_loss'"):
        curve.plot(metric="f1")


def test_it_draws_on_axes_that_are_given() -> None:
    curve = NaiveBayes().curve.learning(*numbers(), sizes=[20], repeats=1)
    _, ax = plt.subplots()
    assert curve.plot(ax=ax) is ax
    assert not ax.collections  # one order has no band
