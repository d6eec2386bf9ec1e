"""The evidence: how probable rows are under a model before its parameters are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np

from naively.counting.axis import title
from naively.counting.labels import Labels
from naively.counting.tally import BlockTally
from naively.data.rows import Rows
from naively.events.base import EventModel
from naively.events.estimate import Estimable
from naively.events.estimates.estimate import Estimate
from naively.model.count import check_rows, count_batch
from naively.model.model import Model


def log_marginal_likelihood(model: Model, rows: Rows, labels: Labels) -> float:
    """Return log p(rows | labels), no parameter known.

    See ``nb.inspect.log_marginal_likelihood``.

    The rows are counted alone, as the model counts its own.
    """
    check_rows(rows, labels)
    plain = model.pure
    batch = plain.encode(rows, labels)
    tally = count_batch(batch, plain.schema)
    total = 0.0
    for group in plain.schema.groups:
        event, counted = group.event, tally.blocks[group.key]
        if not isinstance(event, Estimable):
            raise ValueError(_has_none(event, group.columns[0]))  # noqa: TRY004
        block = event.prepare(batch.blocks[group.key])
        base = plain.unweighted_likelihoods[group.key].log_base(block)
        total += float(base @ labels.weights)
        for of in _columns(event, counted):
            total += _of_column(event, of)
    return total


def _columns(event: EventModel, tally: BlockTally) -> Iterator[BlockTally]:
    """Yield what was counted of each column; of columns that are one event, of all together."""
    if event.joined or event.layout == "rows":
        yield tally
        return
    for name in tally.axis.columns:
        yield tally.of([name])


def _of_column(event: Estimable, tally: BlockTally) -> float:
    """Return the log evidence of one column, summed over the classes."""
    event = event.settled(tally)
    prior = event.prior_of(tally)
    if prior is None or not event.space:
        raise ValueError(_has_none(event, tally.axis.columns[0]))
    # Every class has the prior that follows from all of them.
    fixed: Any = event
    if "prior" in {option.name for option in fields(event)}:  # type: ignore[arg-type]  # a subclass is a dataclass
        fixed = replace(event, prior=prior)  # type: ignore[type-var]
    classes = next(iter(tally.sums.values())).shape[-1]
    by_class = (Estimate(fixed, _of_class(tally, c)) for c in range(classes))
    return float(sum(estimate.log_evidence for estimate in by_class))


def _of_class(tally: BlockTally, c: int) -> BlockTally:
    """Return what was counted of one class."""
    return tally.map(lambda sums: sums[:, np.array([c])])


def _has_none(event: EventModel, name: Any) -> str:
    return (
        f"Column {title(name)!r} has no evidence: {event.name} has no proper conjugate prior here; "
        "give it another event model, or a prior."
    )
