"""Every kind of picture, drawn of small tables that never change, on the Axes that are given.

``python -m tests.drawn FOLDER`` draws them all into a folder, at both sizes, to be looked at; with
words, those whose names have one of them. ``python -m tests.drawn --keep`` keeps them, in few dots
and colours, for ``test_pictures.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

import naively
from naively import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gamma,
    Gaussian,
    NaiveBayes,
    NormalInverseGamma,
    Poisson,
    datasets,
    independence,
)
from naively.inspect.tallies import Fading

mpl.use("Agg")
Axes = Any
PICTURES: dict[str, Callable[[Axes | None], Axes]] = {}
EXAM = [100.0, 95, 97, 90, 3, 88, 85, 91, 99, 14]
N = 600


def drawn(draw: Callable[[Axes | None], Axes]) -> Callable[[Axes | None], Axes]:
    PICTURES[draw.__name__] = draw
    return draw


# --- What the pictures are of --------------------------------------------------------------------


@cache
def passengers() -> tuple[dict[str, Any], Any]:
    """Return rows like those of a ship's list: skewed, whole, with a half now and then, levels."""
    rng = np.random.default_rng(0)
    pclass = rng.choice([1, 2, 3], N, p=[0.24, 0.2, 0.56])
    female = rng.random(N) < 0.35
    fare = np.round(np.exp(rng.normal(4.6 - 0.75 * pclass, 0.5)), 4)
    fare = np.where(rng.random(N) < 0.2, 8.05, fare)
    fare[:4] = 512.3292
    age = np.round(np.clip(rng.normal(38 - 4 * pclass, 13), 0.5, 80))
    age[rng.random(N) < 0.03] += 0.5
    age[rng.random(N) < 0.2] = np.nan
    sibsp = rng.poisson(0.5, N)
    embarked = rng.choice(["Southampton", "Cherbourg", "Queenstown"], N, p=[0.7, 0.2, 0.1])
    log_odds = 2.6 * female - 0.9 * (pclass - 2) - 1.2 - 0.02 * (np.nan_to_num(age, nan=30) - 30)
    survived = (rng.random(N) < 1 / (1 + np.exp(-log_odds))).astype(int)
    table = {
        "pclass": pclass,
        "sex": np.where(female, "female", "male"),
        "age": age,
        "sibsp": sibsp,
        "fare": fare,
        "embarked": embarked,
    }
    return table, survived


def manifest() -> dict[str, Any]:
    """Return the passengers with their fate in a column: so its name is known."""
    table, survived = passengers()
    return {**table, "survived": survived}


@cache
def ship() -> NaiveBayes:
    return NaiveBayes().fit(manifest(), "survived")


@cache
def tennis() -> NaiveBayes:
    X, y = datasets.play_tennis()
    return NaiveBayes("categorical", smoothing=0, weights=None).fit(X, y)


@cache
def letters(event: Any = "gaussian") -> NaiveBayes:
    """Return a model of 26 classes, of two numbers and a level."""
    rng = np.random.default_rng(0)
    code = np.arange(1300) % 26
    angle = 2 * np.pi * code / 26
    radius = 3.0 + 3.0 * (code % 2)
    X = {
        "x": radius * np.cos(angle) + rng.normal(0, 0.5, len(code)),
        "y": radius * np.sin(angle) + rng.normal(0, 0.5, len(code)),
        "strokes": np.array(["one", "two", "three", "four"])[(code + rng.integers(0, 2, 1300)) % 4],
    }
    models = {"x": event, "y": event, "strokes": "categorical"}
    return NaiveBayes(models, weights=None).fit(X, np.array([*"ABCDEFGHIJKLMNOPQRSTUVWXYZ"])[code])


@cache
def texts() -> NaiveBayes:
    rng = np.random.default_rng(0)
    spam = ["cash", "prize", "winner", "claim", "free", "urgent", "offer", "click", "now"]
    ham = ["lunch", "meeting", "tomorrow", "project", "report", "thanks", "see", "you", "home"]
    both = ["the", "and", "to", "for", "a", "of", "in", "is"]
    X, y = [], []
    for i in range(200):
        own = spam if i % 2 else ham
        X.append(" ".join([*rng.choice(own, 4), *rng.choice(both, 4)]))
        y.append("spam" if i % 2 else "ham")
    return NaiveBayes(weights=None, text="words").fit(X, y)


@cache
def iris() -> tuple[Any, Any]:
    X, y, columns, names = datasets.iris()
    return {name: X[:, j] for j, name in enumerate(columns)}, np.array(names)[y]


@cache
def flowers(event: Any = "gaussian") -> NaiveBayes:
    X, y = iris()
    return NaiveBayes(event, weights=None).fit({name: X[name] for name in [*X][2:]}, y)


@cache
def scores() -> Any:
    return NaiveBayes(weights=None).fit(manifest(), "survived").evaluate(*passengers())


FLIPS = [1] * 8 + [0] * 2


# --- Estimates -----------------------------------------------------------------------------------


@drawn
def density(ax):
    return Gaussian().fit(EXAM).plot(ax, sample=EXAM)


@drawn
def density_of_whole_numbers(ax):
    rng = np.random.default_rng(0)
    ratings = np.round(rng.normal(45, 5, 400))
    return Gaussian(smoothing=0).fit(ratings).plot(ax, sample=ratings)


@drawn
def two_densities(ax):
    ax = Gaussian.of(mean=0, variance=1).plot(ax)
    return Gaussian.of(mean=1, variance=4).plot(ax)


@drawn
def counts(ax):
    goals = [0, 1, 1, 2, 3, 1, 0, 4, 2, 1]
    return Poisson().fit(goals).plot(ax, sample=goals)


@drawn
def levels_of_a_die(ax):
    faces = [6, 6, 2, 1, 3, 5, 6, 2, 4, 6]
    return Categorical().fit(faces).plot(ax, sample=faces)


@drawn
def posterior(ax):
    return Bernoulli(prior=Beta(3, 3)).fit(FLIPS).plot_posterior(ax)


@drawn
def posterior_under_a_uniform_prior(ax):
    return Bernoulli(prior=Beta(1, 1)).fit(FLIPS).plot_posterior(ax)


@drawn
def posterior_of_an_unfair_coin(ax):
    return Bernoulli(prior=Beta(101, 1)).fit(FLIPS).plot_posterior(ax)


@drawn
def log_likelihood(ax):
    return Bernoulli().fit(FLIPS).curve().plot_likelihood(ax)


@drawn
def surface(ax):
    return Gaussian(prior=NormalInverseGamma(50, 2, 3, 400)).fit(EXAM).surface().plot(ax)


@drawn
def surface_of_likelihood(ax):
    return Gaussian(smoothing=0).fit(EXAM).surface().plot(ax)


@drawn
def surface_under_a_prior_that_disagrees(ax):
    rng = np.random.default_rng(0)
    sample = rng.normal(21, 7, 60)
    return Gaussian(prior=NormalInverseGamma(50, 60, 30, 600)).fit(sample).surface().plot(ax)


@drawn
def updates(ax):
    rng = np.random.default_rng(0)
    flips = (rng.random(1000) < 0.7).astype(int)
    return Bernoulli().updates(flips).plot(ax)


@drawn
def consistency(ax):
    rng = np.random.default_rng(0)
    flips = (rng.random(1000) < 0.7).astype(int)
    return Bernoulli().consistency(flips, truth=0.7).plot(ax)


@drawn
def consistency_of_a_die(ax):
    rng = np.random.default_rng(0)
    faces = rng.choice(6, 1000, p=[0.1, 0.1, 0.1, 0.15, 0.25, 0.3]) + 1
    return Categorical().consistency(faces).plot(ax)


@drawn
def series(ax):
    return independence(EXAM * 4).plot_series(ax)


@drawn
def autocorrelation(ax):
    return independence(EXAM * 4).plot_autocorrelation(ax)


# --- Priors --------------------------------------------------------------------------------------


@drawn
def beta(ax):
    return Beta(2, 5).plot(ax)


@drawn
def beta_at_an_end(ax):
    return Beta(101, 1).plot(ax)


@drawn
def two_betas(ax):
    return Beta(20, 30).plot(Beta(2, 3).plot(ax))


@drawn
def gamma(ax):
    return Gamma(2, 3).plot(ax)


@drawn
def dirichlet(ax):
    return Dirichlet([2, 3, 7]).plot(ax)


@drawn
def dirichlet_of_equals(ax):
    return Dirichlet([2, 2, 2, 2, 9]).plot(ax)


@drawn
def normal_inverse_gamma(ax):
    return NormalInverseGamma(50, 2, 3, 400).plot(ax)


# --- Columns by class ----------------------------------------------------------------------------


@drawn
def column_with_a_spike(ax):
    return ship().inspect.column("fare").plot(ax)


@drawn
def column_of_few_whole_numbers(ax):
    return ship().inspect.column("pclass").plot(ax)


@drawn
def column_of_ages(ax):
    return ship().inspect.column("age").plot(ax)


@drawn
def column_of_levels(ax):
    return ship().inspect.column("embarked").plot(ax)


@drawn
def column_of_counts(ax):
    X, y = passengers()
    nb = NaiveBayes("poisson", weights=None).fit({"sibsp": X["sibsp"]}, y)
    return nb.inspect.column("sibsp").plot(ax)


@drawn
def column_of_a_gaussian(ax):
    return flowers().inspect.column("petal length (cm)").plot(ax)


@drawn
def column_of_words(ax):
    return texts().inspect.column("text").plot(ax)


@drawn
def column_of_many_classes(ax):
    return letters().inspect.column("x").plot(ax)


@drawn
def levels_of_many_classes(ax):
    return letters().inspect.column("strokes").plot(ax)


@drawn
def regions(ax):
    return flowers().inspect.regions().plot(ax)


@drawn
def regions_of_a_shared_variance(ax):
    return flowers(Gaussian(variance="shared")).inspect.regions().plot(ax)


@drawn
def regions_of_many_classes(ax):
    return letters().inspect.regions(["x", "y"]).plot(ax)


@drawn
def difference(ax):
    return flowers().inspect.regions().plot(ax, what="difference")


@drawn
def margin(ax):
    return flowers().inspect.regions().plot(ax, what="margin")


@drawn
def posterior_over_two_columns(ax):
    return flowers().inspect.regions().plot(ax, what="posterior")


@drawn
def densities_over_two_columns(ax):
    return flowers().inspect.regions().plot(ax, what="density")


@drawn
def tally(ax):
    return ship().tally_.plot(ax)


@drawn
def fading(ax):
    return Fading.of([100, 80, 120, 100, 90], 0.7).plot(ax)


# --- Evidence ------------------------------------------------------------------------------------


@drawn
def waterfall(ax):
    X, _ = passengers()
    return ship().explain({name: of[:1] for name, of in X.items()})[0].plot(ax)


@drawn
def waterfall_without_end(ax):
    day = {"outlook": ["overcast"], "temperature": ["cool"], "humidity": ["high"], "wind": ["weak"]}
    return tennis().explain(day)[0].plot(ax)


@drawn
def nomogram(ax):
    return ship().inspect.nomogram().plot(ax)


@drawn
def nomogram_without_end(ax):
    return tennis().inspect.nomogram().plot(ax)


@drawn
def strongest(ax):
    return ship().inspect.strongest(5).plot(ax)


@drawn
def strongest_without_end(ax):
    return tennis().inspect.strongest(4).plot(ax)


@drawn
def strongest_of_texts(ax):
    return texts().inspect.strongest(10).plot(ax)


@drawn
def strongest_of_three_flowers(ax):
    return flowers().inspect.strongest(4).plot(ax)


@drawn
def strongest_of_many_classes(ax):
    return letters().inspect.strongest(3).plot(ax)


@drawn
def linear(ax):
    return flowers(Gaussian(variance="shared")).inspect.linear().plot(ax)


@drawn
def parameters(ax):
    return texts().inspect.parameters().plot(ax, n=12)


@drawn
def parameter_counts(ax):
    return naively.parameter_counts(M=30, K=2).plot(ax)


@drawn
def graph(ax):
    return ship().inspect.graph().plot(ax)


@cache
def digits() -> tuple[NaiveBayes, Any]:
    X, y, _, _ = datasets.digits()
    return NaiveBayes("gaussian", weights=None).fit(X[:600], y[:600]), X


@drawn
def images(ax):
    return digits()[0].inspect.images((8, 8)).plot(ax)


@drawn
def evidence_of_an_image(ax):
    nb, X = digits()
    return nb.explain(X[700:701])[0].plot_image((8, 8), ax)


# --- Scores --------------------------------------------------------------------------------------


@drawn
def reliability(ax):
    return scores().plot_reliability(ax)


@drawn
def reliability_before(ax):
    before = scores()
    return ship().evaluate(*passengers()).plot_reliability(ax, before=before)


@drawn
def confusion(ax):
    return scores().plot_confusion(ax)


@drawn
def confusion_of_many_classes(ax):
    X = letters()
    rng = np.random.default_rng(1)
    code = np.arange(520) % 26
    angle, radius = 2 * np.pi * code / 26, 3.0 + 3.0 * (code % 2)
    rows = {
        "x": radius * np.cos(angle) + rng.normal(0, 0.5, 520),
        "y": radius * np.sin(angle) + rng.normal(0, 0.5, 520),
        "strokes": np.array(["one", "two", "three", "four"])[code % 4],
    }
    return X.evaluate(rows, np.array([*"ABCDEFGHIJKLMNOPQRSTUVWXYZ"])[code]).plot_confusion(ax)


@drawn
def worth_of_columns(ax):
    return ship().assess().plot_columns(ax)


@drawn
def roc(ax):
    return scores().plot_roc(ax)


@drawn
def roc_of_three(ax):
    X, y = iris()
    return flowers().evaluate({name: X[name] for name in [*X][2:]}, y).plot_roc(ax)


@drawn
def learning_curve(ax):
    X, y = passengers()
    nb = NaiveBayes(weights=None)
    return nb.curve.learning(X, y, test=200, sizes=[10, 30, 100, 300], repeats=3).plot(ax)


@drawn
def smoothing_curve(ax):
    return tennis().curve.smoothing(*datasets.play_tennis(), values=[0, 0.1, 0.5, 1, 10]).plot(ax)


@drawn
def dependence(ax):
    return ship().inspect.dependence().plot(ax)


@drawn
def drift(ax):
    X, y = passengers()
    late = {**X, "fare": np.where(np.arange(N) % 2, X["fare"], X["fare"] * 3)}
    return ship().inspect.drift(late, y).plot(ax)


@drawn
def set_sizes(ax):
    nb, X = digits()
    return nb.predict_set(X[600:]).plot(ax)


@drawn
def intervals(ax):
    X, _ = passengers()
    return ship().predict_interval({name: of[:30] for name, of in X.items()}).plot(ax=ax)


# --- Drawing them --------------------------------------------------------------------------------


def small() -> Axes:
    """Return somebody's own Axes, 8 cm wide at 100 dots per inch."""
    with mpl.rc_context(mpl.rcParamsDefault):
        return plt.subplots(figsize=(8 / 2.54, 6 / 2.54), dpi=100, layout="constrained")[1]


DOTS = 60  # per inch, of the kept pictures
FOLDER = Path(__file__).parent / "pictures"


def keep() -> None:
    """Keep all pictures, as small files."""
    from PIL import Image

    for name, draw in PICTURES.items():
        path = FOLDER / f"test_it_looks_as_kept_{name}.png"
        with plt.style.context("default", after_reset=True):
            figure = draw(None).figure
            figure.draw_without_rendering()  # as the test does: a second layout differs a little
            figure.savefig(path, dpi=DOTS)
        plt.close("all")
        Image.open(path).convert("RGB").quantize(256, dither=0).save(path, optimize=True)


if __name__ == "__main__":
    mpl.use("Agg")
    target, *words = sys.argv[1:]
    if target == "--keep":
        keep()
        sys.exit()
    Path(target).mkdir(exist_ok=True, parents=True)
    for name, draw in PICTURES.items():
        if words and not any(word in name for word in words):
            continue
        for size, own in (("default", None), ("small", small())):
            figure = draw(own).figure
            figure.savefig(Path(target) / f"{name}-{size}.png", dpi=100 if own else 130)
        plt.close("all")
