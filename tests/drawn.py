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
    Fading,
    Gamma,
    Gaussian,
    JointTable,
    NaiveBayes,
    NormalInverseGamma,
    Poisson,
    datasets,
    independence,
)

mpl.use("Agg")
Axes = Any
EXAM = [100.0, 95, 97, 90, 3, 88, 85, 91, 99, 14]
N = 600


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
        "pclass": pclass, "sex": np.where(female, "female", "male"), "age": age, "sibsp": sibsp,
        "fare": fare, "embarked": embarked,
    }  # fmt: skip
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


def alphabet(n: int, seed: int, jitter: int) -> tuple[dict[str, Any], Any]:
    """Return rows of 26 classes: two numbers and a level."""
    rng = np.random.default_rng(seed)
    code = np.arange(n) % 26
    angle, radius = 2 * np.pi * code / 26, 3.0 + 3.0 * (code % 2)
    X = {
        "x": radius * np.cos(angle) + rng.normal(0, 0.5, n),
        "y": radius * np.sin(angle) + rng.normal(0, 0.5, n),
        "strokes": np.array(["one", "two", "three", "four"])[
            (code + rng.integers(0, 1 + jitter, n)) % 4
        ],
    }
    return X, np.array([*"ABCDEFGHIJKLMNOPQRSTUVWXYZ"])[code]


@cache
def letters() -> NaiveBayes:
    models = {"x": "gaussian", "y": "gaussian", "strokes": "categorical"}
    return NaiveBayes(models, weights=None).fit(*alphabet(1300, 0, 1))


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
    """Return the petals alone."""
    X, y, columns, names = datasets.iris()
    return {name: X[:, j] for j, name in enumerate(columns) if j > 1}, np.array(names)[y]


@cache
def flowers(event: Any = "gaussian") -> NaiveBayes:
    return NaiveBayes(event, weights=None).fit(*iris())


@cache
def together() -> NaiveBayes:
    X, y = datasets.play_tennis()
    X = {"sky": X["outlook"], "wind": X["wind"]}
    return NaiveBayes(JointTable(alpha=0), weights=None).fit(X, y)


@cache
def weighed() -> NaiveBayes:
    places = np.random.default_rng(0).uniform(-1, 1, (1500, 3))
    inside = (places[:, 0] > 0.2) & (places[:, 1] > 0.1)
    return NaiveBayes(interactions="auto").fit(places, np.where(inside, "in", "out"))


@cache
def scores() -> Any:
    return NaiveBayes(weights=None).fit(manifest(), "survived").evaluate(*passengers())


@cache
def flips(n: int = 1000) -> Any:
    return (np.random.default_rng(0).random(n) < 0.7).astype(int)


@cache
def digits() -> tuple[NaiveBayes, Any]:
    X, y, _, _ = datasets.digits()
    return NaiveBayes("gaussian", weights=None).fit(X[:600], y[:600]), X


def first(n: int) -> dict[str, Any]:
    """Return the first passengers, without their fate."""
    return {name: of[:n] for name, of in passengers()[0].items()}


def siblings() -> NaiveBayes:
    X, y = passengers()
    return NaiveBayes("poisson", weights=None).fit({"sibsp": X["sibsp"]}, y)


def learned() -> Any:
    curve = NaiveBayes(weights=None).curve
    return curve.learning(*passengers(), test=200, sizes=[10, 30, 100, 300], repeats=3)


def drifted() -> Any:
    X, y = passengers()
    late = {**X, "fare": np.where(np.arange(N) % 2, X["fare"], X["fare"] * 3)}
    return ship().inspect.drift(late, y)


HEADS = [1] * 8 + [0] * 2
GOALS = [0, 1, 1, 2, 3, 1, 0, 4, 2, 1]
FACES = [6, 6, 2, 1, 3, 5, 6, 2, 4, 6]
RATINGS = np.round(np.random.default_rng(0).normal(45, 5, 400))
AROUND_21 = np.random.default_rng(0).normal(21, 7, 60)
MANY_FACES = np.random.default_rng(0).choice(6, 1000, p=[0.1, 0.1, 0.1, 0.15, 0.25, 0.3]) + 1
SHARED = Gaussian(variance="shared")
DAY = {"outlook": ["overcast"], "temperature": ["cool"], "humidity": ["high"], "wind": ["weak"]}
RATES = [0, 0.1, 0.5, 1, 10]

PICTURES: dict[str, Callable[[Axes | None], Axes]] = {
    # Estimates
    "density": lambda ax: Gaussian().fit(EXAM).plot(ax, sample=EXAM),
    "density_of_whole_numbers": lambda ax: (
        Gaussian(smoothing=0).fit(RATINGS).plot(ax, sample=RATINGS)
    ),
    "two_densities": lambda ax: Gaussian.of(mean=1, variance=4).plot(
        Gaussian.of(mean=0, variance=1).plot(ax)
    ),
    "counts": lambda ax: Poisson().fit(GOALS).plot(ax, sample=GOALS),
    "levels_of_a_die": lambda ax: Categorical().fit(FACES).plot(ax, sample=FACES),
    "posterior": lambda ax: Bernoulli(prior=Beta(3, 3)).fit(HEADS).plot_posterior(ax),
    "posterior_under_a_uniform_prior": lambda ax: (
        Bernoulli(prior=Beta(1, 1)).fit(HEADS).plot_posterior(ax)
    ),
    "posterior_of_an_unfair_coin": lambda ax: (
        Bernoulli(prior=Beta(101, 1)).fit(HEADS).plot_posterior(ax)
    ),
    "log_likelihood": lambda ax: Bernoulli().fit(HEADS).curve().plot_likelihood(ax),
    "surface": lambda ax: (
        Gaussian(prior=NormalInverseGamma(50, 2, 3, 400)).fit(EXAM).surface().plot(ax)
    ),
    "surface_of_likelihood": lambda ax: Gaussian(smoothing=0).fit(EXAM).surface().plot(ax),
    "surface_under_a_prior_that_disagrees": lambda ax: (
        Gaussian(prior=NormalInverseGamma(50, 60, 30, 600)).fit(AROUND_21).surface().plot(ax)
    ),
    "updates": lambda ax: Bernoulli().updates(flips()).plot(ax),
    "consistency": lambda ax: Bernoulli().consistency(flips(), truth=0.7).plot(ax),
    "consistency_of_a_die": lambda ax: Categorical().consistency(MANY_FACES).plot(ax),
    "series": lambda ax: independence(EXAM * 4).plot_series(ax),
    "autocorrelation": lambda ax: independence(EXAM * 4).plot_autocorrelation(ax),
    # Priors
    "beta": Beta(2, 5).plot,
    "beta_at_an_end": Beta(101, 1).plot,
    "two_betas": lambda ax: Beta(20, 30).plot(Beta(2, 3).plot(ax)),
    "gamma": Gamma(2, 3).plot,
    "dirichlet": Dirichlet([2, 3, 7]).plot,
    "dirichlet_of_equals": Dirichlet([2, 2, 2, 2, 9]).plot,
    "normal_inverse_gamma": NormalInverseGamma(50, 2, 3, 400).plot,
    # Columns by class
    "column_with_a_spike": lambda ax: ship().inspect.column("fare").plot(ax),
    "column_of_few_whole_numbers": lambda ax: ship().inspect.column("pclass").plot(ax),
    "column_of_ages": lambda ax: ship().inspect.column("age").plot(ax),
    "column_of_levels": lambda ax: ship().inspect.column("embarked").plot(ax),
    "column_of_counts": lambda ax: siblings().inspect.column("sibsp").plot(ax),
    "column_of_a_gaussian": lambda ax: flowers().inspect.column("petal length (cm)").plot(ax),
    "column_of_words": lambda ax: texts().inspect.column("text").plot(ax),
    "column_of_many_classes": lambda ax: letters().inspect.column("x").plot(ax),
    "levels_of_many_classes": lambda ax: letters().inspect.column("strokes").plot(ax),
    "regions": lambda ax: flowers().inspect.regions().plot(ax),
    "regions_of_a_shared_variance": lambda ax: flowers(SHARED).inspect.regions().plot(ax),
    "regions_of_many_classes": lambda ax: letters().inspect.regions(["x", "y"]).plot(ax),
    "difference": lambda ax: flowers().inspect.regions().plot(ax, what="difference"),
    "margin": lambda ax: flowers().inspect.regions().plot(ax, what="margin"),
    "posterior_over_two_columns": lambda ax: flowers().inspect.regions().plot(ax, what="posterior"),
    "densities_over_two_columns": lambda ax: flowers().inspect.regions().plot(ax, what="density"),
    "tally": lambda ax: ship().tally_.plot(ax),  # noqa: PLW0108 - fit when it is drawn
    "fading": lambda ax: Fading.of([100, 80, 120, 100, 90], 0.7).plot(ax),
    # Evidence
    "waterfall": lambda ax: ship().explain(first(1))[0].plot(ax),  # noqa: PLW0108
    "waterfall_without_end": lambda ax: tennis().explain(DAY)[0].plot(ax),  # noqa: PLW0108
    "nomogram": lambda ax: ship().inspect.nomogram().plot(ax),
    "nomogram_without_end": lambda ax: tennis().inspect.nomogram().plot(ax),
    "strongest": lambda ax: ship().inspect.strongest(5).plot(ax),
    "strongest_without_end": lambda ax: tennis().inspect.strongest(4).plot(ax),
    "strongest_of_texts": lambda ax: texts().inspect.strongest(10).plot(ax),
    "strongest_of_three_flowers": lambda ax: flowers().inspect.strongest(4).plot(ax),
    "strongest_of_many_classes": lambda ax: letters().inspect.strongest(3).plot(ax),
    "linear": lambda ax: flowers(SHARED).inspect.linear().plot(ax),
    "parameters": lambda ax: texts().inspect.parameters().plot(ax, n=12),
    "parameter_counts": lambda ax: naively.parameter_counts(M=30, K=2).plot(ax),
    "graph": lambda ax: ship().inspect.graph().plot(ax),
    "images": lambda ax: digits()[0].inspect.images((8, 8)).plot(ax),
    "evidence_of_an_image": lambda ax: (
        digits()[0].explain(digits()[1][700:701])[0].plot_image((8, 8), ax)
    ),
    "probabilities": lambda ax: together().inspect.conditional("class", ["sky", "wind"]).plot(ax),
    "probabilities_of_one": lambda ax: together().inspect.marginal("sky").plot(ax),
    "explanation": lambda ax: ship().explain(first(12)).plot(ax),
    "evidence_that_moved": lambda ax: flowers().inspect.difference(flowers(SHARED)).plot(ax),
    "weights": lambda ax: weighed().weights_.plot(ax),  # noqa: PLW0108
    "rules": lambda ax: weighed().inspect.rules().plot(ax, n=6),
    # Scores
    "compared": lambda ax: naively.compare(
        {"own": flowers(), "shared": flowers(SHARED)}, *iris()
    ).plot(ax),
    "reliability": lambda ax: scores().plot_reliability(ax),
    "reliability_before": lambda ax: (
        ship().evaluate(*passengers()).plot_reliability(ax, before=scores())
    ),
    "confusion": lambda ax: scores().plot_confusion(ax),
    "confusion_of_many_classes": lambda ax: (
        letters().evaluate(*alphabet(520, 1, 0)).plot_confusion(ax)
    ),
    "worth_of_columns": lambda ax: ship().assess().plot_columns(ax),
    "roc": lambda ax: scores().plot_roc(ax),
    "roc_of_three": lambda ax: flowers().evaluate(*iris()).plot_roc(ax),
    "learning_curve": lambda ax: learned().plot(ax),
    "smoothing_curve": lambda ax: (
        tennis().curve.smoothing(*datasets.play_tennis(), values=RATES).plot(ax)
    ),
    "dependence": lambda ax: ship().inspect.dependence().plot(ax),
    "drift": lambda ax: drifted().plot(ax),
    "set_sizes": lambda ax: digits()[0].predict_set(digits()[1][600:]).plot(ax),
    "intervals": lambda ax: ship().predict_interval(first(30)).plot(ax=ax),
}


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
