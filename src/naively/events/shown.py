"""What estimates share: spaces of parameters, how they are shown, conjugate densities, tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias, final

import numpy as np

from naively.counting.axis import Analyser, Level, Words, title
from naively.counting.tally import BlockTally
from naively.events.base import Distribution, EventModel
from naively.events.prior import Beta, Dirichlet, NormalInverseGamma, Prior
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.kernels.strings import Row
from naively.options import How
from naively.tabular import Tabular

# --- How estimates, priors and distributions are printed -----------------------------------------


# A number, an array with one for each column, or a mapping by level or by parameter.
Parameters: TypeAlias = Any
SHOWN = 10  # the most numbers that are printed


def flat(table: Floats) -> Parameters:
    """Return the first column of a table (rows × classes), or a number where it has one row."""
    values = table[:, 0]
    return values.item() if values.size == 1 else values


def shown(value: object) -> str:
    """Write a number, levels or parameters with their numbers, a prior or a distribution."""
    match value:
        case None:
            return ""
        case int():
            return f"{value:,}"
        case float():
            return "undefined" if np.isnan(value) else f"{value:.6g}"
        case Mapping():
            names = (name if isinstance(name, str) else repr(name) for name in value)
            each = zip(names, map(shown, value.values()), strict=True)
            return ", ".join(f"{name} {of}" for name, of in each)
        case tuple() | np.ndarray():
            numbers = np.asarray(value)
            texts = [shown(number) for number in numbers[:SHOWN].tolist()]
            more = [f"and {len(numbers) - SHOWN} more"] if len(numbers) > SHOWN else []
            return f"[{', '.join(texts + more)}]"
    if is_dataclass(value):
        options = {field.name: getattr(value, field.name) for field in fields(value)}
        given = ", ".join(f"{name}={shown(_number(of))}" for name, of in options.items())
        return f"{type(value).__name__}({given})"
    return _distribution(value)


def _distribution(frozen: Distribution) -> str:
    """Write a frozen distribution of SciPy's by its name and parameters."""
    from scipy.stats import distributions

    if isinstance(frozen, distributions.rv_frozen):
        given = [shown(_number(of)) for of in frozen.args]
        given += [f"{name}={shown(_number(of))}" for name, of in frozen.kwds.items()]
        return f"{frozen.dist.name}({', '.join(given)})"
    name = type(frozen).__name__.removesuffix("_frozen").removesuffix("_gen")
    found = vars(frozen)
    given = [shown(_number(found[option])) for option in ("alpha", "p") if option in found]
    return f"{name}({', '.join(given)})" if given else name


def _number(value: object) -> Parameters:
    return flat(np.asarray(value, np.float64).reshape(-1, 1))


# --- What values the parameters of event models may have, and how given ones are read ------------


# The least and the greatest value, and what they are called.
Space: TypeAlias = tuple[float, float, str]
REAL: Space = (-np.finfo(float).max, np.finfo(float).max, "a finite number")
PROBABILITY: Space = (0.0, 1.0, "a probability, from 0 to 1")
CHANCE: Space = (np.nextafter(0.0, 1.0), 1.0, "a probability above 0")
RATE: Space = (0.0, REAL[1], "at least 0 and finite")
POSITIVE: Space = (np.nextafter(0.0, 1.0), REAL[1], "greater than 0 and finite")
# Numbers, or a mapping from levels or words to numbers.
Given: TypeAlias = Any


def read(model: str, name: str, value: Given, space: Space) -> Floats:
    """Return the values of a parameter; a ValueError unless they are numbers of its space."""
    try:
        values = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{model} {name} must be {space[2]}, got {value!r}.") from None
    wrong = ~((values >= space[0]) & (values <= space[1]))
    if wrong.any():
        raise ValueError(f"{model} {name} must be {space[2]}, got {values[wrong].flat[0]}.")
    return values


def summed(terms: Floats, sums: Floats | float) -> Floats:
    """Return the terms of a log likelihood, summed over columns if the sums are of several."""
    return np.asarray(terms.sum(axis=-1) if np.ndim(sums) else terms)


def read_shares(
    model: str, p: Mapping[Level, float] | Sequence[float] | Floats
) -> tuple[tuple[Level, ...], Floats]:
    """Return levels, or the places of a sequence, and their probabilities, which sum to 1."""
    levels = tuple(p) if isinstance(p, Mapping) else tuple(range(np.size(p)))
    values = read(model, "p", [*p.values()] if isinstance(p, Mapping) else p, PROBABILITY)
    if values.ndim != 1 or not np.isclose(values.sum(), 1.0):
        raise ValueError(f"{model} p must be probabilities that sum to 1, got {p!r}.")
    return levels, values


# --- Densities of conjugate priors and of the posteriors that they become ------------------------


def log_density(prior: Prior, parameters: Mapping[str, Floats]) -> Floats:
    """Return the log density of parameters, in the shape that they broadcast to."""
    # The last axis of a Dirichlet's probabilities is its outcomes, which are summed over.
    from scipy.special import gammaln, xlogy

    match prior:
        case NormalInverseGamma():
            both = np.broadcast_arrays(parameters["mean"], parameters["variance"])
            return np.asarray(prior.log_pdf(np.stack(both, axis=-1)))
        case Dirichlet():
            # SciPy's refuses probabilities whose sum is off by rounding, and a single level.
            p = parameters["p"]
            alpha = np.broadcast_to(prior.alpha, p.shape[-1:]).astype(np.float64)
            size = gammaln(alpha.sum()) - gammaln(alpha).sum()
            return np.asarray(size + xlogy(alpha - 1, p).sum(axis=-1))
        case _:
            ((name, distribution),) = marginals(prior).items()
            return np.asarray(distribution.logpdf(parameters[name]))


def marginals(prior: Prior, levels: Sequence[Level] = ()) -> dict[Level, Distribution]:
    """Return the distribution of each parameter by itself, by its name or its level."""
    match prior:
        case NormalInverseGamma():
            return dict(prior.frozen)
        case Beta():
            return {"p": prior.frozen}
        case Dirichlet():
            alpha = np.broadcast_to(prior.alpha, len(levels)).tolist()
            return {
                level: Beta.distribution_of(a, sum(alpha) - a)
                for level, a in zip(levels, alpha, strict=True)
            }
        case _:
            return {prior.parameter: prior.frozen}


# --- Estimated parameters as a table -------------------------------------------------------------


class EstimatedParameters(Tabular, eq=True):
    """The parameters of an event model, each with what was counted behind it.

    Parameters
    ----------
    column : list of str
        The column, where there are several.
    item : list
        The level or word; None of a column of numbers.
    parameter : list of str
        The parameter's name.
    value, count, pseudo_count : list of float
        The estimate, what was counted behind it (the trues of a coin, the rows of numbers, the
        numerator of a rate), and what the prior adds to that.
    """

    column: list[str]
    item: list[Level]
    parameter: list[str]
    value: list[float]
    count: list[float]
    pseudo_count: list[float]

    def to_dict(self) -> dict[str, list[Any]]:
        several = {"column": self.column} if len(set(self.column)) > 1 else {}
        items = {"item": self.item} if any(item is not None for item in self.item) else {}
        return {
            **several,
            **items,
            "parameter": self.parameter,
            "value": self.value,
            "count": self.count,
            "pseudo_count": self.pseudo_count,
        }


def tabulate(event: EventModel, tally: BlockTally, how: How) -> EstimatedParameters:
    """Return the parameters of the one class of a tally."""
    tables = event.parameters(tally, how)
    axis, rows = tally.axis, len(next(iter(tables.values())))
    shape = (rows, 1)
    count = np.broadcast_to(event.counted(tally), shape)[:, 0].tolist()
    pseudo = np.broadcast_to(event.pretended(tally, how), shape)[:, 0].tolist()
    if rows == len(axis):
        names = [axis.label(row) for row in range(rows)]
    elif rows == len(axis.columns):
        names = [(name, None) for name in axis.columns]
    else:  # bins, which have numbers
        names = [(axis.columns[0], row) for row in range(rows)]
    if not event.joined:
        columns, items = [title(name) for name, _ in names], [item for _, item in names]
    else:  # the columns are the outcomes of one event
        columns = [""] * rows
        items = [title(name) if item is None else item for name, item in names]
    parameters = list(tables)
    return EstimatedParameters(
        [name for name in columns for _ in parameters],
        [item for item in items for _ in parameters],
        parameters * rows,
        [float(tables[p][row, 0]) for row in range(rows) for p in parameters],
        [c for c in count for _ in parameters],
        [c for c in pseudo for _ in parameters],
    )


# --- The axis of words that are given, without texts that they were counted in -------------------


@final
class SingleWords(Analyser, Frozen, eq=True):
    """Texts are split into words as they are by default."""

    name = "words"

    @property
    def splitting(self) -> dict[str, Any]:
        return {}

    def rows(self, texts: Iterable[Row]) -> Sequence[Row]:
        return [*texts]


def axis_of_words(words: Sequence[object]) -> Words:
    """Return the axis of these words; a ValueError if a text of one is split otherwise."""
    analyser = SingleWords()
    for word in words:
        if not isinstance(word, str):
            raise ValueError(f"Words must be strings, got {word!r}.")  # noqa: TRY004  (as all that is given wrong)
    vocabulary = analyser.new_vocabulary()
    vocabulary.add([*map(str, words)])
    ends, found, _ = vocabulary.encode([*map(str, words)], presence=False)
    alone = np.diff(ends) == 1
    if not (alone.all() and (found == np.arange(len(words))).all()):
        wrong = next(
            word for i, word in enumerate(words) if not alone[i] or found[int(ends[i])] != i
        )
        raise ValueError(f"{wrong!r} is not one word of lower case as texts are split.")
    return Words(("text",), vocabulary, analyser)
