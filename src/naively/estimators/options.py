"""The options of ``NaiveBayes``: the settings that they stand for, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, Protocol, TypeVar

from naively.counting.analyser import Analyser
from naively.counting.labels import Target, encode_labels, union_classes
from naively.data.frames import TEXT
from naively.estimators.checks import NONE, NOT_NEGATIVE, Allowed, check_options, words
from naively.events import Beta, Categorical, Dirichlet, JointTable
from naively.events.base import HOW, PSEUDO_COUNTS, How
from naively.model import class_prior
from naively.model.file.sample import SampledRows
from naively.model.history import History
from naively.model.model import Model
from naively.model.weights import Weighting
from naively.schema.given import EventModels, given_as_objects
from naively.schema.schema import Schema
from naively.schema.settings import ClassPrior, Missingness, Settings, TextBlocks

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

    def keep(self, model: Model) -> None:
        """Make a frozen model the fitted one."""

    def keep_sample(self, rows: SampledRows) -> None:
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
    nb.keep(model)
    if sample is not None:
        nb.keep_sample(sample)
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
