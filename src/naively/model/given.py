"""A model from given parameters: each of its counts is one pretend row of a class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np

from naively.counting.axis import Columns, Levels, Words, title
from naively.counting.labels import Label, LabelArray, encode_labels
from naively.counting.tally import BlockTally, Tally
from naively.data.columns import Kind
from naively.events import Bernoulli, Estimate
from naively.kernels.double_double import Sums
from naively.model.class_prior import given_prior
from naively.model.counted import Counted
from naively.model.model import Model
from naively.schema.schema import Group, GroupKey, Schema
from naively.schema.settings import Settings
from naively.schema.text import Text

ByClass: TypeAlias = Mapping[Label, Estimate]


def model_of(class_prior: Mapping[Label, float], columns: Mapping[str, ByClass]) -> Model:
    """Return the model with a given class prior and given parameters of each column."""
    if not isinstance(class_prior, Mapping) or not class_prior:
        raise ValueError(
            f"class_prior must be a mapping from classes to probabilities, got {class_prior!r}."
        )
    if not columns:
        raise ValueError("Give one column at least.")
    classes = encode_labels([*class_prior]).classes
    p = given_prior(class_prior, classes)
    groups: dict[GroupKey, Group] = {}
    tallies: dict[GroupKey, BlockTally] = {}
    for name, by_class in columns.items():
        group, tally = _column(name, by_class, classes)
        key = group.key
        if key in groups:
            names = tuple(groups[key].columns)
            group, tally = replace(group, columns=(*names, name)), tallies[key] + tally
        groups[key], tallies[key] = group, tally
    schema = Schema(tuple(groups.values()), tuple(columns))
    weight = Sums(np.ones(len(classes)))
    settings = Settings("mle", weights=None, class_prior=tuple(p.tolist()))
    return Model.of(Counted(schema, Tally(classes, weight, tallies), settings))


def _column(name: str, by_class: ByClass, classes: LabelArray) -> tuple[Group, BlockTally]:
    """Return a column as a group, and its tally of all classes."""
    labels = classes.tolist()
    if not isinstance(by_class, Mapping):
        raise ValueError(  # noqa: TRY004  (as of all that is given wrong)
            f"Column {title(name)!r} must be a mapping from classes to what Bernoulli.of(...) and "
            "the like return."
        )
    for label in labels:
        if label not in by_class:
            raise ValueError(f"Column {title(name)!r} has no distribution for class {label!r}.")
    extra = [label for label in by_class if label not in labels]
    if extra:
        raise ValueError(
            f"Column {title(name)!r} names the class {extra[0]!r}, which class_prior does not."
        )
    estimates = [by_class[label] for label in labels]
    if not all(isinstance(of, Estimate) and of.given for of in estimates):
        raise ValueError(
            f"Column {title(name)!r} must have parameters that are given, as Bernoulli.of(p=0.3)."
        )
    event = estimates[0].event
    for label, other in zip(labels, estimates, strict=True):
        if other.event != event or type(other.tally.axis) is not type(estimates[0].tally.axis):
            raise ValueError(
                f"Column {title(name)!r} is {event} for class {labels[0]!r} and {other.event} for "
                f"class {label!r}; give one event model for all classes."
            )
    tallies = [_named(name, of) for of in estimates]
    placed = [t.place_classes(np.array([i]), len(labels)) for i, t in enumerate(tallies)]
    tally = reduce(add, placed)
    analyser = Text(event=event) if isinstance(tally.axis, Words) else None
    return Group(event, _kind(event, tally), (name,), analyser), tally


def _named(name: str, estimate: Estimate) -> BlockTally:
    """Return the tally of one column under its name."""
    tally = estimate.tally
    match tally.axis:
        case Levels():
            axis: Any = replace(tally.axis, columns=(name,))
        case Words():
            analyser = Text(event=estimate.event)
            vocabulary = analyser.new_vocabulary()
            vocabulary.add(tally.axis.words)
            axis = Words((name,), vocabulary, analyser)
        case _ if len(tally.axis) == 1:
            axis = Columns((name,))
        case _:
            raise ValueError(
                f"Column {title(name)!r} has parameters of {len(tally.axis)} columns; give one "
                "number for each class, or name the words of a text."
            )
    return replace(tally, axis=axis)


def _kind(event: object, tally: BlockTally) -> Kind:
    """Return what kind of values a column holds."""
    match tally.axis:
        case Words():
            return "text"
        case Levels():
            levels = tally.axis.levels[0]
            if all(isinstance(level, bool) for level in levels):
                return "boolean"
            are_numbers = all(isinstance(level, int | float) for level in levels)
            return "number" if are_numbers else "string"
        case _:
            return "boolean" if isinstance(event, Bernoulli) else "number"
