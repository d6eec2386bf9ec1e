"""The event model: which statistics to count, and how their sums become terms."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeAlias, cast, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import (
    LEVEL,
    PRESENT,
    A,
    ByValue,
    Columns,
    Level,
    Statistic,
    Words,
    title,
)
from naively.counting.block import B, Block, Dense, Documents, Sparse
from naively.counting.labels import Labels
from naively.counting.leave_one_out import LeftOut, frequency_of
from naively.counting.tally import BlockTally
from naively.kernels.reference import Floats
from naively.options import HOW, PSEUDO_COUNTS, How, Options
from naively.terms.kinds import TermBlock
from naively.terms.uncertain import Uncertain

Items: TypeAlias = Columns | Words  # the axes of counts
PseudoCount: TypeAlias = "float | str | Sequence[float] | Floats"  # one for all, or one for each
Tables: TypeAlias = Mapping[str, Floats]  # parameters by name
ClassNumbers: TypeAlias = NDArray[np.integer]  # of rows to be drawn, (rows,)
Distribution: TypeAlias = Any  # frozen, of SciPy; by name if parameters have one each
Support: TypeAlias = Literal["numbers", "positive", "counts"]
# What an event model may lack, and why.
Capability: TypeAlias = Literal["posterior", "predictive", "sample"]
WHY_NOT: dict[Capability, str] = {
    "posterior": "it has no parameters with a conjugate prior",
    "predictive": "it has no distribution of a single cell",
    "sample": "it does not model how rows are generated",
}


class _Unsaid(str):
    """A way to estimate that nobody asked for, so that an estimator may say another."""

    __slots__ = ()


INTEGRATED = 'with estimate="predictive" its parameters are integrated out'
AT_ONCE = 1 << 16  # numbers that are left out together, so that what follows stays in the cache
UNSAID: How = cast("How", _Unsaid("mean"))  # the default of every event model


class Ratios(NamedTuple):
    """Probabilities as ratios of counts: (counted + pretend) / (of + pretend_of).

    Each is of shape (rows of the terms' table, classes); without the pretend counts it is
    maximum likelihood.
    """

    counted: Floats
    pretend: Floats
    of: Floats
    pretend_of: Floats

    @classmethod
    def spread(cls, counted: Floats, pretend: Floats, of: Floats, pretend_of: Floats) -> Self:
        """Return ratios of tables that are broadcast to the shape of the counts."""
        # A pretend count that would make a count negative, as a mode has it, takes it to 0.
        every = (counted, np.maximum(pretend, -counted), of, pretend_of)
        return cls(*(np.broadcast_to(table, counted.shape) for table in every))


class Formula(NamedTuple):
    """A density with its numbers put in, as text and as LaTeX."""

    text: str
    latex: str


class EventModel(ABC, Generic[A, B]):
    """How the columns of one block are generated, given the class (McCallum & Nigam 1998).

    A subclass is a frozen dataclass of its settings. It names the statistics that it counts and
    derives parameters and terms from their sums; counting, merging, forgetting, missing
    cells, scoring and explaining follow from these.

    Examples
    --------
    >>> from naively import EventModel, Gaussian
    >>> isinstance(Gaussian(), EventModel), [s.value for s in Gaussian.statistics]
    (True, ['present', 'value', 'square'])
    """

    name: ClassVar[str]
    statistics: ClassVar[tuple[Statistic, ...]]
    # How columns are encoded: as they are, each by its levels, or all together by whole rows.
    layout: ClassVar[Literal["numbers", "levels", "rows"]] = "numbers"
    joined: ClassVar[bool] = False  # whether all columns of a block are one event, a bag of counts
    smoothed_by: ClassVar[str] = "alpha"  # the option that ``NaiveBayes(smoothing=)`` sets
    chosen_by: ClassVar[str | None] = None  # the option whose "auto" leave-one-out chooses
    shares: ClassVar[bool] = False  # whether values are from 0 to 1
    # Which numbers have a likelihood: all, those above 0 (or of at least 0), or whole ones.
    support: ClassVar[Support] = "numbers"
    declared: tuple[Level, ...] = ()  # the levels that every column has, whether seen or not
    estimate: How

    def __str__(self) -> str:
        """Return the name, with the options that differ from their defaults."""
        of = fields(self)  # type: ignore[arg-type]  # a subclass is a dataclass
        options = [(f.name, getattr(self, f.name), f.default) for f in of]
        other = [f"{name}={value!r}" for name, value, usual in options if value != usual]
        return f"{self.name}({', '.join(other)})" if other else self.name

    @final
    @classmethod
    def of_options(cls, options: Options) -> Self:
        """Return an event model of this kind, smoothed and estimated as ``NaiveBayes`` is told."""
        count = options.pseudo_count
        given: dict[str, object] = {cls.smoothed_by: count}
        if count is None:
            given = {} if cls.chosen_by is None else {cls.chosen_by: "auto"}
        return cls(estimate=options.estimate, **given)  # type: ignore[call-arg]  # each has options of its own

    @final
    def asked(self, estimate: How) -> Self:
        """Return this event model with a way to estimate, unless it was given its own."""
        if not isinstance(self.estimate, _Unsaid) or self.estimate == estimate:
            return self
        return replace(self, estimate=estimate)  # type: ignore[type-var]  # a subclass is a dataclass

    def check_density(self) -> None:
        """Raise a ValueError unless log likelihoods, with the base measure, are of a density."""

    @property
    def sparse(self) -> bool:
        """Whether zeros need not be stored to be counted and scored."""
        return True

    @property
    def by_word(self) -> bool:
        """Whether the evidence of a text is the sum of its words' evidence."""
        return False

    @property
    def by_column(self) -> bool:
        """Whether no column has a say in the parameters of another."""
        return True

    def prepare(self, block: B) -> B:
        """Transform encoded rows before they are counted or scored."""
        return block

    def settled(self, tally: BlockTally[A]) -> Self:  # noqa: ARG002
        """Return this event model with an "auto" pseudo-count chosen from the tally."""
        return self

    @final
    def tally(self, block: B, labels: Labels) -> BlockTally[A]:
        """Count a block: ``Yᵀ · s(X)``."""
        axis, sums = self.prepare(block).count(self.statistics, labels)
        return BlockTally(cast("A", axis), sums)

    @abstractmethod
    def parameters(self, tally: BlockTally[A], how: How) -> dict[str, Floats]:
        """Estimate the parameters, each of shape (columns, levels or words; classes)."""

    @abstractmethod
    def terms(self, tally: BlockTally[A]) -> TermBlock:
        """Derive the terms from the sums, smoothed by the prior's pretend data."""

    def centres(self, tally: BlockTally[A]) -> bool:
        """Whether the terms can be centred over the classes (see ``TermBlock.centres``)."""
        return self.terms(tally).centres

    def leave_one_out(
        self,
        tally: BlockTally[A],  # what was counted, these rows among it
        block: B,  # the rows, prepared
        labels: Labels,  # theirs, whose classes are the tally's
    ) -> Floats:
        """Return the log likelihood of each cell, (rows, parts, classes), as if not counted.

        A part is a column; but columns that are one event, a text and a sparse matrix are one part,
        or have one for each band of document frequency. It is 0 for a missing cell.
        """
        # Leaving a row out is subtraction: the sums of each cell's column less the cell's own are
        # a tally in which every cell is a column, and the parameters follow from that tally. What
        # depends on several columns (a variance floor of the largest), or on all classes (a prior
        # at the mean of a sparse column, a pseudo-count that "auto" chooses), stays as it was.
        cells = LeftOut.of(block, labels)
        if isinstance(block, Sparse | Documents):
            return self._leave_one_out_sparse(tally, cells, labels)
        return cells.spread(self.log_prob_without(tally, cells))

    def log_prob_without(self, tally: BlockTally[A], cells: LeftOut[B]) -> Floats:
        """Return the log likelihood of each cell without its own row, of shape (cells, classes)."""
        n, k = len(cells.row), len(cells.labels.classes)
        found, some = np.empty((n, k)), max(1, AT_ONCE // k if self.by_column else n)
        for start in range(0, len(cells.row), some):
            few = cells.take(np.arange(start, min(start + some, len(cells.row))))
            by_cell = _of_columns(self, few.column, len(tally.axis))
            terms: TermBlock = by_cell.terms(few.rest(tally, self.statistics))
            found[start : start + some] = terms.at(few.x, np.arange(len(few.row)))
        return found

    @np.errstate(invalid="ignore")
    def _leave_one_out_sparse(
        self, tally: BlockTally[A], cells: LeftOut[B], labels: Labels
    ) -> Floats:
        """Return log likelihoods, (rows, 1, classes), where a cell that is not stored is 0."""
        block, row, item, x = cells.block, cells.row, cells.column, cells.x
        none = np.zeros(len(labels.classes))
        joint: Floats = self.terms(tally).add(block, none, "joint", none)
        weight, own = labels.weights, self.log_prob_without(tally, cells)
        for w in np.unique(weight):
            # To leave zeros out is alike for all rows of a class: every column has so much less.
            less = self.terms(cells.rest_of_zeros(tally, float(w)))
            rows, alike = np.flatnonzero(weight == w), np.flatnonzero(weight[row] == w)
            right = rows, labels.codes[rows]
            joint[right] = less.add(block, none, "joint", none)[right]
            y = labels.codes[row[alike]]
            change = own[alike, y] - less.at(x[alike], item[alike])[np.arange(len(alike)), y]
            np.add.at(joint, (row[alike], y), change)
        alone = cells.alone(tally, cells.others(frequency_of(tally, block)))
        np.subtract.at(joint, row[alone], own[alone])
        joint[np.isnan(joint)] = -np.inf  # impossible with a cell and without it
        return joint[:, None]

    def n_parameters(self, tally: BlockTally[A]) -> int:
        """Return how many parameters are free: by default, every entry of their tables."""
        return sum(table.size for table in self.parameters(tally, "mle").values())

    def counted(self, tally: BlockTally[A]) -> Floats:
        """Return how much was counted behind each parameter, (rows of the tables, classes).

        By default it is the rows of the column, or of each level.
        """
        if isinstance(tally.axis, ByValue):
            found = tally[tally.axis.statistic].high
            return found if LEVEL in tally.sums else tally.axis.sum_by_column(found)
        return tally[PRESENT].high

    def pretended(self, tally: BlockTally[A], how: How) -> Floats:  # noqa: ARG002
        """Return what the prior adds to what was counted, broadcastable to ``counted``.

        It is 0 for maximum likelihood, and may be less for the mode than for the mean.
        """
        return np.zeros((1, 1))

    def ratios(self, tally: BlockTally[A]) -> Ratios | None:  # noqa: ARG002
        """Return the counts whose ratios are the probabilities; None where they are no ratios."""
        return None

    def formulas(self, tally: BlockTally[A], column: int, x: float) -> list[Formula] | None:  # noqa: ARG002
        """Return the density of a number in each class, (classes,), with its numbers put in.

        What does not depend on the class is left out, as the joint log likelihood leaves it out.
        """
        return None

    def n_values(self, tally: BlockTally[A]) -> int | float:  # noqa: ARG002
        """Return how many different rows there can be; ``inf`` if there is no end of them."""
        return math.inf

    def posterior(self, tally: BlockTally[A]) -> Distribution:  # noqa: ARG002
        """Return the posterior of the parameters, as frozen SciPy distributions."""
        raise self._lacks("posterior")

    def predictive(self, tally: BlockTally[A]) -> Distribution:  # noqa: ARG002
        """Return the distribution of the next cell, as frozen SciPy distributions."""
        raise self._lacks("predictive")

    def sample(self, tally: BlockTally[A], classes: ClassNumbers, rng: np.random.Generator) -> B:  # noqa: ARG002
        """Draw a row for each class number in ``classes``, (rows,), by the estimate that is set."""
        raise self._lacks("sample")

    def sample_rows(
        self,
        tally: BlockTally[A],
        classes: ClassNumbers,
        rng: np.random.Generator,
        length: int | None = None,  # noqa: ARG002
    ) -> B:
        """Draw rows as ``sample`` does; texts and rows of counts with so many words, if given."""
        return self.sample(tally, classes, rng)

    def uncertain(self, tally: BlockTally[A], block: B, least: float = 0.0) -> Uncertain:  # noqa: ARG002
        """Return the posterior mean and variance of each cell's log likelihood.

        It is a ValueError, which names the column, if they do not follow from the posterior of the
        parameters. A matrix comes with its zeros; for ``least`` see ``variance_of_log``.
        """
        raise self._unsure(tally, "it has no parameters whose posterior says it")

    @final
    def _unsure(self, tally: BlockTally[A], why: str) -> ValueError:
        """Return the error that it is not known how sure the evidence of columns is, and why."""
        columns = tally.axis.columns
        of = f"column {title(columns[0])!r}" if len(columns) else "rows"
        return ValueError(
            f"The uncertainty of the evidence of {of} is not known for {self.name}: {why}; choose "
            "another event model or estimate for it."
        )

    def _lacks(self, capability: Capability) -> ValueError:
        """Return the error that names a capability that the event model lacks, and why."""
        return ValueError(f"{type(self).__name__} has no {capability}: {WHY_NOT[capability]}.")


def _of_columns(settings: Any, column: NDArray[np.int64], d: int) -> Any:
    """Return settings for these columns, (cells,), where one has a number for each of d columns."""
    changed = {}
    for field in fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, tuple) and len(value) == d:
            changed[field.name] = tuple(np.asarray(value)[column].tolist())
        elif is_dataclass(value):
            changed[field.name] = _of_columns(value, column, d)
    return replace(settings, **changed) if changed else settings


def numbers(values: Floats, tally: BlockTally[A]) -> Dense:
    """Return drawn numbers, rows × columns, as a block of the tally's columns."""
    return Dense(values, Columns(tally.axis.columns))


def draw_levels(
    count: Floats, classes: ClassNumbers, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw a level or word for each class number, by its counts, (levels or words, classes)."""
    drawn = np.empty(len(classes), np.int64)
    for c in np.unique(classes):
        of_class = np.flatnonzero(classes == c)
        total = count[:, c].sum()
        p = count[:, c] / total if total > 0 else None  # without counts, all are equally likely
        drawn[of_class] = rng.choice(len(count), len(of_class), p=p)
    return drawn


def added(pseudo_count: PseudoCount, estimate: How, how: How) -> Floats:
    """Return the pretend count that is added to each outcome, of shape (1 or outcomes, 1)."""
    # The ``estimate`` that is set decides which prior the pseudo-count stands for: the posterior
    # mean adds alpha under Dirichlet(alpha), the mode adds alpha under Dirichlet(alpha + 1).
    # ``how`` is the estimate that is asked for, under this prior.
    if how == "mle":
        return np.zeros((1, 1))
    moved = (estimate == "map") - (how == "map")
    return by_row(pseudo_count) + float(moved)


def check_settings(model: Any, *named: str) -> None:
    """Raise a ValueError if the estimate, the prior or the alpha of an event model is wrong."""
    # Alpha becomes numbers that hash. It may be one of the names in ``named``: "auto" stays.
    if model.estimate not in HOW:
        raise no_estimate(model.estimate)
    name, types = type(model).__name__, {of.name: str(of.type) for of in fields(model)}
    if "prior" in types and model.prior is not None:
        kinds = [kind for kind in types["prior"].split(" | ") if kind != "None"]
        if type(model.prior).__name__ not in kinds:
            raise ValueError(f"The prior of {name} is {' or '.join(kinds)}, not {model.prior!r}.")
    if "alpha" not in types or (model.alpha is None and types["alpha"].endswith("None")):
        return
    alpha = model.alpha
    if isinstance(alpha, str):
        if alpha not in named:
            others = " or ".join(map(repr, PSEUDO_COUNTS))
            names = f", {others}" if named else ""
            raise ValueError(f"{name} alpha must be a number{names}, got {alpha!r}.")
        object.__setattr__(model, "alpha", PSEUDO_COUNTS.get(alpha, alpha))
        return
    counts = np.asarray(alpha, np.float64)
    check_some(model, "alpha", counts)
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise ValueError(f"{name} alpha must be at least 0, got {alpha}.")
    if counts.ndim:  # as a tuple it is equal to itself, and hashes
        object.__setattr__(model, "alpha", tuple(counts.tolist()))


def no_estimate(how: str) -> ValueError:
    """Return the error that this is no way to estimate."""
    return ValueError(f"estimate must be one of {', '.join(map(repr, HOW))}, got {how!r}.")


def check_some(model: object, name: str, value: Any) -> None:
    """Raise a ValueError if a setting that is one number, or several, is an empty sequence."""
    if np.size(value) == 0:
        raise ValueError(
            f"{type(model).__name__} {name} is empty: give one number, or one for each column."
        )


def check_not_negative(block: Block, model: str) -> None:
    """Raise a ValueError if there is a negative number; it names the column."""
    match block:
        case Sparse() if not block.presence and (block.data < 0).any():
            column = int(block.indices[np.flatnonzero(block.data < 0)[0]])
        case Dense() if (below := (block.values < 0).any(axis=0)).any():
            column = int(np.flatnonzero(below)[0])
        case _:
            return
    name = title(block.axis.columns[column])
    raise ValueError(
        f"Negative values in data passed to {model}, in column {name!r}: it takes counts, which "
        "are at least 0; numbers that may be negative are histogram or gaussian."
    )


def by_row(counts: PseudoCount) -> Floats:
    """Return pretend counts, of shape (1 or rows, 1), to be added to a table of rows × classes."""
    return np.asarray(counts, np.float64).reshape(-1, 1)
