"""The whole product under test: one line enrols a classifier and its table in every law."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from scipy import sparse

from naively import (
    Bernoulli,
    BernoulliNB,
    Categorical,
    CategoricalNB,
    ComplementNB,
    Exponential,
    Gaussian,
    GaussianNB,
    KernelDensity,
    Multinomial,
    MultinomialNB,
    NaiveBayes,
    Patterns,
    Poisson,
    Tally,
    Text,
)
from naively.kernels.sparse_sums import AnySums
from naively.terms.functions import LinearPart

Form = Literal["mapping", "texts", "array", "sparse"]
Columns = Mapping[str, np.ndarray]

LABELS = np.array(["ham", "news", "spam"])
WORDS = np.array(
    [
        *("prize", "winner", "claim", "CHEAP", "pills"),
        *("meeting", "notes", "naïve", "Straße", "lunch"),
        *("2026", "ΣΊΣΥΦΟΣ", "report", "x_1", "the"),
    ]
)

# A table needs more rows to fit weights than the laws of event models do, and has fewer examples.
# There is nothing to shrink in a seed.
few = settings(
    max_examples=max(2, settings.default.max_examples // 4),  # type: ignore[union-attr]
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)


def missing_some(rng: np.random.Generator, cells: Any, nothing: Any = None) -> np.ndarray:
    """Take one cell in ten away."""
    column = np.array(cells, object if nothing is None else None)
    column[rng.random(len(column)) < 0.1] = nothing
    return column


def sizes(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Numbers that differ by class, many of them twice."""
    return missing_some(rng, rng.normal(2.0 * y, 1.5).round(1), np.nan)


def doses(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Numbers above 0, with a long tail."""
    return missing_some(rng, rng.lognormal(0.5 * y), np.nan)


def visits(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Counts."""
    return rng.poisson(1.0 + y)


def noises(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Numbers that say nothing of the class."""
    return missing_some(rng, rng.normal(0.0, 3.0, len(y)), np.nan)


def bits(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Whole numbers, 0 or 1."""
    return (rng.random(len(y)) < 0.2 + 0.25 * y).astype(np.int64)


def colours(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Strings, of which one is rare."""
    levels = np.array(["red", "green", "blue", "RED", "", "rare"], object)
    p = np.full((len(LABELS), len(levels)), 0.16)
    p[:, -1] = 0.02
    p[np.arange(len(LABELS)), np.arange(len(LABELS))] += 0.5
    p /= p.sum(axis=1, keepdims=True)
    return missing_some(rng, [rng.choice(levels, p=p[c]) for c in y])


def members(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Booleans."""
    return missing_some(rng, (rng.random(len(y)) < 0.3 + 0.2 * y).tolist())


def moments(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Times of some years, so that hour, weekday and month are columns too."""
    day = rng.integers(0, 1500, len(y)) * 86_400
    second = (rng.integers(0, 43_200, len(y)) + 20_000 * y) % 86_400
    times = np.datetime64("2021-01-01T00:00:00", "us") + (day + second).astype("timedelta64[s]")
    return missing_some(rng, times, np.datetime64("NaT", "us"))


def notes(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Texts of four to nine words, which differ by class."""
    p = np.ones((len(LABELS), len(WORDS)))
    for c in range(len(LABELS)):
        p[c, 5 * c : 5 * c + 5] += 2.0
    p /= p.sum(axis=1, keepdims=True)
    texts = [" ".join(rng.choice(WORDS, rng.integers(4, 10), p=p[c])) for c in y]
    return missing_some(rng, texts)


COLUMNS: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "size": sizes,
    "dose": doses,
    "noise": noises,
    "visits": visits,
    "bit": bits,
    "colour": colours,
    "member": members,
    "when": moments,
    "note": notes,
}
MIXED = ("size", "colour", "member", "bit", "when", "note", "dose")


@dataclass(frozen=True, eq=False)
class Table:
    """A labelled table, and the form in which it is given."""

    form: Form
    columns: Columns
    y: np.ndarray
    weight: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: Any) -> Table:
        columns = {name: column[index] for name, column in self.columns.items()}
        weight = None if self.weight is None else self.weight[index]
        return replace(self, columns=columns, y=self.y[index], weight=weight)

    @property
    def X(self) -> Any:  # noqa: N802
        """The rows, as a user has them."""
        if self.form == "mapping":
            return dict(self.columns)
        if self.form == "texts":
            return self.columns["note"].tolist()
        array = np.column_stack([column.astype(np.float64) for column in self.columns.values()])
        return sparse.csr_array(array) if self.form == "sparse" else array

    @property
    def labelled(self) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """What ``fit`` takes."""
        return self.X, self.y, self.weight


@dataclass(frozen=True)
class Product:
    """A classifier by its settings, and the columns of its table.

    A column may be the sum of another and of one that is not in the table, so that naive Bayes is
    wrong: each alone says little.
    """

    name: str
    columns: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    form: Form = "mapping"
    rows: int = 48
    sums: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    kind: type[NaiveBayes] = NaiveBayes

    def __repr__(self) -> str:
        return self.name

    def table(self, seed: int, n: int | None = None, *, weights: bool = False) -> Table:
        """Draw a table; each class has a row that weighs, and what rows hold depends on it."""
        rng = np.random.default_rng(seed)
        n = self.rows if n is None else n
        y = rng.choice(len(LABELS), n, p=[0.5, 0.3, 0.2])
        y[:3] = np.arange(3)
        columns = {name: COLUMNS[name](rng, y) for name in self.columns}
        for name, (there, hidden) in self.sums.items():
            columns[name] = columns[there] + COLUMNS[hidden](rng, y)
        weight = None
        if weights:
            weight = rng.choice([1.0, 2.0, 0.3, 7.25, 0.0], n)
            weight[:3] = 2.0
        return Table(self.form, columns, LABELS[y], weight)

    def fit(self, table: Table) -> NaiveBayes:
        """Learn a table at once."""
        return self.kind(**self.settings).fit(*table.labelled)


def words(alpha: Any = 0.5, **settings: Any) -> Text:
    return Text(binary=True, event=Multinomial(alpha=alpha), **settings)


GIVEN = {
    "size": Gaussian(),
    "dose": Exponential(),
    "visits": Poisson(),
    "colour": Categorical(m=2.0),
    "member": Bernoulli(alpha=0.5),
    "note": [words(), words(ngram_range=(2, 2)), Patterns(event=Multinomial(alpha=0.5))],
}

PRODUCTS = [
    Product("defaults", MIXED),
    Product("temperature", MIXED, {"weights": "temperature"}),
    Product("pure", MIXED, {"weights": None}),
    Product("pseudo-count and priors", MIXED, {"smoothing": 0.5, "class_prior": "uniform"}),
    Product("given", tuple(GIVEN), {"event_models": GIVEN}),
    Product("sums", ("noise", "colour"), sums={"sum": ("noise", "size")}, rows=150),
    Product("numbers", ("size", "dose"), form="array"),
    Product("one temperature", ("size", "dose"), {"weights": "temperature"}, form="array"),
    Product("densities", ("size", "dose"), {"event_models": KernelDensity()}, form="array"),
    Product("categories", ("colour",)),
    Product("booleans", ("member",)),
    Product("texts", ("note",), form="texts"),
    Product("words", ("note",), {"text": "words"}, form="texts"),
    Product("counts", ("visits", "bit"), form="sparse"),
]
DROP_INS = [
    Product(kind.__name__, ("visits", "bit"), form="array", kind=kind)
    for kind in (GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB)
]


def seeds() -> st.SearchStrategy[int]:
    """Seeds of tables."""
    return st.integers(0, 2**32 - 1)


def assert_same_tally(a: Tally, b: Tally, scale: float = 1e13) -> None:
    """Two tallies are one: their difference is nothing."""
    assert a.classes.tolist() == b.classes.tolist()
    zero = a - b
    left = [zero.weight, *(sums for block in zero.blocks.values() for sums in block.sums.values())]
    for sums in left:
        assert isinstance(sums, AnySums)
        assert np.abs(sums.high).max(initial=0.0) <= 1e-28 * scale


def assert_same(a: NaiveBayes, b: NaiveBayes, X: Any, atol: float = 1e-5) -> None:
    """Two classifiers are one: what they counted, their weights, and what they answer."""
    assert a.classes_.tolist() == b.classes_.tolist()
    assert_same_tally(a.tally_, b.tally_)
    assert_same_weights(a, b, atol)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=0, atol=atol)
    # A pseudo-count that is chosen is found to one part in a million.
    np.testing.assert_allclose(a.score_samples(X), b.score_samples(X), rtol=1e-6)


def assert_same_weights(a: NaiveBayes, b: NaiveBayes, atol: float = 1e-5) -> None:
    """Two classifiers weigh the evidence alike."""
    mine, theirs = a.weights_, b.weights_
    if mine is None or theirs is None:
        assert mine is theirs
        return
    classes = a.classes_.tolist()
    assert mine.by_name.keys() == theirs.by_name.keys()
    for name, of in mine.by_name.items():
        found = [[of[label], theirs.by_name[name][label]] for label in classes]
        np.testing.assert_allclose(*np.transpose(found), rtol=0, atol=atol, err_msg=name)
    np.testing.assert_allclose(
        mine.bias_of(classes), theirs.bias_of(classes), rtol=0, atol=atol, err_msg="biases"
    )
    np.testing.assert_allclose([mine.usual, mine.rows], [theirs.usual, theirs.rows], atol=atol)
    assert_same_terms(
        mine.linear, theirs.linear, mine.places(classes), theirs.places(classes), atol
    )


def assert_same_terms(
    a: LinearPart, b: LinearPart, mine: list[int], theirs: list[int], atol: float
) -> None:
    """Two linear parts have the same terms and rules, of about the same functions and slopes."""

    def terms(of: LinearPart, places: list[int]) -> dict[Any, list[np.ndarray]]:
        found: dict[Any, list[np.ndarray]] = {}
        for term, slope in of.of.items():
            settings = vars(term.function)
            named = ("level", "among")
            level, kind = tuple(settings.get(name) for name in named), type(term.function)
            numbers = [of for name, of in settings.items() if name not in named]
            numbers += np.array([*slope, 0.0])[places].tolist()
            found.setdefault((term.group, term.column, kind, level), []).append(np.array(numbers))
        for rule, values in of.rules.items():
            found[rule] = [np.array([*value, 0.0])[places] for value in values]
        return found

    one, other = terms(a, mine), terms(b, theirs)
    assert one.keys() == other.keys()
    assert a.ridge == pytest.approx(b.ridge, rel=1e-9)
    for key, numbers in one.items():
        np.testing.assert_allclose(numbers, other[key], rtol=1e-9, atol=atol, err_msg=str(key))
