"""Regions over two columns: they are what predict says, straight or curved as the model is."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_iris

from naively import Gaussian, Multinomial, NaiveBayes, Poisson
from naively.inspect.regions import WHAT

mpl.use("Agg")
RNG = np.random.default_rng(0)
N = 120
Y = np.repeat(["a", "b"], N // 2)
TABLE = pd.DataFrame(
    {
        "u": RNG.normal(np.where(Y == "a", 0.0, 2.0), np.where(Y == "a", 1.0, 2.0)),
        "v": RNG.normal(np.where(Y == "a", 0.0, 1.0), np.where(Y == "a", 1.5, 0.7)),
        "s": np.where(RNG.random(N) < 0.5, "left", "right"),
        "w": RNG.normal(size=N) + (Y == "b"),
    }
)


def border(found) -> np.ndarray:
    """Return where the log odds cross 0 along each line of the grid, (points, 2)."""
    odds, points = found.log_odds(), []
    for i, line in enumerate(odds):
        for j in np.flatnonzero(np.diff(np.sign(line))):
            share = line[j] / (line[j] - line[j + 1])
            points.append((found.x[j] + share * (found.x[j + 1] - found.x[j]), found.y[i]))
    return np.array(points)


def bend(points: np.ndarray) -> float:
    """Return how far points are from a straight line, in their own spread."""
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return float(spread[-1] / spread[0])


def test_the_border_is_straight_with_one_variance_and_curved_with_one_for_each_class():
    shared, by_class, unit = (
        NaiveBayes(Gaussian(variance=variance, smoothing=0), weights=None)
        .fit(TABLE[["u", "v"]], Y)
        .inspect.regions(["u", "v"])
        for variance in ("shared", "class", 1.0)
    )
    assert len(border(shared)) > 20
    assert bend(border(shared)) < 1e-3
    assert bend(border(unit)) < 1e-3
    assert bend(border(by_class)) > 0.05


def test_a_shared_unit_variance_is_the_nearest_mean():
    iris = load_iris()
    X = iris.data[:, 2:]
    nb = NaiveBayes(Gaussian(variance=1.0, smoothing=0), weights=None).fit(X, iris.target)
    found = nb.inspect.regions([0, 1], points=40)
    grid = np.stack(np.meshgrid(found.x, found.y), axis=-1)
    mean = np.stack([X[iris.target == c].mean(axis=0) for c in range(3)])
    nearest = ((grid[:, :, None] - mean) ** 2).sum(axis=-1).argmin(axis=-1)
    np.testing.assert_array_equal(found.label, nearest)
    assert set(np.unique(found.label)) == {0, 1, 2}


@pytest.mark.parametrize("event", ["auto", "gaussian", "density"])
@pytest.mark.parametrize("at", [{}, {"s": "left"}, {"s": "right", "w": 1.5}])
def test_each_point_is_predicted_as_predict_does(event, at):
    models = "auto" if event == "auto" else {("u", "v", "w"): event}
    nb = NaiveBayes(models).fit(TABLE, Y)
    found = nb.inspect.regions(["u", "v"], at=at, points=12)
    x, y = (of.ravel() for of in np.meshgrid(found.x, found.y))
    rows = pd.DataFrame({"u": x, "v": y, "s": at.get("s"), "w": at.get("w", np.nan)})
    np.testing.assert_array_equal(found.label.ravel(), nb.predict(rows))
    np.testing.assert_allclose(found.posterior.reshape(-1, 2), nb.predict_proba(rows), rtol=1e-10)
    table = found.to_dict()
    assert (table["u"], table["v"]) == (x.tolist(), y.tolist())
    assert table["class"] == nb.predict(rows).tolist()
    assert ("at s = left" in str(found)) == (at == {"s": "left"})


def test_log_odds_and_the_posterior_surface_are_drawn():
    found = (
        NaiveBayes("gaussian", weights=None).fit(TABLE[["u", "v"]], Y).inspect.regions(["u", "v"])
    )
    p = found.posterior
    np.testing.assert_allclose(found.log_odds("a"), np.log(p[:, :, 0] / p[:, :, 1]), rtol=1e-6)
    for what, label, values in (
        ("posterior", "a", p[:, :, 0]),
        ("difference", "a", np.clip(found.log_odds("a"), -10, 10)),
    ):
        ax = found.plot(what=what, label=label)
        mesh = ax.collections[0]
        np.testing.assert_allclose(mesh.get_array().reshape(values.shape), values)
    low, high = mesh.get_clim()
    assert low == -high


def test_the_regions_and_the_rows_are_drawn():
    found = (
        NaiveBayes("gaussian", weights=None).fit(TABLE[["u", "v"]], Y).inspect.regions(["u", "v"])
    )
    ax = found.plot()
    grid = np.stack([of.ravel() for of in np.meshgrid(found.x, found.y)], axis=1)
    for label, region in zip("ab", ax.collections[::2], strict=True):
        (path,) = region.get_paths()
        inside = path.contains_points(grid).reshape(found.label.shape)
        sure = np.abs(found.log_odds()) > 0.2  # but for points that are on the border, or the edge
        sure[[0, -1]] = sure[:, [0, -1]] = False
        np.testing.assert_array_equal(inside[sure], (found.label == label)[sure])
    for label, line in zip("ab", ax.lines, strict=True):
        of = TABLE[label == Y]
        assert sorted(line.get_xdata()) == pytest.approx(sorted(of["u"]))
        assert sorted(line.get_ydata()) == pytest.approx(sorted(of["v"]))


def test_densities_are_products_of_those_of_the_columns():
    nb = NaiveBayes(Gaussian(smoothing=0), weights=None).fit(TABLE[["u", "v"]], Y)
    found = nb.inspect.regions(["u", "v"], points=30)
    for c, label in enumerate("ab"):
        of = TABLE[label == Y]
        u, v = (stats.norm(of[name].mean(), of[name].std(ddof=0)) for name in ("u", "v"))
        np.testing.assert_allclose(found.density[0][:, c], u.pdf(found.x), rtol=1e-9)
        np.testing.assert_allclose(found.density[1][:, c], v.pdf(found.y), rtol=1e-9)
    assert "80 %" in " ".join(text.get_text() for text in found.plot(what="density").texts)


def test_what_cannot_be_is_one_sentence():
    nb = NaiveBayes().fit(TABLE, Y)
    for columns, at, said in (
        (["u", "s"], None, "'s' holds no numbers"),
        (["u", "z"], None, "no column 'z'; the columns are 'u'"),
        (["u", "v"], {"z": 1.0}, "no column 'z'"),
        (["u", "v"], {"v": 1.0}, "'v' is one of the two"),
        (["u", "u"], None, "two different columns"),
        ("uv", None, "two columns of numbers"),
    ):
        with pytest.raises(ValueError, match=said):
            nb.inspect.regions(columns, at)
    found = nb.inspect.regions(["u", "v"], points=5)
    with pytest.raises(ValueError, match="what must be one of 'regions'"):
        found.plot(what="3d")
    with pytest.raises(ValueError, match="no class 'c'; the classes are 'a', 'b'"):
        found.plot(what="posterior", label="c")
    nb = NaiveBayes("gaussian").fit(np.arange(12.0).reshape(4, 3), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="there are 3; name two: 'x0', 'x1', 'x2'"):
        nb.inspect.regions()
    nb = NaiveBayes("joint", weights=None).fit([[0, 1], [1, 0], [1, 1], [0, 0]], [0, 1, 0, 1])
    for columns in (None, [0, 1]):
        with pytest.raises(ValueError, match=r"A joint table has .* no regions"):
            nb.inspect.regions(columns)


def test_many_classes_are_summarised():
    y = np.arange(400) % 20
    X = np.stack([y + RNG.normal(size=400), RNG.normal(size=400)], axis=1)
    found = NaiveBayes("gaussian").fit(X, y).inspect.regions([0, 1])
    assert "and 12 more classes" in str(found)
    for what in WHAT:
        said = [text.get_text() for text in found.plot(what=what).texts]
        if what == "density":
            assert "and 12 more classes" in " ".join(said)
        if what in ("regions", "posterior"):  # their names are on them
            assert set(said) == set(map(str, np.unique(found.label)))
    veil = found.plot(what="posterior").collections[-1].get_array()[..., 3].reshape(150, 150)
    np.testing.assert_allclose(veil, np.minimum(1, 2 - 2 * found.posterior.max(axis=2)))


def test_the_border_of_shared_variances_is_straight_where_it_is_drawn():
    """Between the points of a grid too: it is no staircase of them."""
    nb = NaiveBayes(Gaussian(variance="shared"), weights=None).fit(TABLE[["u", "v"]], Y)
    found = nb.inspect.regions(["u", "v"], points=20)
    (border,) = found.plot().collections[1].get_paths()
    x, y = border.vertices.T
    line = np.polyfit(x, y, 1) if np.ptp(x) > np.ptp(y) else np.polyfit(y, x, 1)
    off = y - np.polyval(line, x) if np.ptp(x) > np.ptp(y) else x - np.polyval(line, y)
    assert np.abs(off).max() < 1e-6 * (np.ptp(x) + np.ptp(y))


def test_a_model_of_counts_or_one_class_has_regions():
    X = RNG.poisson(3, (50, 2))
    found = NaiveBayes(Poisson()).fit(X, X[:, 0] > 3).inspect.regions([0, 1])
    assert found.x[0] >= 0
    one = NaiveBayes().fit(TABLE[["u", "v"]], ["a"] * N).inspect.regions(["u", "v"], points=5)
    assert np.isposinf(one.log_odds()).all()
    assert set(one.label.ravel()) == {"a"}
    for what in WHAT:
        one.plot(what=what)


def test_the_border_of_a_multinomial_is_the_straight_line_of_its_formula():
    """The line of the lecture: log P(a)/P(b) + x log(p_xa/p_xb) + y log(p_ya/p_yb) = 0."""
    rng = np.random.default_rng(5)
    y = np.arange(300) % 2
    X = rng.poisson(np.where(y[:, None] == 1, [2, 8], [7, 3]))
    found = NaiveBayes(Multinomial(alpha=1.0), weights=None).fit(X, y).inspect.regions()
    assert found.x[0] == found.y[0] == 0.0
    count = np.array([X[y == c].sum(axis=0) + 1.0 for c in (0, 1)])
    slope = np.log(count / count.sum(axis=1, keepdims=True))
    slope = slope[1] - slope[0]  # the classes are equally frequent
    line = slope[0] * found.x[None] + slope[1] * found.y[:, None]
    np.testing.assert_allclose(found.log_odds(), line, atol=1e-5)
    for what in WHAT[:3]:
        assert found.plot(what=what)
    with pytest.raises(ValueError, match="multinomial have no density"):
        found.plot(what="density")


def test_regions_of_categories_are_those_of_the_nearest_category():
    rng = np.random.default_rng(6)
    X = rng.integers(0, 4, (200, 2)) * 2
    y = X.sum(axis=1) + rng.normal(size=200) > 6
    nb = NaiveBayes("categorical", weights=None).fit(X, y)
    found = nb.inspect.regions(points=31)
    assert (found.x[0], found.x[-1]) == (-0.5, 6.5)
    at = np.array([[0, 4]])
    near = np.abs(found.y - 4).argmin(), np.abs(found.x - 0.9).argmin()
    np.testing.assert_allclose(found.posterior[near], nb.predict_proba(at)[0], rtol=1e-6)
    for what in WHAT:
        assert found.plot(what=what)


def test_a_model_without_its_rows_has_regions_without_points(tmp_path):
    from naively import load

    nb = NaiveBayes("gaussian").fit(TABLE[["u", "v"]], Y)
    nb.save(tmp_path / "model")
    found = load(tmp_path / "model").inspect.regions(["u", "v"])
    assert [len(of) for of in found.sample] == [0, 0, 0]
    assert found.plot().lines[0].get_xdata().tolist() == []


def test_columns_are_found_by_place_and_by_themselves():
    table = {"a": [1.0, 2.0, 7.0, 8.0], "colour": ["r", "g", "r", "g"], "b": [2.0, 1.0, 8.0, 7.0]}
    nb = NaiveBayes({"number": "gaussian"}).fit(table, [0, 0, 1, 1])
    named = nb.inspect.regions(["a", "b"], points=9)
    for found in (nb.inspect.regions(points=9), nb.inspect.regions([0, 2], points=9)):
        assert found.columns == named.columns
        np.testing.assert_array_equal(found.posterior, named.posterior)


def test_the_margin_is_one_posterior_less_the_other() -> None:
    X, y = load_iris(return_X_y=True)
    two = NaiveBayes("gaussian").fit(X[:100, :2], y[:100]).inspect.regions(points=30)
    p = two.posterior
    np.testing.assert_allclose(two.margin(), p[:, :, 1] - p[:, :, 0], atol=1e-12)
    np.testing.assert_allclose(two.margin(0), -two.margin(1), atol=1e-12)
    three = NaiveBayes("gaussian").fit(X[:, :2], y).inspect.regions(points=30)
    for c in range(3):
        won = three.label == c
        assert ((three.margin(c) >= 0) == won).all()
    ax = two.plot_surface()
    assert ax.get_zlabel() == "p(class 1 | row) - p(class 0 | row)"
    assert two.plot_surface(what="posterior").get_zlabel() == "p(class 1 | row)"
    with pytest.raises(ValueError, match="Axes of three dimensions"):
        two.plot_surface(mpl.figure.Figure().add_subplot())
    with pytest.raises(ValueError, match="what must be"):
        two.plot_surface(what="density")
