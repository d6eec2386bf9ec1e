"""Models of pixels as images: means of classes, and the evidence of each pixel."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_digits

from naively import Bernoulli, Categorical, Multinomial, NaiveBayes

mpl.use("Agg")
DIGITS = load_digits()
X, Y = DIGITS.data, DIGITS.target
SHAPE = (8, 8)


@pytest.mark.parametrize(
    ("event", "x"),
    [
        ("gaussian", X), ("histogram", X), ("poisson", X), (Categorical(), X.astype(int)),
        (Bernoulli(), (X > 8).astype(float)), (Multinomial(), X),
    ],
    ids=["gaussian", "histogram", "poisson", "categorical", "bernoulli", "multinomial"],
)  # fmt: skip
def test_the_mean_of_each_class(event, x):
    found = NaiveBayes(event, weights=None).fit(x, Y).inspect.images(SHAPE)
    for c in range(10):
        mean = x[c == Y].mean(axis=0).reshape(SHAPE)
        # A cell of a histogram holds numbers up to 1/64 apart, relative to them.
        np.testing.assert_allclose(
            found.mean[c], mean, rtol=1e-9, atol=0.2 * (event == "histogram")
        )


@pytest.mark.slow
def test_the_images_are_drawn_side_by_side():
    found = NaiveBayes("gaussian").fit(X, Y).inspect.images(SHAPE)
    ax = found.plot()
    assert len(ax.images) == 10
    for c, image in enumerate(ax.images):
        np.testing.assert_array_equal(image.get_array(), found.mean[c])
    assert {image.get_clim() for image in ax.images} == {(0.0, found.mean.max())}
    assert [text.get_text() for text in ax.texts] == [str(c) for c in range(10)]
    extents = [image.get_extent() for image in ax.images]
    assert len({(left, top) for left, _, _, top in extents}) == 10


@pytest.mark.slow
def test_a_pixel_without_numbers_is_left_white():
    x = X.copy()
    x[Y == 3, 20] = np.nan
    found = NaiveBayes("gaussian").fit(x, Y).inspect.images(SHAPE)
    assert np.argwhere(np.isnan(found.mean)).tolist() == [[3, 2, 4]]
    found.plot()


@pytest.mark.slow
@pytest.mark.parametrize("event", ["gaussian", "auto", Bernoulli(), Multinomial()])
def test_the_evidence_of_pixels_and_of_all_else_is_the_log_odds(event):
    nb = NaiveBayes(event).fit(X, Y)
    for row in nb.explain(X[:5]):
        image = row.image(SHAPE)
        assert image.log_odds == pytest.approx(row.log_odds(row.best))
        by_column = {f"x{j}": 0.0 for j in range(64)}
        for column, weight in zip(row.column, row.weights(row.best), strict=True):
            if column in by_column:
                by_column[column] += weight
        assert image.weight.ravel().tolist() == pytest.approx(list(by_column.values()))


@pytest.mark.slow
def test_the_colours_are_symmetric_around_nothing():
    row = NaiveBayes("gaussian").fit(X, Y).explain(X[:1])[0]
    ax = row.plot_image(SHAPE)
    (image,) = ax.images
    np.testing.assert_allclose(image.get_array(), row.image(SHAPE).weight)
    low, high = image.get_clim()
    assert low == -high == -np.abs(row.image(SHAPE).weight).max()
    (bar,) = [each for each in ax.figure.axes if each is not ax]
    assert "nats" in bar.get_ylabel()


@pytest.mark.slow
def test_missing_pixels_have_no_evidence():
    x = X[:1].copy()
    x[0, 30] = np.nan
    row = NaiveBayes("gaussian").fit(X, Y).explain(x)[0]
    assert row.image(SHAPE).weight[3, 6] == 0


@pytest.mark.parametrize("shape", [(8, 9), (64,), (-8, -8), (4, 4, 4)])
def test_a_wrong_shape_is_one_sentence(shape):
    nb = NaiveBayes("gaussian").fit(X[:50], Y[:50])
    with pytest.raises(ValueError, match="the model has 64 columns; give a"):
        nb.inspect.images(shape)
    with pytest.raises(ValueError, match="the model has 64 columns; give a"):
        nb.explain(X[:1])[0].plot_image(shape)


def test_words_and_strings_are_no_pixels():
    nb = NaiveBayes().fit({"a": ["u", "v"] * 5, "b": ["u", "v"] * 5}, ["x", "y"] * 5)
    with pytest.raises(ValueError, match="'a' holds no numbers, so it is no pixel"):
        nb.inspect.images((1, 2))
    with pytest.raises(ValueError, match="'text' holds no numbers, so it is no pixel"):
        NaiveBayes().fit(["a few words", "some more words"], ["x", "y"]).inspect.images((1, 1))


@pytest.mark.slow
def test_more_classes_than_fit_are_summarised():
    y = np.arange(600) % 30
    ax = NaiveBayes("gaussian").fit(X[:600], y).inspect.images(SHAPE).plot()
    assert len(ax.images) == 20
    assert "and 10 more classes" in " ".join(text.get_text() for text in ax.texts)
