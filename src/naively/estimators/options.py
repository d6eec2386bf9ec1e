"""The options of the estimators: what each may be, the settings that they stand for, and back.

Each option has a list of kinds, of which a value must be one. ``NaiveBayes`` and the drop-ins are
checked by the same function, as are labels and whether there is a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from naively.counting.analyser import Analyser
from naively.counting.labels import (
    LabelArray,
    Labels,
    RowWeight,
    Target,
    encode_labels,
    union_classes,
)
from naively.data.frames import TEXT, read_labels
from naively.events import Beta, Categorical, Dirichlet, JointTable
from naively.events.base import HOW, PSEUDO_COUNTS, How
from naively.kernels.reference import Floats
from naively.kernels.strings import Strings
from naively.messages import warn
from naively.model import class_prior
from naively.model.file.sample import SampledRows
from naively.model.history import History
from naively.model.model import Model
from naively.model.weights import Weighting
from naively.schema.given import EventModels, given_as_objects
from naively.schema.schema import Schema
from naively.schema.settings import ClassPrior, Missingness, Settings, TextBlocks

ENOUGH_ROWS, OWN_CLASS = 20, 0.5  # rows, of which more classes than this share are a mistake


@dataclass(frozen=True)
class OptionKind:
    """What an option may be, in words and as a test."""

    words: str
    holds: Callable[[object], bool]


Allowed: TypeAlias = "dict[str, Sequence[OptionKind]]"
Seed: TypeAlias = "int | np.random.Generator | None"  # of random choices

NOT_NEGATIVE = OptionKind(
    "a number of at least 0", lambda x: isinstance(x, Real) and 0 <= float(x) < math.inf
)
COUNT = OptionKind(
    "a whole number of at least 1", lambda x: isinstance(x, Integral) and int(x) >= 1
)
BOOLEAN = OptionKind("True or False", lambda x: isinstance(x, bool | np.bool_))
ARRAY = OptionKind("an array", lambda x: isinstance(x, Sized) and not isinstance(x, str | Mapping))
NONE = OptionKind("None", lambda x: x is None)


def words(*each: str) -> list[OptionKind]:
    """Return the kinds that only these words are of."""
    return [OptionKind(repr(word), partial(_is_word, word)) for word in each]


def _is_word(word: str, value: object) -> bool:
    return isinstance(value, str) and value == word  # an array is not compared


def check_options(estimator: object, allowed: Allowed) -> None:
    """Raise a ValueError where an option of an estimator is of none of its kinds.

    Examples
    --------
    >>> from naively import MultinomialNB
    >>> check_options(MultinomialNB(alpha="many"), {"alpha": [NOT_NEGATIVE, ARRAY]})
    Traceback (most recent call last):
    ValueError: alpha must be a number of at least 0 or an array, got 'many'.
    """
    for name, kinds in allowed.items():
        value = getattr(estimator, name)
        if not any(kind.holds(value) for kind in kinds):
            raise ValueError(f"{name} must be {expected(kinds)}, got {value!r}.")


def expected(kinds: Sequence[OptionKind]) -> str:
    """Return in words what an option may be."""
    *others, last = [kind.words for kind in kinds]
    return f"{', '.join(others)} or {last}" if others else last


def check_is_fitted(estimator: object) -> None:
    """Raise scikit-learn's NotFittedError, or its TypeError, unless an estimator has learned.

    Scikit-learn, which takes long to import, is imported only to say no.
    """
    if "model_" not in getattr(estimator, "__dict__", ()):
        from sklearn.utils.validation import check_is_fitted as check

        check(estimator)


def plain_labels(y: Target, sample_weight: RowWeight) -> Labels | None:
    """Encode labels that scikit-learn takes as they are; None of those that it is to look at.

    These are an array of whole numbers, booleans or strings, a column of any library that is read
    as one, and a list of strings. That they are is found as they are encoded, once.

    Examples
    --------
    >>> plain_labels(np.array([2, 1, 2]), None).classes
    array([1, 2])
    >>> plain_labels(np.array([2.5, 1.0]), None)  # None: scikit-learn says what is wrong
    """
    if not isinstance(y, np.ndarray | list) and hasattr(y, "to_numpy"):
        y = read_labels(y)
        y = y if isinstance(y, Strings) else y.to_numpy()
    if isinstance(y, list):
        if not y or not isinstance(y[0], str):
            return None
    elif not isinstance(y, Strings) and not (type(y) is np.ndarray and y.dtype.kind in "biufUO"):
        return None
    try:
        labels = encode_labels(y, sample_weight)
    except (ValueError, TypeError):
        return None
    kind = labels.classes.dtype.kind
    of_objects = isinstance(y, np.ndarray) and y.dtype.kind == "O" and kind != "U"
    if of_objects or kind not in "biufU" or (isinstance(y, np.ndarray) and y.ndim != 1):
        return None
    fractions = kind == "f" and bool((labels.classes != np.rint(labels.classes)).any())
    return None if fractions else labels


def is_single(dtype: DTypeLike) -> bool:
    """Whether results are to be of float32; a ValueError if of anything but that or float64."""
    if dtype is np.float64:
        return False
    asked = np.dtype(dtype)
    if asked not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {asked}.")
    return bool(asked == np.float32)


def check_some_weight(weight: Floats) -> None:
    """Raise a ValueError if none of the rows or classes has any weight."""
    if not weight.any():
        raise ValueError("There is nothing to learn: all sample weights are zero.")


def check_classification(columns: Sized, rows: int, classes: LabelArray) -> None:
    """Refuse what can only be a mistake, in the words that scikit-learn's checks expect.

    Parameters
    ----------
    columns : sized
        The columns of the table.
    rows : int
        How many labelled rows there are.
    classes : ndarray of shape (classes,)
        Their classes.
    """
    if not len(columns):
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required."
        )
    if classes.dtype.kind == "f" and (classes != np.rint(classes)).any():
        raise ValueError(
            "Unknown label type: continuous. Labels are fractions; a class must be a whole number "
            "or a string."
        )
    if rows >= ENOUGH_ROWS and len(classes) > OWN_CLASS * rows:
        warn(
            f"Nearly every row has a class of its own ({len(classes):,} classes in {rows:,} "
            "rows): is the target an identifier, or a number to be estimated?"
        )


ALLOWED: Allowed = {
    "estimate": words(*HOW),
    "smoothing": [*words("auto", *PSEUDO_COUNTS), NOT_NEGATIVE],
    "weights": [*words("loo", "temperature"), NONE],
    "interactions": [*words("auto"), NONE],
    "missing": words("auto", "ignore"),
    "text": words("auto", "words"),
}


class Options(Protocol):
    """The options of ``NaiveBayes`` that are read here."""

    event_models: EventModels
    class_prior: ClassPrior
    estimate: How
    smoothing: float | str
    weights: Weighting | None
    interactions: Literal["auto"] | None
    missing: Missingness
    text: Literal["auto", "words"]

    history_: History

    def _keep(self, model: Model) -> None:
        """Make a frozen model the fitted one."""

    def _keep_sample(self, rows: SampledRows) -> None:
        """Make these rows the sample of those that the fitted model has learned."""


L = TypeVar("L", bound=Options)


def settings_of(nb: Options, *, weighted: bool = True) -> Settings:
    """Return the settings that options stand for, or raise a ValueError that names a wrong one.

    They depend on whether weights are fitted, or will not be, whatever the options say.
    """
    check_options(nb, ALLOWED)
    if nb.interactions and nb.weights != "loo":
        raise ValueError(
            f"interactions='auto' needs weights='loo', got {nb.weights!r}: pairs of columns count "
            "by weights of their own."
        )
    # The blocks of a text say much alike, which only weights of their own put right.
    weighs = weighted and nb.weights == "loo"
    blocks = nb.text == "auto" and weighs and nb.estimate in ("mean", "map")
    text: TextBlocks = "blocks" if blocks else "words"
    missing = nb.missing if weighs else "ignore"
    return Settings(nb.class_prior, nb.estimate, nb.smoothing, text, missing)


def learner_of(
    kind: Callable[..., L],
    model: Model,
    sample: SampledRows | None = None,
    history: History | None = None,
) -> L:
    """Return the learner of a frozen model, with options that learn more rows as it has its own.

    A sample of the rows that the model has learned is what the learner has of them in memory. The
    history is what was done to the model before.
    """
    settings, event_models = model.settings, model.schema.event_models
    as_objects = given_as_objects(event_models, model.schema)
    nb = kind(
        event_models,
        settings.class_prior,
        settings.estimate,
        "auto" if as_objects else settings.smoothing,
        weights=None if model.weights is None else model.weights.how,
        interactions="auto" if model.seeks_interactions else None,
        text="auto" if settings.text == "blocks" else "words",
        missing=settings.missing if model.weights and model.weights.how == "loo" else "auto",
    )
    nb._keep(model)
    if sample is not None:
        nb._keep_sample(sample)
    if history is not None:
        nb.history_ = history
    return nb


def check_effect(nb: Options, schema: Schema) -> None:
    """Raise a ValueError if an option has no effect, as all event models have options of their own.

    Parameters
    ----------
    nb : Options
        Its ``estimate`` and ``smoothing`` are those of event models that are named or chosen.
    schema : Schema
        The event models of the rows that it learns.
    """
    estimates_prior = isinstance(nb.class_prior, Beta | Dirichlet)
    asked = any(group.event.estimate == nb.estimate for group in schema.groups)
    idle = [] if nb.estimate == "mean" or estimates_prior or asked else ["estimate"]
    idle += [] if nb.smoothing == "auto" else ["smoothing"]
    if idle and given_as_objects(nb.event_models, schema):
        event = schema.groups[0].event
        raise ValueError(
            f"{idle[0]}={getattr(nb, idle[0])!r} has no effect: every event model is given as an "
            f"object, which has options of its own. Give them to it, as in "
            f"{type(event).__name__}(...), or name the event model, {event.name!r}."
        )


def check_class_prior(model: Model, classes: Target, *, more: bool) -> None:
    """Raise a ValueError if the class prior is not for the classes of a model.

    Parameters
    ----------
    model : Model
        What was learned.
    classes : array-like or None
        All classes that will ever come, where they are said.
    more : bool
        Whether other classes may still come, where it is not said which.
    """
    known = model.classes
    if classes is not None:
        known = union_classes(known, encode_labels(classes).classes)
    prior, estimate = model.settings.class_prior, model.settings.estimate
    class_prior.check_class_prior(prior, estimate, known, more=more and classes is None)


def means_texts(event_models: EventModels) -> bool | None:
    """Whether lists of strings are texts or a table; None where event models do not say it."""
    if isinstance(event_models, Mapping):
        return True if TEXT in event_models else None
    one = event_models[0] if isinstance(event_models, list | tuple) else event_models
    if one == "text" or isinstance(one, Analyser):
        return True
    of_levels = isinstance(one, Categorical | JointTable)
    return False if of_levels or one in (Categorical.name, JointTable.name) else None
