"""Interactions: what a few columns say together, in products and decision tables."""

from __future__ import annotations

from dataclasses import replace

from naively.counting.axis import title
from naively.counting.labels import MANY_CLASSES
from naively.fitting.limits import Limits
from naively.fitting.sample import Sample
from naively.messages import amount, many
from naively.model.model import Model, Sought, Weights

FEWEST = 100  # rows that interactions are chosen by


def add_interactions(model: Model, sample: Sample, *, learned: bool = True) -> Model:
    """Choose interactions, and fit all weights."""
    limits = Limits.of(model.settings.interactions)
    limits.check([title(name) for name in model.view.schema.columns], len(model.classes))
    why_none = _why_none(model, sample)
    if why_none:
        weights = sample.weighed(model, learned=learned).weights
        return _with(model, weights, Sought(why_none))
    weights, before, after = sample.weighed(model, learned=learned, limits=limits)
    linear = weights.linear
    if not (linear.products or linear.rules):
        why = "no product and no rule of columns lowers the log loss of held-out rows"
        return _with(model, weights, Sought(why))
    products, rules = many(len(linear.products), "product"), many(len(linear.rules), "rule")
    note = (
        f"Interactions: {products} and {rules} of columns; the log loss of held-out rows is "
        f"{after:.4g} with them, and {before:.4g} without."
    )
    return _with(model, weights, Sought(notes=(note,)))


def _with(model: Model, weights: Weights, sought: Sought) -> Model:
    return model.weighed(replace(weights, sought=sought))


def _why_none(model: Model, sample: Sample) -> str:
    """Say why there can be no interactions, or nothing."""
    if len(model.classes) < 2:
        return "there is only one class"
    if len(model.classes) >= MANY_CLASSES:
        return f"{len(model.classes):,} classes have too few rows each"
    rows = float(sample.copies.sum())
    if rows < FEWEST:
        return f"{amount(rows)} rows are too few, it takes {FEWEST}"
    able = sum(
        len(g.columns)
        for g in model.view.schema.of_columns
        if not g.analyser and not g.event.joined
    )
    if able < 2:
        return "they are of columns, and not of words of texts or of bags of counts"
    return ""
