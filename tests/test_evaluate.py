"""Scores of an estimator, of tables and streams, with weights; as a table, and as pictures."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb

import duckdb
import numpy as np
import polars as pl
import pytest
from matplotlib import pyplot as plt
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, log_loss, roc_curve

from naively import MultinomialNB, NaiveBayes
from naively.assess.intervals import Weighted
from naively.assess.scores import BINS, POINTS, Scores, mean_deviation, rank, reliability, scores


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(4)} | {"kind": names})
    weight = np.random.default_rng(0).integers(0, 4, 150).astype(float)
    frame = frame.with_columns(w=pl.Series(weight))
    columns = [f"x{j}" for j in range(4)]
    return NaiveBayes().fit(frame[::2].select(columns), names[::2]), frame, columns


def some_scores(k: int = 3, n: int = 500, seed: int = 0, rare: int = 0) -> Scores:
    rng = np.random.default_rng(seed)
    y = np.append(rng.integers(0, k, n), np.full(rare, k - 1))
    p = rng.dirichlet(np.ones(k) / 2, len(y)) + np.eye(k)[y] * rng.random((len(y), 1))
    p /= p.sum(axis=1, keepdims=True)
    labels = np.array([f"class ${i}" for i in range(k)])
    return scores(p, labels, labels[y])


def test_labels_are_an_array_or_a_column(iris) -> None:
    nb, frame, columns = iris
    y = frame["kind"].to_numpy()
    by_name, apart = nb.evaluate(frame.drop("w"), "kind"), nb.evaluate(frame.select(columns), y)
    assert by_name.to_dict() == apart.to_dict()
    assert apart.accuracy == pytest.approx(accuracy_score(y, nb.predict(frame.select(columns))))
    expected = log_loss(y, nb.predict_proba(frame.select(columns)))
    assert apart.log_loss == pytest.approx(expected)


def test_weights_are_scikit_learns(iris) -> None:
    nb, frame, columns = iris
    X, y, w = frame.select(columns), frame["kind"].to_numpy(), frame["w"].to_numpy()
    found = nb.evaluate(X, y, w)
    assert found.accuracy == pytest.approx(accuracy_score(y, nb.predict(X), sample_weight=w))
    assert found.log_loss == pytest.approx(log_loss(y, nb.predict_proba(X), sample_weight=w))
    with pytest.raises(ValueError, match="all sample weights are zero"):
        nb.evaluate(X, y, np.zeros(150))


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("kind", ["duckdb", "polars", "tables", "reader"])
def test_a_table_that_is_not_in_memory_is_scored_the_same(iris, kind: str, weight) -> None:
    nb, frame, _ = iris
    given = frame if weight else frame.drop("w")
    X = {
        "duckdb": lambda: duckdb.from_arrow(given.to_arrow()),
        "polars": given.lazy,
        "tables": lambda: iter([given[:40], given[40:41], given[41:]]),
        "reader": lambda: given.to_arrow().to_reader(max_chunksize=33),
    }[kind]()
    expected = nb.evaluate(frame.drop("w"), "kind", None if weight is None else frame["w"])
    found = nb.evaluate(X, "kind", weight)
    names = ("score", "class")
    assert [found.to_dict()[n] for n in names] == [expected.to_dict()[n] for n in names]
    assert found.to_dict()["value"] == pytest.approx(expected.to_dict()["value"])
    np.testing.assert_allclose(found.confusion, expected.confusion)


def test_what_cannot_be_scored_is_a_sentence(iris) -> None:
    nb, frame, columns = iris
    X, y = frame.select(columns), frame["kind"].to_list()
    for given, said in (
        ((X[:0], y[:0]), "no rows to score"),
        ((X, y[1:]), "150 rows to score, and 149 labels"),
        ((X, [*y[:3], None, *y[4:]]), "Row 3 has no label"),
        ((X[:3], [0.0, np.nan, 1.0]), "Row 1 has no label"),
        ((frame.lazy(), "sort"), "no target column 'sort'"),
        ((frame.lazy(), "kind", "v"), "no column of weights 'v'"),
        ((frame.lazy().filter(pl.col("w") > 9), "kind"), "no rows to score"),
    ):
        with pytest.raises(ValueError, match=said):
            nb.evaluate(*given)
    with pytest.raises(ValueError, match="not fitted"):
        NaiveBayes().evaluate(X, y)


def test_drop_ins_are_scored() -> None:
    X, y = np.random.default_rng(0).poisson(2.0, (60, 4)), np.arange(60) % 2
    nb = MultinomialNB().fit(X, y)
    assert nb.evaluate(X, y).log_loss == pytest.approx(log_loss(y, nb.predict_proba(X)))


def test_scores_are_a_tidy_table() -> None:
    found = some_scores()
    table = found.to_dict()
    assert list(table) == ["score", "class", "value", "low", "high"]
    ends = zip(table["low"], table["high"], strict=True)
    intervals = dict(zip(table["score"], ends, strict=True))
    assert intervals["accuracy"] == found.intervals["accuracy"]
    assert intervals["area under ROC"] == found.intervals["auc"]
    assert intervals["calibration error"] == (None, None)
    lines = list(zip(*(table[name] for name in ("score", "class", "value")), strict=True))
    assert lines[0] == ("rows", None, 500)
    assert ("log loss", None, found.log_loss) in lines
    for label, (precision, recall, rows) in found.by_class.items():
        assert ("precision", label, precision) in lines
        assert ("recall", label, recall) in lines
        assert ("rows", label, rows) in lines
    records = json.loads(found.to_json())
    low, high = found.intervals["accuracy"]
    right = {"score": "accuracy", "class": None, "value": found.accuracy, "low": low, "high": high}
    assert records[1] == right
    assert found.to_frame("pandas").shape == (7 + 9, 5)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 3), Fraction(9, 10), Fraction(1)])
def test_the_noise_of_a_bin_is_the_mean_over_all_outcomes(n: int, p: Fraction) -> None:
    expected = sum(comb(n, k) * p**k * (1 - p) ** (n - k) * abs(Fraction(k, n) - p)
                   for k in range(n + 1))  # fmt: skip
    assert mean_deviation(n, float(p)) == pytest.approx(float(expected), abs=1e-14)


def test_the_noise_is_what_calibrated_models_show() -> None:
    rng, errors, noise = np.random.default_rng(0), [], []
    labels = np.array(["a", "b", "c"])
    for _ in range(300):
        p = rng.dirichlet(np.ones(3), 90)
        right = (p.cumsum(axis=1) < rng.random((90, 1))).sum(axis=1)
        found = scores(p, labels, labels[right])
        errors.append(found.calibration_error)
        noise.append(found.calibration_noise)
    assert np.mean(noise) == pytest.approx(np.mean(errors), rel=0.03)


def test_copies_are_rows_of_their_own_and_weights_are_not() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(2), 40)
    truth, copies = np.eye(2)[rng.integers(0, 2, 40)], rng.integers(1, 5, 40)
    surest = p.max(axis=1), truth[np.arange(40), p.argmax(axis=1)] == 1
    one_by_one = reliability(*(each.repeat(copies) for each in surest))
    together = reliability(*surest, copies.astype(float), copies)
    for a, b in zip(one_by_one, together, strict=True):
        assert (a.rows, a.size) == (b.rows, b.size)
        assert (a.confidence, a.accuracy) == pytest.approx((b.confidence, b.accuracy))
    scaled = reliability(*surest, np.full(40, 7.5))
    assert [b.size for b in scaled] == [b.size for b in reliability(*surest)]


def test_the_reliability_diagram_is_scikit_learns_curve() -> None:
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(2), 400)
    y = (rng.random(400) < p[:, 1] ** 2).astype(int)
    found = scores(p, np.array([0, 1]), y)
    ax = found.plot_reliability()
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    name = f"calibration error (ECE) {found.calibration_error:.3f}"
    assert name in legend
    assert f"95 % of calibrated models (ECE {found.calibration_noise:.3f})" in legend
    (line,) = (line for line in ax.get_lines() if line.get_label() == name)
    hit, confidence = (p.argmax(axis=1) == y).astype(int), p.max(axis=1)
    accuracy, mean = calibration_curve(hit, confidence, n_bins=10, strategy="quantile")
    np.testing.assert_allclose(line.get_xdata(), mean)
    np.testing.assert_allclose(line.get_ydata(), accuracy)
    assert [bin_.rows for bin_ in found.tenths] == [40] * 10
    band = ax.collections[0].get_paths()[0].vertices
    low, high = (stats.binom.ppf(tail, 40, mean) / 40 for tail in (0.025, 0.975))
    assert {*np.round(band[:, 1], 9)} >= {*np.round(low, 9), *np.round(high, 9)}
    bars = [bar.get_height() for bar in ax.patches]
    accuracy, mean = calibration_curve(hit, confidence, n_bins=BINS)
    np.testing.assert_allclose([bin_.accuracy for bin_ in found.reliability], accuracy)
    rows = np.array([bin_.rows for bin_ in found.reliability])
    np.testing.assert_allclose(bars / max(bars), rows / rows.max())
    assert f"{rows.max():.0f} rows" in [text.get_text() for text in ax.texts]


def test_rows_of_equal_confidence_are_in_one_tenth() -> None:
    p = np.repeat([0.6, 0.75, 1.0], [5, 15, 180])
    found = scores(np.stack([p, 1 - p], axis=1), np.array([0, 1]), np.zeros(200, int))
    expected = [(20, pytest.approx(0.7125)), (180, 1.0)]
    assert [(bin_.rows, bin_.confidence) for bin_ in found.tenths] == expected
    found.plot_reliability()


def test_a_second_line_is_of_other_scores(iris) -> None:
    nb, frame, columns = iris
    pure = NaiveBayes(weights=None).fit(frame[::2].select(columns), frame["kind"][::2])
    now, before = (of.evaluate(frame.drop("w"), "kind") for of in (nb, pure))
    ax = now.plot_reliability(before=before)
    lines = {line.get_label(): line for line in ax.get_lines()}
    line = lines[f"before: calibration error (ECE) {before.calibration_error:.3f}"]
    np.testing.assert_allclose(line.get_ydata(), [b.accuracy for b in before.tenths])
    assert f"now: calibration error (ECE) {now.calibration_error:.3f}" in lines


@pytest.mark.parametrize("k", [2, 5, 9, 30])
def test_the_confusion_table_is_drawn_with_its_numbers(k: int) -> None:
    found = some_scores(k, 60 * k)
    ax = found.plot_confusion()
    shares = found.confusion / found.confusion.sum(axis=1, keepdims=True)
    full = np.array([cell.get_alpha() for cell in ax.patches]).reshape(k, k)
    np.testing.assert_allclose(full, 0.5 * shares)
    assert [cell.get_xy() for cell in ax.patches[:2]] == [(-0.5, -0.5), (0.5, -0.5)]
    said = {text.get_position(): text.get_text() for text in ax.texts}
    i, j = 1, 0 if found.confusion[1, 0] else 1
    count, share = int(found.confusion[i, j]), shares[i, j]
    expected = (
        f"{count}\n{share:.0%}" if k <= 6 else f"{count}" if k <= 10 else f"{100 * share:.0f}"
    )
    assert said[j, i] == expected
    assert len(said) == (found.confusion > 0).sum()
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names[0] == rf"class \$0 ({found.confusion[0].sum()})"


def test_of_many_classes_the_most_confused_pairs_are_drawn() -> None:
    found = some_scores(31, 3000)
    ax = found.plot_confusion()
    off = found.confusion * (1 - np.eye(31, dtype=int))
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == sorted(off.ravel().tolist(), reverse=True)[:15]
    i, j = divmod(int(off.argmax()), 31)
    first = ax.get_yticklabels()[0].get_text()
    classes = [label.replace("$", r"\$") for label in found.classes]
    assert first == f"{classes[i]} as {classes[j]}"
    assert f"{off.sum():,} of 3,000 rows of 31 classes are missed" in ax.get_title(loc="right")


def test_a_perfect_model_of_many_classes_has_no_pair() -> None:
    labels = np.arange(40)
    ax = scores(np.eye(40), labels, labels).plot_confusion()
    assert not ax.patches
    assert "0 of 40 rows" in ax.get_title(loc="right")


def test_what_columns_are_worth_is_drawn_from_the_most_on(iris) -> None:
    found = iris[0].assess()
    ax = found.plot_columns(n=3)
    most = sorted(found.cost.items(), key=lambda item: -item[1])[:3]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([cost for _, cost in most])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [name for name, _ in most]
    assert "3 of 4" in ax.get_title(loc="right")
    with pytest.raises(ValueError, match=r"draw it by nb.assess\(\)"):
        some_scores().plot_columns()
    with pytest.raises(ValueError, match="n must be"):
        found.plot_columns(n=0)


@pytest.mark.parametrize("weighed", [False, True])
def test_the_roc_curve_is_scikit_learns(weighed: bool) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200).astype(float)
    score = (rng.random(200) + truth / 2).round(2)
    weight = rng.integers(1, 4, 200).astype(float) if weighed else None
    found = rank(score, truth, Weighted(weight)).roc
    false_positive, true_positive, _ = roc_curve(
        truth, score, sample_weight=weight, drop_intermediate=False
    )
    rises = np.append(True, np.diff(true_positive) > 0)
    corners = rises | np.append(rises[1:], True)
    np.testing.assert_allclose(found.false_positive_rate, false_positive[corners])
    np.testing.assert_allclose(found.true_positive_rate, true_positive[corners])


def test_a_long_roc_curve_is_thinned() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 5000).astype(float)
    found = rank(rng.random(5000), truth, Weighted(None)).roc
    x, y = found.false_positive_rate, found.true_positive_rate
    assert len(x) == len(y) == POINTS
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(y, x) == pytest.approx(found.area, abs=1e-3)


@pytest.mark.parametrize("rows", [300, 40_000])
def test_a_threshold_has_the_recall_and_precision_that_it_says(rows: int) -> None:
    rng = np.random.default_rng(rows)
    y = rng.random(rows) < 0.03
    odds = np.exp(rng.normal(size=rows) + 2 * y - 4).round(3)
    p, classes = np.stack([1 - odds / (1 + odds), odds / (1 + odds)], axis=1), np.array([0, 1])
    found = scores(p, classes, y.astype(int))
    weighed = scores(p, classes, y.astype(int), np.full(rows, 0.1))  # whose sums are rounded
    for recall in (0.05, 0.5, 0.75, 0.9, 1.0):
        wanted = found.threshold(recall)
        assert weighed.threshold(recall) == pytest.approx(wanted)
        answered = p[:, 1] > wanted.threshold
        assert wanted.recall == pytest.approx(answered[y].mean())
        assert wanted.precision == pytest.approx(y[answered].mean())
        assert recall <= wanted.recall < recall + max(1 / y.sum(), 0.01) + 1e-9
        if 2 * y.sum() < POINTS:  # it is the highest: above the next row of the class are too few
            assert (p[y, 1] > wanted.threshold).sum() == np.ceil(recall * y.sum() - 1e-9)
        assert ((p[:, 1] * wanted.cost > p[:, 0]) == answered).all()  # as of least cost
        assert (found.threshold(recall, label=1), wanted.answer) == (wanted, 1)
    for wrong in ({"recall": 0.0}, {"recall": 1.5}, {"recall": 0.5, "label": 7}):
        with pytest.raises(ValueError, match=r"There is no threshold for 7|a share, above 0"):
            found.threshold(**wrong)


@pytest.mark.parametrize(("k", "drawn"), [(2, 1), (3, 3), (9, 8)])
def test_roc_curves_are_drawn(k: int, drawn: int) -> None:
    found = some_scores(k, 100 * k, rare=5)
    ax = found.plot_roc()
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(legend) == drawn
    c = 0 if k == 2 else k - 1  # there are most rows of the last
    assert any(f"{c} (area {found.roc[found.classes[c]].area:.3f})" in text for text in legend)
    assert bool(ax.get_title()) == (k > 8)
    with pytest.raises(ValueError, match="no ROC curve of one class"):
        scores(np.ones((3, 1)), np.array(["a"]), np.array(["a"] * 3)).plot_roc()


def test_pictures_are_drawn_on_axes_that_are_given(iris) -> None:
    found = iris[0].assess()
    for plot in (found.plot_reliability, found.plot_confusion, found.plot_columns, found.plot_roc):
        _, ax = plt.subplots()
        assert plot(ax=ax) is ax
