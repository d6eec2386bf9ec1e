"""The exercises of the five lectures: what is asked is on their pages, what is right is known here.

No answer is written down that naively, or exact arithmetic, can compute. An answer may be a number
of three digits, a fraction or a percentage as a string, a name, or several of these in a list or
by name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from naively import datasets
from naively.counting.labels import Label
from naively.data.frames import Table
from naively.estimators.naive_bayes import NaiveBayes
from naively.events import Bernoulli, Beta, Categorical, Gaussian, Normal
from naively.events.estimate import Estimate
from naively.frozen import Frozen
from naively.inspect.parameters import parameter_counts
from naively.schema.settings import Probabilities
from naively.schema.text import Text
from naively.wings.pictures.axes import DASHES, HEIGHT, MARKERS, WIDTH, pyplot, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

DIGITS = 3  # of a number, which an answer must have right
SPELT = {"nb": "naive bayes", "naïve bayes": "naive bayes"}  # names that are written otherwise too

Given: TypeAlias = Any  # whatever was answered
Value: TypeAlias = "str | float | Fraction"
Known: TypeAlias = "Value | Sequence[Value] | Mapping[str, Value]"


class Exercise(Frozen, eq=True):
    """What helps with an exercise, and how its answer is found."""

    hint: str
    answer: Callable[[], Known]


class Checked(Frozen, eq=True):
    """Whether an answer is right, which is its truth value, and what to say of it."""

    says: str
    right: bool = False

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return self.says


def check(exercise: str, answer: Given) -> Checked:
    """Say whether the answer to an exercise of the lectures is right, or else give a hint.

    Parameters
    ----------
    exercise : str
        Its number, such as "E1.3": the third of the first lecture. The letter may be left out.
    answer : number, str, or sequence, array or mapping of these
        A number of three digits, a fraction ("4/27"), a percentage ("74.3%"), a name, or several of
        these: in the order of the question, or by what they are of.

    Returns
    -------
    checked : Checked
        True or false, and printed in words.

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> from naively import lectures
    >>> lectures.check("E1.3", 0.5)
    E1.3: not yet. Find the estimate first; then each flip is a factor.
    >>> lectures.check("E1.3", "4/27")
    E1.3 is right.
    """
    one = _find(exercise)
    known = one.answer()
    match known, answer:
        case dict(), dict():
            by_name = {str(name).casefold(): value for name, value in answer.items()}
            if by_name.keys() != known.keys():
                return Checked(f"{exercise}: not yet. Values of {', '.join(known)} are asked for.")
            answer = [by_name[name] for name in known]
    expected, given = _listed(known), _listed(answer)
    if len(given) != len(expected):
        several = "1 value is" if len(expected) == 1 else f"{len(expected)} values are"
        return Checked(f"{exercise}: not yet. {several} asked for, and {len(given)} given.")
    if all(_same(mine, theirs) for mine, theirs in zip(expected, given, strict=True)):
        return Checked(f"{exercise} is right.", right=True)
    return Checked(f"{exercise}: not yet. {one.hint}")


def hint(exercise: str) -> str:
    """Return what helps with an exercise of the lectures, and does not give it away.

    Parameters
    ----------
    exercise : str
        Its number, such as "E1.3". The letter may be left out.

    Returns
    -------
    hint : str

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> from naively import lectures
    >>> lectures.hint("E1.3")
    'Find the estimate first; then each flip is a factor.'
    """
    return _find(exercise).hint


def _find(exercise: str) -> Exercise:
    number = exercise.removeprefix("E")
    if number not in EXERCISES:
        last = {of.partition(".")[0]: of for of in EXERCISES}
        ranges = ", ".join(f"E{lecture}.1 to E{of}" for lecture, of in last.items())
        raise ValueError(f"There is no exercise {exercise!r}; there are {ranges}.")
    return EXERCISES[number]


def _listed(answer: Given) -> list[Given]:
    """Return the values of an answer: of a scalar, a sequence, an array of any shape, a mapping."""
    if hasattr(answer, "tolist"):
        answer = answer.tolist()
    match answer:
        case dict():
            return _listed(list(answer.values()))
        case list() | tuple():
            return [value for part in answer for value in _listed(part)]
    return [answer]


def _same(known: Value, given: Given) -> bool:
    """Return whether a value is the known one: a name in any case, a number to three digits."""
    match known:
        case str():
            return _name(str(given)) == known
        case int() | Fraction(numerator=0):
            enough = 0.0
        case _:
            enough = 0.5 * 10.0 ** (math.floor(math.log10(abs(float(known)))) + 1 - DIGITS)
    try:
        return abs(_number(str(given)) - float(known)) <= enough * (1 + 1e-9)
    except (ValueError, ZeroDivisionError):
        return False


def _name(given: str) -> str:
    """Return a name as it is known: without an article, and without what is around it."""
    name = " ".join(given.casefold().replace("-", " ").strip(" .!'\"").split())
    name = re.sub(r"^(an?|the) ", "", name)
    return SPELT.get(name, name)


def _number(given: str) -> float:
    """Return the number that is written as a number, a fraction or a percentage."""
    part = 100 if given.strip().endswith("%") else 1
    return float(Fraction(given.strip(" %")) / part)


# --- What is right -------------------------------------------------------------------------------


def _probability(nb: NaiveBayes, item: str, label: str) -> float:
    """Return the probability of a level or a word in a class."""
    table = nb.inspect.parameters().to_dict()
    rows = zip(table["class"], table["item"], table["value"], strict=True)
    return next(float(value) for of, what, value in rows if (of, what) == (label, item))


def _posterior(
    nb: NaiveBayes, rows: Table, label: str, class_prior: Probabilities | None = None
) -> float:
    """Return the posterior of a class for one row."""
    p = nb.predict_proba(rows, class_prior=class_prior)
    return float(p[0, nb.classes_.tolist().index(label)])


def _unknown_coin() -> float:
    coin = Bernoulli(success="H", prior=Beta(1, 1)).fit([*"HHT"])
    return math.exp(coin.log_evidence)


def _mean_of_scores() -> dict[str, float]:
    found: Any = Gaussian(variance=100.0, prior=Normal(70, 25)).fit([60.0] * 4).updated
    return {"mean": found.mean, "variance": found.variance}


def _is_ill() -> float:
    test: dict[Label, Estimate] = {"ill": Bernoulli.of(p=0.9), "well": Bernoulli.of(p=0.1)}
    nb = NaiveBayes.of({"ill": 0.02, "well": 0.98}, {"positive": test})
    return _posterior(nb, {"positive": [True]}, "ill")


def _tennis(smoothing: float = 0.0) -> NaiveBayes:
    return NaiveBayes.textbook("categorical", smoothing).fit(*datasets.play_tennis())


def _day(of: str) -> dict[str, list[str]]:
    names = ("outlook", "temperature", "humidity", "wind")
    return {name: [level] for name, level in zip(names, of.split(), strict=True)}


TODAY = _day("sunny cool high strong")


def _m_estimate() -> float:
    nb = NaiveBayes(Categorical(m=6, p="uniform"), weights=None)
    return _probability(nb.fit(*datasets.play_tennis()), "overcast", "no")


def _copies(n: int) -> float:
    one: dict[Label, Estimate] = {"a": Bernoulli.of(p=0.8), "b": Bernoulli.of(p=0.4)}
    names = [f"x{j}" for j in range(n)]
    nb = NaiveBayes.of({"a": 0.5, "b": 0.5}, dict.fromkeys(names, one))
    return _posterior(nb, {name: [True] for name in names}, "a")


def _filter(smoothing: float = 1.0) -> NaiveBayes:
    return NaiveBayes.textbook("multinomial", smoothing).fit(*datasets.mails())


def _headline() -> float:
    real = ("parliament votes on budget", "minister visits hospital", "budget is signed",
            "start-up becomes a unicorn", "hospital opens in may")  # fmt: skip
    nb = NaiveBayes.textbook("bernoulli", 1.0)
    return _probability(nb.fit([*real, "unicorn"], ["real"] * 5 + ["fake"]), "budget", "real")


def _gaussians(x: Sequence[float]) -> list[float]:
    nb = NaiveBayes.textbook("gaussian").fit([[v] for v in x], ["a", "a", "b", "b"])
    return list(map(float, nb.inspect.parameters(column="x0").to_dict()["value"]))


def _border() -> float:
    often, event = {"a": 1 / 11, "b": 10 / 11}, Gaussian(smoothing=0, variance="shared")
    nb = NaiveBayes(event, often, weights=None)
    line = nb.fit([[1.0], [3.0], [7.0], [9.0]], ["a", "a", "b", "b"]).inspect.linear()
    return float(-line.intercept[0] / line.coef[0][0])


def _nearest() -> str:
    flowers, species, _, names = datasets.iris()
    nb = NaiveBayes(Gaussian(variance=1.0, smoothing=0), "uniform", weights=None)
    nb.fit(flowers[:, 2:], species)
    return names[int(nb.predict([[4.9, 1.6]])[0])]


def _parameters(variance: str) -> int:
    rows = [[float(i + j) for j in range(30)] for i in range(4)]
    nb = NaiveBayes(Gaussian(smoothing=0, variance=variance), weights=None)
    return int(nb.fit(rows, [0, 0, 1, 1]).n_parameters_)


def _line(a: Estimate, b: Estimate, p: float) -> list[float]:
    """Return slope and intercept of the log odds of b, which has the prior p."""
    nb = NaiveBayes.of({"a": 1 - p, "b": p}, {"x": {"a": a, "b": b}})
    at_0, at_1 = (nb.explain({"x": [x]})[0].log_odds(1) for x in (0.0, 1.0))
    return [at_1 - at_0, at_0]


def _without_the_first_day() -> dict[str, float]:
    X, y = datasets.play_tennis()
    nb = _tennis().forget({name: of[:1] for name, of in X.items()}, y[:1])
    return dict(zip(nb.classes_.tolist(), map(float, nb.class_count_), strict=True))


EXERCISES = {
    "1.1": Exercise(
        "Write l(θ) with the two counts, and set its derivative to zero.",
        lambda: Bernoulli(success="H").fit([*"THHTHHH"]).mle,
    ),
    "1.2": Exercise(
        "Beta(a, b) adds a - 1 heads and b - 1 tails to the counts.",
        lambda: Bernoulli(prior=Beta(101, 1)).fit([1] * 8 + [0] * 2).map,
    ),
    "1.3": Exercise(
        "Find the estimate first; then each flip is a factor.",
        lambda: Fraction(2, 3) ** 2 * Fraction(1, 3),
    ),
    "1.4": Exercise(
        "Each colour is counted k times more, so that the whole grows by k for each colour.",
        lambda: [Categorical(alpha=k).fit(["red", "red", "blue"]).mean["red"] for k in (1, 100)],
    ),
    "1.5": Exercise(
        "The next flip is heads with the posterior's mean, which is not its mode.",
        lambda: Bernoulli(prior=Beta(2, 2)).fit([1, 1, 1]).mean,
    ),
    "1.6": Exercise(
        "Integrate the likelihood over all θ: a Beta integral, which is made of factorials.",
        _unknown_coin,
    ),
    "1.7": Exercise(
        "It is the ratio of two evidences. A known coin needs no integral.",
        lambda: _unknown_coin() * 2**3,
    ),
    "1.8": Exercise(
        "Maximum likelihood divides by n, not by n - 1.",
        lambda: Gaussian().fit([52, 71, 38, 64, 45]).mle,
    ),
    "1.9": Exercise(
        "Precisions, which are reciprocals of variances, add; means are weighed by them.",
        _mean_of_scores,
    ),
    "2.1": Exercise("Count the ill and the well with a positive test in 1,000 people.", _is_ill),
    "2.2": Exercise(
        "With the assumption each column needs a probability in each class; without it each row of "
        "booleans does, and those of a class add up to one. The class itself needs one more.",
        lambda: [int(parameter_counts(10).n_parameters), 2**11 - 1],
    ),
    "2.3": Exercise(
        "Count the days with tennis, and among these the days of normal humidity.",
        lambda: [Fraction(9, 14), _probability(_tennis(), "normal", "yes")],
    ),
    "2.4": Exercise("Which level was never seen on a day without tennis?", lambda: "overcast"),
    "2.5": Exercise(
        "Add m p, here a third of m, to the count, and m to the days of the class.",
        _m_estimate,
    ),
    "2.6": Exercise(
        "Add one to each count, and to each class as many as the column has levels.",
        lambda: _posterior(_tennis(1.0), _day("rain hot high strong"), "no"),
    ),
    "2.7": Exercise(
        "The likelihoods stay; only the first factor of each product changes.",
        lambda: _posterior(_tennis(), TODAY, "no", class_prior={"no": 0.3, "yes": 0.7}),
    ),
    "2.8": Exercise(
        "At this cost both answers have the same expected cost.",
        lambda: _posterior(_tennis(), TODAY, "no") / _posterior(_tennis(), TODAY, "yes"),
    ),
    "2.9": Exercise(
        "The odds are multiplied by the same ratio for each copy.", lambda: [_copies(1), _copies(3)]
    ),
    "3.1": Exercise(
        "Case and punctuation do not count, and order does not either.",
        lambda: Text(vocabulary=["to", "be", "or", "not"]).counts("To be, or not to be"),
    ),
    "3.2": Exercise(
        "The vocabulary is that of both classes: each of its words is counted once more.",
        lambda: _probability(_filter(), "now", "spam"),
    ),
    "3.3": Exercise(
        "Without smoothing, divide by how many words spam has; then multiply.",
        lambda: math.exp(_filter(0.0).score_samples(["now money"], "spam")[0]),
    ),
    "3.4": Exercise(
        "Both classes have as many mails and as many words: compare the counts plus one.",
        lambda: _posterior(_filter(), ["prize money meeting"], "spam"),
    ),
    "3.5": Exercise("Count headlines, not words: each has the word or lacks it.", _headline),
    "3.6": Exercise(
        "Which model has a factor for each word of the vocabulary, in the text or not?",
        lambda: "bernoulli",
    ),
    "3.7": Exercise(
        "Each time that the word comes is one more factor; logarithms of factors add.",
        lambda: float(_filter().explain(["prize prize prize"])[0].log_odds(1)),
    ),
    "3.8": Exercise(
        "It has its pseudo-count, and the class has one for each word of the vocabulary.",
        lambda: Fraction(1, 18 + 10_000),
    ),
    "3.9": Exercise(
        "Arrange all words, then divide by the ways to arrange those that are the same.",
        lambda: math.factorial(5) // math.factorial(3),
    ),
    "4.1": Exercise(
        "Find the mean of each class, and the mean of the squared deviations from it.",
        lambda: _gaussians([1, 2, 8, 9]),
    ),
    "4.2": Exercise(
        "Set the log odds to zero: halfway, less σ² ln(ratio of priors) / (difference of means).",
        _border,
    ),
    "4.3": Exercise(
        "With one variance for all, only the distances to the means are left.", _nearest
    ),
    "4.4": Exercise(
        "Write the log odds: no linear term is left, and both squares have the same factor.",
        lambda: "circle",
    ),
    "4.5": Exercise(
        "Count a mean for each column and class, then the variances, then the class prior.",
        lambda: [_parameters("class"), _parameters("shared")],
    ),
    "4.6": Exercise(
        "Take logarithms: the halved squares differ by ln of the ratio of the deviations.",
        lambda: math.sqrt(2 * math.log(3) / (1 - 1 / 9)),
    ),
    "4.7": Exercise(
        "The exponent is zero at the mean; what is left has the standard deviation below.",
        lambda: float(Gaussian.of(mean=0, variance=0.01).fitted.pdf(0)),
    ),
    "4.8": Exercise(
        "Draw the corners, and try to have each class on one side of a line.", lambda: 3
    ),
    "5.1": Exercise(
        "The weight is the difference of two logits.",
        lambda: _line(Bernoulli.of(p=0.25), Bernoulli.of(p=0.75), 0.5)[0],
    ),
    "5.2": Exercise(
        "Multiply both squares out: those of x cancel, as the variance is shared.",
        lambda: _line(Gaussian.of(mean=1, variance=2), Gaussian.of(mean=3, variance=2), 0.75),
    ),
    "5.3": Exercise("Add the counts, and not the shares.", lambda: Fraction(12 + 3, 20 + 30)),
    "5.4": Exercise("The count is a geometric series.", lambda: 1 / (1 - Fraction(9, 10))),
    "5.5": Exercise(
        "Weigh the gap between confidence and accuracy of each bin by its share of the rows.",
        lambda: (
            Fraction(20, 100) * (Fraction(9, 10) - Fraction(15, 20))
            + Fraction(80, 100) * (Fraction(52, 80) - Fraction(6, 10))
        ),
    ),
    "5.6": Exercise(
        "It is the mean of -ln of the probability of each right class.",
        lambda: -sum(map(math.log, (0.8, 0.5, 0.1))) / 3,
    ),
    "5.7": Exercise(
        "Which of the two needs only means, which few rows estimate well?",
        lambda: "naive bayes",
    ),
    "5.8": Exercise("All copies together must say what one says.", lambda: Fraction(1, 4)),
    "5.9": Exercise("The day is subtracted from the class that it had.", _without_the_first_day),
}


# --- Pictures side by side, and lines of measurements: what the examples share -------------------


def side_by_side(
    *titles: str, rows: int = 1, width: float = WIDTH, height: float = HEIGHT
) -> list[Axes]:
    """Return Axes of a new figure, one for each title, in the style of all pictures."""
    # The Axes are in ``rows`` rows; each is ``width`` by ``height`` inches.
    plt, columns = pyplot(), -(-len(titles) // rows)
    axes = []
    with styled():
        figure = plt.figure(figsize=(width * columns, height * rows), layout="constrained")
        parts = figure.subfigures(rows, columns, squeeze=False).flat
        for title, part in zip(titles, parts, strict=False):
            part.suptitle(title, fontsize=8)
            axes.append(part.subplots())
    return axes


def draw_lines(
    x: ArrayLike, lines: Mapping[str, ArrayLike], labels: tuple[str, str], ax: Axes
) -> None:
    """Draw lines over a logarithmic axis, each with a dash and a marker of its own."""
    # labels: what x is, and what the heights of the lines are
    with styled():
        for (name, y), dash, marker in zip(lines.items(), DASHES, MARKERS, strict=False):
            ax.plot(x, y, linestyle=dash, marker=marker, markersize=3, linewidth=1.2, label=name)
        ax.set_xscale("log")
        ax.set_xlabel(labels[0])
        ax.set_ylabel(labels[1])
        ax.legend()
