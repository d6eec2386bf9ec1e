"""Interactions: what two columns say together, beside what each says alone.

There are two kinds. A product of two functions of columns belongs to the linear part of the model.
A pair of columns is counted: how much more often their bins come together in a class than by
chance. Both are fitted on top of the weighted leave-one-out evidence of the columns, by one convex
problem with a ridge for each kind. Nothing is added that does not lower the log loss of held-out
rows.
"""

from __future__ import annotations

from collections.abc import Iterable

from naively.counting.block import Batch
from naively.evaluation.blas import on_one_thread
from naively.evaluation.fitting import Fitting, Plan
from naively.evaluation.sample import Sample
from naively.messages import many
from naively.model.model import Model, Sought

FEWEST = 100  # rows, by their weight, with fewer of which nothing is chosen


@on_one_thread
def add_interactions(
    model: Model, sample: Sample, all_rows: Iterable[Batch] | None = None
) -> Model:
    """Choose interactions, count the pairs among them, and fit all weights.

    Parameters
    ----------
    model : Model
        What was learned. Interactions that it has are chosen anew, and its weights are replaced.
    sample : Sample
        A sample of the rows that the model has learned.
    all_rows : iterable of Batch, optional
        All rows that the model has learned, to count pairs on; by default the sample.
    """
    model = model.without_interactions().weighed(None)
    why_none = _why_none(model, sample)
    if why_none:
        return model.weighed(sample.weights(model, "loo"), Sought(why_none))
    fitting = Fitting.of(model, sample)
    plan = fitting.plan()
    pairs, start = fitting.pairs(plan)
    if pairs:
        model = model.with_interactions(pairs, sample.batches if all_rows is None else all_rows)
    weights = fitting.weights(plan, model, fitting.of_pairs(model), start)
    return _noted(model.weighed(weights), plan)


@on_one_thread
def fit_weights(model: Model, sample: Sample, *, learned: bool = True) -> Model:
    """Fit all weights of a model with interactions, to rows that it has learned, or to others.

    Its counted pairs stay, and products are chosen anew. Of rows that are too few to choose by,
    each part of the evidence gets a weight, and no product is chosen.
    """
    why_none = _why_none(model, sample)
    if why_none:
        return model.weighed(sample.weights(model, "loo", learned=learned), Sought(why_none))
    fitting = Fitting.of(model.without_interactions().weighed(None), sample, learned=learned)
    evidence = fitting.of_pairs(model)
    plan = fitting.plan(evidence)
    return _noted(model.weighed(fitting.weights(plan, model, evidence)), plan)


def _noted(model: Model, plan: Plan) -> Model:
    """Return a model that says which interactions it has, and what they gain."""
    if not model.has_interactions:
        why = "no product and no pair of columns lowers the log loss of held-out rows"
        return model.weighed(model.weights, Sought(why))
    products = 0 if model.weights is None else len(model.weights.linear.products)
    pairs = many(len(model.schema.interactions), "counted pair")
    note = (
        f"Interactions: {many(products, 'product')} and {pairs} of columns; the log loss of "
        f"held-out rows is {plan.after:.4g} with them, and {plan.before:.4g} without."
    )
    return model.weighed(model.weights, Sought(notes=(note,)))


def _why_none(model: Model, sample: Sample) -> str:
    """Say why there can be no interactions, or nothing."""
    if len(model.classes) < 2:
        return "there is only one class"
    rows = sample.labels.total  # a row of weight 2 is two rows
    if rows < FEWEST:
        return f"{rows:,.6g} rows are too few, it takes {FEWEST}"
    able = sum(
        len(g.columns) for g in model.schema.of_columns if not g.analyser and not g.event.joined
    )
    if able < 2:
        return "pairs are made of columns, and not of words of texts or of bags of counts"
    return ""
