"""What a report is of: a model, a sample of the rows it learned, and rows that it never saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from naively.counting.axis import Derived, Name, title
from naively.counting.block import Batch
from naively.counting.labels import LabelArray, Labels, Target, encode_labels
from naively.data.rows import Rows, column_rows, times_of
from naively.evaluation.cross_validate import assess, work
from naively.evaluation.leave_one_out import left_out, weighted_joint
from naively.evaluation.losses import posterior
from naively.evaluation.reservoir import Reservoir
from naively.evaluation.sample import Sample
from naively.evaluation.scores import Scores, scores
from naively.kernels.reference import Floats
from naively.model.column import column_view
from naively.model.column_views import ColumnView
from naively.model.explain import ExplainedRow, explain
from naively.model.likelihood import class_codes
from naively.model.model import Model
from naively.options import Weighting
from naively.report.rows import Chosen, choose
from naively.schema.held import Held

MOST_ARE_KNOWN = 0.5  # of the other rows: they are hardly new
MOST_WORK = 2e7  # numbers of evidence; to assess a model of more takes longer than a page may


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is of.

    Parameters
    ----------
    model : Model
        The model.
    sample : Sample, optional
        A sample of the rows that it has learned.
    assessment : Scores, optional
        Its scores by cross-validation on the sample.
    rows : Rows, optional
        Other rows.
    y : array-like of shape (rows,), optional
        The right labels of the other rows.
    provenance : mapping, optional
        What a model file says about where the model comes from.
    share_learned : float, default 0
        Which share of the other rows are equal to rows that it has learned; NaN if that is unknown.
    """

    model: Model
    sample: Sample | None = None
    assessment: Scores | None = None
    rows: Rows | None = None
    y: Target = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    share_learned: float = 0.0

    @classmethod
    def of(
        cls,
        model: Model,
        learned: Reservoir | None,
        kind: Weighting | None,
        rows: Rows | None = None,
        y: Target = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> Subject:
        """Return what a report is of, assessed by cross-validation where that can be.

        Parameters
        ----------
        learned : Reservoir, optional
            The rows that the model has learned, as far as they are in memory.
        kind : {"loo", "temperature"} or None
            Of the weights.
        """
        sample = None if learned is None else learned.of(model)
        found = None
        n = 0 if sample is None else len(sample)
        can_be = n > 1 and len(model.classes) > 1
        if learned is not None and can_be and work(model, n) <= MOST_WORK:
            found = assess(model, learned, kind, interactions=model.seeks_interactions)
        share = 0.0
        if rows is not None and y is not None:
            share = _share_learned(model, learned, rows, encode_labels(y))
        return cls(model, sample, found, rows, y, provenance or {}, share)

    @cached_property
    def labels(self) -> LabelArray | None:
        """The right labels of the other rows, (rows,)."""
        if self.y is None:
            return None
        found = encode_labels(self.y)
        return found.classes[found.codes]

    @cached_property
    def posterior(self) -> Floats:
        """The posteriors of the other rows, (rows, classes)."""
        assert self.rows is not None
        return self.model.posterior(self.rows)

    @cached_property
    def scores(self) -> Scores | None:
        """The scores on the other rows, if their labels are known."""
        if self.rows is None or self.labels is None:
            return None
        return scores(self.posterior, self.model.classes, self.labels)

    @cached_property
    def scores_without_weights(self) -> Scores | None:
        """The scores on the other rows of the model without weights: before calibration."""
        if self.rows is None or self.labels is None or self.model.weights is None:
            return None
        plain = self.model.pure
        return scores(plain.posterior(self.rows), self.model.classes, self.labels)

    @property
    def known(self) -> bool:
        """Whether most of the other rows were learned, so that their scores say too much."""
        return self.share_learned >= MOST_ARE_KNOWN

    @property
    def best(self) -> Scores | None:
        """The scores that say most: those on new rows, or else the assessment."""
        if self.known and self.assessment is not None:
            return self.assessment
        return self.scores or self.assessment

    @property
    def cost(self) -> Mapping[str, float]:
        """How much the log loss grows without each column, by its title, where it is known."""
        return {} if self.assessment is None else self.assessment.cost

    @cached_property
    def worth(self) -> list[Name]:
        """The columns of the table, those without which the log loss grows most first."""
        cost = self.cost
        return sorted(self.model.schema.order, key=lambda name: -cost.get(title(name), 0.0))

    def column(self, name: Name) -> ColumnView:
        """Return what a column looks like in each class."""
        batches = [] if self.sample is None else self.sample.batches
        return column_view(self.model, name, batches)

    @cached_property
    def numbers(self) -> dict[Name, Floats]:
        """The numbers of each column of numbers, in the sample or else in the other rows."""
        columns = [n for n, g in self.model.schema.columns.items() if g.kind == "number"]
        columns = [name for name in columns if not isinstance(name, Derived)]
        if self.sample is not None and self.sample.batches:
            held = [Held(batch) for batch in self.sample.batches]
            return {
                name: np.concatenate([of.number(name) for of in held]).astype(np.float64)
                for name in columns
            }
        if self.rows is None:
            return {}
        rows = self.model.schema.match(self.rows)
        return {name: rows.numbers([name])[:, 0].astype(np.float64) for name in columns}

    @cached_property
    def shown(self) -> ShownRows | None:
        """The rows that the page shows; None if there are none, or they cannot be written."""
        if self.rows is not None and len(self.rows):
            return self._of_others()
        if self.sample is not None and len(self.sample):
            return self._of_sample()
        return None

    def _of_others(self) -> ShownRows:
        assert self.rows is not None
        right = None if self.labels is None else class_codes(self.model, self.labels)
        chosen = choose(self.posterior, right)
        places = [one.row for one in chosen]
        rows = self.rows.take(np.array(places, np.int64))
        labels = [None if self.labels is None else self.labels[row] for row in places]
        return ShownRows(
            rows,
            chosen,
            labels,
            list(explain(self.model, rows)),
            "the rows that were given, most of which it has learned"
            if self.known
            else "the rows that were given",
        )

    def _of_sample(self) -> ShownRows | None:
        """Return rows of the sample; their posteriors are as if they had not been learned."""
        assert self.sample is not None
        if any(group.kind == "text" for group in self.model.schema.groups):
            return None  # of texts only the counts are kept
        model, labels = self.model, self.sample.labels
        batches = self.sample.encoded(model)
        found = left_out(model, batches, length_normalised=model.weights is not None)
        joint = weighted_joint(model, found, batches)
        chosen = choose(posterior(joint), labels.codes)
        cells = [_rows_of(model, batch) for batch in self.sample.batches]
        if any(rows is None for rows in cells):
            return None
        ends = np.cumsum([0, *map(len, self.sample.batches)])
        parts = []
        for one in chosen:
            at = int(np.searchsorted(ends, one.row, side="right")) - 1
            of = cells[at]
            assert of is not None
            parts.append(of.take(np.array([one.row - ends[at]])))
        rows = column_rows(
            {name: np.concatenate([of.values(name) for of in parts]) for name in parts[0].names},
            model.schema.kinds,
        )
        right = [model.classes[labels.codes[one.row]] for one in chosen]
        return ShownRows(
            rows,
            chosen,
            right,
            list(explain(model, rows)),
            "rows that it has learned, judged as if it had not",
        )


def _share_learned(model: Model, learned: Reservoir | None, rows: Rows, labels: Labels) -> float:
    """Return which share of some rows a model has learned; NaN if they may be those it learned."""
    if learned is not None:
        share = learned.share_of(model.counted.encode(rows, labels, model.tally.axes))
        if not np.isnan(share):
            return share
    rows_of = np.bincount(labels.codes, labels.weight, labels.k)
    given = dict(zip(labels.classes.tolist(), rows_of, strict=True))
    count = dict(zip(model.classes.tolist(), model.tally.class_count, strict=True))
    return np.nan if given == count else 0.0


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Rows that the page shows, why, their right labels if known, and their explanations."""

    rows: Rows
    chosen: list[Chosen]
    labels: list[Any]
    explained: list[ExplainedRow]
    source: str


def _rows_of(model: Model, batch: Batch) -> Rows | None:
    """Return the rows that a batch of the sample holds; None if their cells are not kept."""
    held = Held(batch)
    if held.sparse:
        return None
    columns: dict[Name, Any] = {}
    for name in model.schema.order:
        group = model.schema.columns.get(name)
        if group is None:
            columns[name] = np.full(len(batch), None, object)
        elif group.event.layout == "rows":
            return None
        elif name in held.coded:
            block, at = held.coded[name]
            codes, levels = block.codes[:, at], block.axis.levels[at]
            cells = np.full(len(batch), None, object)
            there = np.flatnonzero((codes >= 0) & (codes < len(levels)))
            cells[there] = np.array([*levels, None], object)[codes[there]]
            columns[name] = cells
        else:
            numbers = held.number(name).astype(np.float64)
            columns[name] = times_of(numbers) if group.kind == "time" else numbers
    return column_rows(columns, model.schema.kinds)
