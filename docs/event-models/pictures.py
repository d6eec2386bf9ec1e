"""The pictures of the event models: what two or three classes are learned to be, beside their data.

Each is drawn while the documentation is built, from the public interface alone.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from naively import (
    Bernoulli,
    Binomial,
    Categorical,
    Complement,
    Exponential,
    Gaussian,
    Geometric,
    Histogram,
    JointTable,
    KernelDensity,
    LogitNormal,
    LogNormal,
    Multinomial,
    NaiveBayes,
    NegativeBinomial,
    Poisson,
    datasets,
)
from naively.wings.pictures.axes import COLOURS, GREY, STYLE, line, new_axes

plt.rcParams.update(STYLE)

Axes = Any
RNG = np.random.default_rng
BAR = 0.38  # the width of a bar


def named(ax: Axes, columns: int = 3) -> None:
    """Say what is what above the picture, where nothing is drawn."""
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns)


def likelihoods(nb: NaiveBayes, X: Any) -> np.ndarray:
    """Return p(x | class), of shape (rows, classes): by Bayes' rule from what a model answers."""
    evidence = np.exp(nb.score_samples(X))[:, None]
    return nb.predict_proba(X) * evidence / np.exp(nb.class_log_prior_)


def learned(event: Any, x: Any, y: Any) -> NaiveBayes:
    """Return pure naive Bayes of one column."""
    return NaiveBayes(event, weights=None).fit(np.reshape(x, (len(y), 1)), y)


def curves(
    event: Any, x: np.ndarray, y: np.ndarray, of: str, bins: int = 20, most: float = np.inf
) -> Axes:
    """Draw the density of each class over a histogram of its numbers."""
    nb, ax = learned(event, x, y), new_axes()
    grid = np.linspace(x.min(), min(x.max(), most), 600)[:, None]
    density = likelihoods(nb, grid)
    edges = np.linspace(grid[0, 0], grid[-1, 0], bins + 1)
    for i, label in enumerate(nb.classes_):
        count, _ = np.histogram(x[y == label], edges)
        share = count / (y == label).sum() / np.diff(edges)
        ax.stairs(share, edges, fill=True, color=COLOURS[i], alpha=0.25)
        ax.plot(grid[:, 0], density[:, i], label=str(label), **line(i))
    ax.set(xlabel=of, ylabel="density")
    named(ax)
    return ax


def bars(event: Any, x: np.ndarray, y: np.ndarray, of: str, most: int = 100) -> Axes:
    """Draw the probability of each count in each class, beside its share of the rows."""
    nb, ax = learned(event, x, y), new_axes()
    counts = np.arange(min(int(x.max()), most) + 1)
    p = likelihoods(nb, counts[:, None].astype(float))
    for i, label in enumerate(nb.classes_):
        of_class = x[y == label]
        share = (of_class[:, None] == counts).mean(axis=0)
        ax.bar(counts + (i - 0.5) * BAR, share, BAR, color=COLOURS[i], alpha=0.3)
        ax.plot(counts, p[:, i], label=str(label), marker="os^"[i], **line(i))
    ax.set(xlabel=of, ylabel="probability")
    ax.xaxis.get_major_locator().set_params(integer=True)
    named(ax)
    return ax


def levels(names: list[str], p: np.ndarray, classes: Any, ylabel: str = "probability") -> Axes:
    """Draw one bar for each level and class."""
    ax, at = new_axes(), np.arange(len(names))
    width = 0.8 / len(classes)
    for i, label in enumerate(classes):
        left = at + (i - (len(classes) - 1) / 2) * width
        hatch = ("", "///", "...")[i]
        ax.bar(left, p[:, i], width, color=COLOURS[i], alpha=0.75, hatch=hatch, label=str(label))
    ax.set_xticks(at, names)
    ax.set(ylabel=ylabel)
    named(ax)
    return ax


def petals() -> tuple[np.ndarray, np.ndarray]:
    """Return the petal lengths of two species of iris, in cm."""
    iris = load_iris()
    two = iris.target > 0
    return iris.data[two, 2], iris.target_names[iris.target[two]]


def two(draw: Any, a: Any, b: Any, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of two classes, ``draw(parameter, n)`` each."""
    x = np.concatenate([draw(a, n), draw(b, n)])
    return x, np.repeat(["a", "b"], n)


def gaussian() -> Axes:
    return curves(Gaussian(), *petals(), "petal length (cm)")


def histogram() -> Axes:
    return curves(Histogram(), *petals(), "petal length (cm)")


def kernel_density() -> Axes:
    return curves(KernelDensity(), *petals(), "petal length (cm)")


def log_normal() -> Axes:
    rng = RNG(0)
    x, y = two(lambda mean, n: rng.lognormal(mean, 0.6, n), 0.3, 1.4)
    return curves(LogNormal(), x, y, "income (thousands)", 30, 15)


def logit_normal() -> Axes:
    found, president = datasets.approval()
    few = np.isin(president, ["Bush", "Trump"])
    x, y = np.array(found["approve"], np.float64)[few], np.array(president)[few]
    return curves(LogitNormal(low=0, high=100), x, y, "approve (per cent)", 25, 100)


def exponential() -> Axes:
    rng = RNG(0)
    x, y = two(rng.exponential, 2.0, 6.0)
    return curves(Exponential(), x, y, "minutes until the next call", 25, 20)


def poisson() -> Axes:
    return bars(Poisson(), *two(RNG(0).poisson, 1.2, 4.0), "goals in a match")


def binomial() -> Axes:
    rng = RNG(0)
    x, y = two(lambda p, n: rng.binomial(10, p, n), 0.4, 0.8)
    return bars(Binomial(trials=10), x, y, "right answers out of ten")


def geometric() -> Axes:
    rng = RNG(0)
    x, y = two(lambda p, n: rng.geometric(p, n) - 1, 0.6, 0.25)
    return bars(Geometric(), x, y, "failures before the first success", 12)


def negative_binomial() -> Axes:
    rng = RNG(0)
    x, y = two(lambda p, n: rng.negative_binomial(3, p, n), 0.7, 0.35)
    return bars(NegativeBinomial(r=3), x, y, "failures before the third success", 16)


def bernoulli() -> Axes:
    words = ["free", "meeting", "click", "lunch"]
    X = (
        RNG(0).random((200, 4))
        < np.array([[0.6, 0.1, 0.5, 0.05], [0.1, 0.4, 0.08, 0.3]])[np.arange(200) % 2]
    )
    y = np.array(["spam", "ham"])[np.arange(200) % 2]
    nb = NaiveBayes(Bernoulli(), weights=None)
    p = np.array([
        likelihoods(nb.fit(X[:, [j]].astype(float), y), [[1.0]])[0] for j in range(4)
    ])  # fmt: skip
    return levels(words, p, nb.classes_, "p(word in a message | class)")


def categorical() -> Axes:
    colours = ["red", "green", "blue", "never seen"]
    x = ["red"] * 6 + ["green"] * 3 + ["blue"] + ["red"] + ["green"] * 2 + ["blue"] * 5
    y = ["a"] * 10 + ["b"] * 8
    nb = NaiveBayes(Categorical(alpha=1), weights=None).fit({"colour": x}, y)
    return levels(colours, likelihoods(nb, {"colour": colours}), nb.classes_)


def words_of(event: Any, ylabel: str) -> Axes:
    """Draw the weight of each of five words in each class."""
    words = ["goal", "match", "market", "price", "the"]
    X = np.array([[6, 4, 0, 0, 12], [3, 5, 0, 1, 9], [0, 0, 5, 4, 11], [0, 1, 3, 6, 14]], float)
    nb = NaiveBayes(event, weights=None).fit(X, ["sport", "sport", "business", "business"])
    joint = nb.predict_joint_log_proba(np.eye(5)) - nb.class_log_prior_
    return levels(words, joint, nb.classes_, ylabel)


def multinomial() -> Axes:
    return words_of(Multinomial(), "log p(word | class), nats")


def complement() -> Axes:
    return words_of(Complement(), "weight of a word, nats")


def joint_table() -> Axes:
    """Draw the posterior of exclusive or, which no sum over columns can have."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, float)
    y = np.where(X[:, 0] == X[:, 1], "same", "different")
    ax, at = new_axes(), np.arange(4)
    rows = ["0, 0", "0, 1", "1, 0", "1, 1"]
    for i, (event, name) in enumerate([(JointTable(), "joint table"), (Bernoulli(), "Bernoulli")]):
        p = NaiveBayes(event, weights=None).fit(X, y).predict_proba(X[:4])[:, 1]
        ax.bar(at + (i - 0.5) * BAR, p, BAR, color=COLOURS[i], alpha=0.75,
               hatch=("", "///")[i], label=name)  # fmt: skip
    ax.axhline(0.5, color=GREY, linewidth=0.7)
    ax.set_xticks(at, rows)
    ax.set(xlabel="row (x, y)", ylabel="p('same' | row)", ylim=(0, 1))
    named(ax)
    return ax


def text() -> Axes:
    """Draw what each word of a text says."""
    texts = ["cheap pills, buy now", "lunch at noon?", "buy cheap watches", "see you at lunch"]
    nb = NaiveBayes(text="words", weights=None).fit(texts, ["spam", "ham", "spam", "ham"])
    table = nb.explain(["cheap lunch, buy one get one"]).to_dict()
    of_spam = [i for i, label in enumerate(table["class"]) if label == "spam"]
    names = [table["value"][i] or table["column"][i] for i in of_spam][::-1]
    weights = [table["weight"][i] for i in of_spam][::-1]
    ax = new_axes(height=1.6)
    ax.barh(names, weights, color=[COLOURS[int(w < 0)] for w in weights], height=0.6)
    ax.axvline(0, color=GREY, linewidth=0.7)
    ax.set(xlabel="weight of evidence for spam, nats")
    return ax


def priors() -> Axes:
    """Draw a coin's prior, likelihood and posterior."""
    from scipy import stats

    ax, p = new_axes(), np.linspace(0, 1, 400)
    for i, (name, a, b) in enumerate([
        ("prior Beta(6, 6)", 6, 6),
        ("8 heads, 2 tails alone", 9, 3),
        ("posterior Beta(14, 8)", 14, 8),
    ]):  # fmt: skip
        ax.plot(p, stats.beta(a, b).pdf(p), label=name, **line(i))
    ax.set(xlabel="probability of heads", ylabel="density", ylim=(0, None))
    named(ax, 1)
    return ax
