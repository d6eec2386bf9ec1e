"""What a report is of: a model, rows that it learned, rows that it never saw, and those shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.assess.folds import HeldOutFolds, assess, hold_out
from naively.assess.scores import Scores, scores
from naively.counting.axis import Level, Name, title
from naively.counting.block import Batch
from naively.counting.labels import LabelArray, Labels, Target, encode_labels
from naively.data.columns import Rows, column_rows, times_of
from naively.file.header import Saved
from naively.fitting.reservoir import Reservoir
from naively.fitting.sample import Sample
from naively.frozen import Frozen
from naively.inspect.drift import Drift, drift
from naively.inspect.effect import effect
from naively.inspect.explain import ExplainedRow, explain
from naively.inspect.likelihood import class_codes
from naively.kernels.reference import Floats
from naively.messages import visible
from naively.model.class_prior import spoken_for
from naively.model.model import Model
from naively.options import Weighting
from naively.schema.encode import CellArray, Held
from naively.wings.pictures.axes import BAND
from naively.wings.report import html

# --- The rows that a report shows: most sure, least sure, and most wrong -------------------------


EACH = 3  # rows of each kind
ALIKE = 9  # digits of their posteriors that rows which are alike have in common


class ShownRow(NamedTuple):
    """A row that is shown, and why: it is most sure, least sure or most wrong."""

    why: str
    row: int


def choose(p: Floats, right: NDArray[np.integer] | None = None, each: int = EACH) -> list[ShownRow]:
    """Return rows to show, each once, and no two of a kind whose posteriors are alike."""
    rows = np.arange(len(p))
    answer, confidence = p.argmax(axis=1), p.max(axis=1)
    hit = np.ones(len(p), np.bool_) if right is None else answer == right
    of_right = np.zeros(len(p))
    if right is not None:
        there = right >= 0
        of_right[there] = p[rows[there], right[there]]
    kinds = (
        ("most sure", rows[hit], -confidence),
        ("least sure", rows, confidence),
        ("most wrong", rows[~hit], of_right),
    )
    taken: set[int] = set()
    found = []
    for why, among, key in kinds:
        ordered = among[np.argsort(key[among], kind="stable")]
        if why == "most sure":
            turns = defaultdict[int, "count[int]"](count)  # each class in its turn
            ordered = np.array(sorted(ordered, key=lambda row: next(turns[answer[row]])), np.int64)
        alike: set[bytes] = set()
        for row in ordered.tolist():
            mark = p[row].round(ALIKE).tobytes()
            if row not in taken and mark not in alike:
                alike.add(mark)
                taken.add(row)
                found.append(ShownRow(why, row))
            if len(alike) == each:
                break
    return found


# --- What a report is of: a model, a sample of the rows it learned, and rows that it never saw ---


SAME = 0.5  # of the other rows, from which on they are not other rows
FEWEST = 200  # rows that are looked at over time
SOME = 300  # rows that tell how much weights differ
MOST_ARE_KNOWN = 0.5  # of the other rows: they are hardly new
UNEVEN = 0.8  # of the rows are of one class: accuracy says little then


class JudgedRows(Frozen):
    """Rows whose right class is known, and the probabilities that a model gave without them."""

    p: Floats  # (rows, classes): the posteriors
    right: NDArray[np.int64]  # (rows,): the right class; negative where it was never learned
    weight: Floats  # (rows,): how many of the rows that were learned, or given, each stands for
    place: NDArray[np.int64]  # (rows,): where the row is: in the sample, or among the other rows
    given: bool  # whether they are the other rows, and not of the sample


class Subject(Frozen):
    """What a report is of."""

    model: Model
    sample: Sample | None = None  # a sample of the rows that it has learned
    assessment: Scores | None = None  # its scores by cross-validation on the sample
    held_out: HeldOutFolds | None = None  # the rows of the sample that these are of
    rows: Rows | None = None
    y: Target = None  # (rows,): the right labels of the other rows
    provenance: Saved = field(default_factory=dict)  # where the model comes from, as its file says
    share_learned: float = 0.0  # of the other rows; NaN if that is unknown

    @classmethod
    def of(
        cls,
        model: Model,
        learned: Reservoir | None,  # the rows that it has learned, as far as they are in memory
        kind: Weighting | None,  # of the weights
        rows: Rows | None = None,
        y: Target = None,
        provenance: Saved | None = None,
    ) -> Subject:
        """Return what a report is of, assessed by cross-validation where that can be."""
        sample = None if learned is None else learned.of(model)
        found = held_out = None
        if learned is not None and sample is not None and min(len(sample), len(model.classes)) > 1:
            held_out = hold_out(model, learned, kind, interactions=model.seeks_interactions)
            found, sample = _of_all(assess(model, held_out), model), held_out.sample
        share = 0.0
        if rows is not None and y is not None:
            share = _share_learned(model, learned, rows, encode_labels(y))
        return cls(model, sample, found, held_out, rows, y, provenance or {}, share)

    @property
    def target(self) -> str:
        """What is predicted; empty if nobody said so."""
        return str(self.provenance.get("target") or "")

    def said(self, c: int) -> str:
        """Return a class in words: "survived = died"."""
        return self.named(self.model.classes.tolist()[c])

    def named(self, label: object) -> str:
        """Return a label in words: "survived = died"."""
        said = visible(str(label))
        return f"{visible(self.target)} = {said}" if self.target else said

    @property
    def label(self) -> str:
        """The class that odds are of, in words."""
        return self.said(self.spoken_for)

    @cached_property
    def uneven(self) -> bool:
        """Whether most rows are of one class."""
        count = self.model.counted.tally.class_count
        return bool(count.max() >= UNEVEN * count.sum())

    @cached_property
    def spoken_for(self) -> int:
        """The class that odds are of: the rare one, or second, of two; else the most frequent."""
        count = self.model.counted.tally.class_count
        return int(count.argmin()) if self.uneven and len(count) == 2 else spoken_for(count)

    @cached_property
    def judged(self) -> JudgedRows | None:
        """The rows that the best scores are of."""
        best = self.best
        if best is not None and best is self.scores:
            assert self.labels is not None
            n = len(self.labels)
            right = class_codes(self.model, self.labels.tolist())
            return JudgedRows(self.posterior, right, np.ones(n), np.arange(n), given=True)
        if self.held_out is None:
            return None
        p, labels, _, place = self.held_out.predicted
        right = labels.codes.astype(np.int64)
        weight = labels.weights * (
            self.model.counted.tally.class_count.sum() / labels.weights.sum()
        )
        return JudgedRows(p, right, weight, place, given=False)

    @cached_property
    def cells(self) -> Rows | None:
        """The cells of the judged rows, in their order; None where they are not kept."""
        if self.judged is None:
            return None
        if self.judged.given:
            assert self.rows is not None
            return self.model.view.schema.match(self.rows)
        kept = self._kept
        return None if kept is None else kept.take(self.judged.place)

    @cached_property
    def _kept(self) -> Rows | None:
        """The rows of the sample; None if their cells are not kept."""
        model, sample = self.model, self.sample
        if sample is None or any(group.kind == "text" for group in model.view.schema.groups):
            return None  # of texts only the counts are kept
        parts = [_rows_of(model, batch) for batch in sample.batches]
        there = [rows for rows in parts if rows is not None]
        if not there or len(there) < len(parts):
            return None
        columns = {
            name: np.concatenate([of.values(name) for of in there]) for name in there[0].names
        }
        return column_rows(columns, model.view.schema.kinds)

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

    @cached_property
    def explained(self) -> float:
        """How much of the prior's log loss the model takes away by cross-validation, in nats."""
        of = self.assessment
        return 0.0 if of is None else prior_loss(of) - of.log_loss

    @cached_property
    def lost(self) -> Mapping[str, float]:
        """What share of what the model explains is lost without each column, where it is known."""
        if self.assessment is None or self.explained <= 0:
            return {}
        cost = self.assessment.cost
        return {name: min(max(0.0, nats / self.explained), 1.0) for name, nats in cost.items()}

    @cached_property
    def shares(self) -> list[tuple[tuple[str, ...], float]]:
        """Columns, or several that repeat each other, and their share of what is explained."""
        # Where the model explains nothing, or it is unknown: by how far all weights differ.
        if not self.lost:
            whole = sum(spread for _, spread in self.spreads) or 1.0
            return [((name,), spread / whole) for name, spread in self.spreads]
        assert self.assessment is not None
        several = [
            (names, min(nats / self.explained, 1.0)) for names, nats in self.assessment.repeated
        ]
        inside = {name for names, _ in several for name in names}
        alone = [((name,), share) for name, share in self.lost.items() if name not in inside]
        return sorted([*several, *alone], key=lambda of: -of[1])

    @cached_property
    def spreads(self) -> list[tuple[str, float]]:
        """The columns by how much their weights differ between rows, the most first."""
        model, c = self.model, self.spoken_for
        if len(model.classes) < 2:
            return []
        if self.rows is not None and len(self.rows):
            some = np.unique(np.linspace(0, len(self.rows) - 1, SOME).astype(np.int64))
            found = explain(model, self.rows.take(some)).matrix(model.classes.tolist()[c])
            weight = np.nan_to_num(found.weight)
            spreads = abs(weight - weight.mean(axis=0)).mean(axis=0)
            lines = [*zip(found.columns, spreads.tolist(), strict=True)]
        else:
            effects = (effect(model, name, c) for name in model.view.schema.order)
            lines = [(of.column, of.spread) for of in effects if of is not None and of.rows.any()]
        return sorted(lines, key=lambda line: -line[1])

    @cached_property
    def worth(self) -> list[Name]:
        """The columns of the table, those that are worth most first."""
        place = {name: i for i, (names, _) in enumerate(self.shares) for name in names}
        order = sorted(self.model.view.schema.order, key=lambda of: -self.lost.get(title(of), 0.0))
        return sorted(order, key=lambda name: place.get(title(name), len(place)))

    @cached_property
    def drift(self) -> Drift | None:
        """What has moved; None where there are no other rows, and no time orders the learned."""
        model, sample = self.model, self.sample
        if sample is None or not len(sample):
            return None
        if self.rows is not None and len(self.rows) and self.y is not None:
            if not self.share_learned < SAME:
                return None  # they are those that were learned
            new = model.counted.schema.encode(self.rows, encode_labels(self.y))
            of = None if self.held_out is None else self.held_out.predicted
            return drift(model, sample, new, None, held_out=of)
        times = [name for name in model.view.schema.order if name in model.view.schema.times]
        if len(times) != 1 or len(sample) < FEWEST:
            return None
        return drift(model, sample, None, times[0])

    @cached_property
    def shown(self) -> ShownRows | None:
        """The rows that the page shows; None if there are none, or they cannot be written."""
        model = self.model
        right: NDArray[np.integer] | None
        if self.rows is not None and len(self.rows):
            every, labels = self.rows, self.labels
            right = None if labels is None else class_codes(model, labels.tolist())
            chosen = choose(self.posterior, right)
            more = ", most of which it has learned" if self.known else ""
            source = f"the rows that were given{more}"
        elif self.held_out is not None and self._kept is not None:
            p, of, _, place = self.held_out.predicted
            place, first = np.unique(place, return_index=True)  # of copies in several folds
            every, right = self._kept.take(place), of.codes[first]
            labels, chosen = model.classes[right], choose(p[first], right)
            source = "rows that it has learned, judged as if it had not"
        else:
            return None
        places = [one.row for one in chosen]
        rows = every.take(np.array(places, np.int64))
        said = [None if labels is None else labels[row] for row in places]
        return ShownRows(rows, chosen, said, list(explain(model, rows)), source)


def prior_loss(of: Scores) -> float:
    """Return the log loss of who says the shares of the classes of every row, in nats."""
    rows = np.array([rows for _, _, rows in of.by_class.values()])
    share = rows[rows > 0] / rows.sum()
    return float(-(share * np.log(share)).sum())


def _of_all(found: Scores, model: Model) -> Scores:
    """Return scores whose counts are whole, and of all rows learned, not of those scored."""
    times = float(model.counted.tally.class_count.sum() / found.confusion.sum())
    confusion = np.diff(np.rint(np.cumsum(found.confusion * times, axis=1)), prepend=0.0)
    by_class = {label: (*of[:2], of[2] * times) for label, of in found.by_class.items()}
    return replace(found, confusion=confusion, by_class=by_class)


def _share_learned(model: Model, learned: Reservoir | None, rows: Rows, labels: Labels) -> float:
    """Return which share of some rows a model has learned; NaN if they may be those it learned."""
    if learned is not None:
        share = learned.share_of(
            model.counted.schema.encode(rows, labels, model.counted.tally.axes)
        )
        if not np.isnan(share):
            return share
    rows_of = np.bincount(labels.codes, labels.weight, len(labels.classes))
    given = dict(zip(labels.classes.tolist(), rows_of, strict=True))
    count = dict(zip(model.classes.tolist(), model.counted.tally.class_count, strict=True))
    return np.nan if given == count else 0.0


class ShownRows(Frozen):
    """Rows that the page shows, why, their right labels if known, and their explanations."""

    rows: Rows
    chosen: list[ShownRow]
    labels: list[Level]
    explained: list[ExplainedRow]
    source: str


def _rows_of(model: Model, batch: Batch) -> Rows | None:
    """Return the rows that a batch of the sample holds; None if their cells are not kept."""
    held = Held(batch)
    if held.sparse:
        return None
    columns: dict[Name, CellArray] = {}
    for name in model.view.schema.order:
        group = model.view.schema.columns.get(name)
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
    return column_rows(columns, model.view.schema.kinds)


# --- What has moved since it was learned ----------------------------------------------------------


LINES = 26  # of the table
MOVED = {  # its columns, and what they are called
    "what": "", "column": "column", "divergence": "divergence (nats)", "chance": "by chance",
    "item": "item", "before": "before", "after": "after",
}  # fmt: skip


def moved(subject: Subject) -> str:
    """Show what has moved."""
    found = subject.drift
    if found is None:
        return ""
    columns, is_apart = found.to_dict(), np.array(found.what) != "log loss"
    each = is_apart * np.stack([found.divergence, found.chance + BAND * found.noise])
    each = np.nan_to_num(each / (each.max(initial=0.0) or 1.0))
    columns["divergence"] = [
        html.Bar(html.number(value), of, 0.0, mark, mark)
        for value, of, mark in zip(found.divergence.tolist(), *each.tolist(), strict=True)
    ]
    lines = list(zip(*(columns[key][:LINES] for key in MOVED), strict=True))
    how = html.how_to_read(
        f"{found.between}: how far the shares of each column's levels, or bins, are apart. What is "
        "far beyond its mark has moved more than chance makes."
    )
    return how + html.table([*MOVED.values()], lines)
