"""The sections of the page: what it learned from, how good it is, each column, rows, a scorer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.assess.folds import assess, hold_out, work
from naively.assess.scores import Scores, scores
from naively.counting.axis import Derived, Name, title
from naively.counting.block import Batch
from naively.counting.labels import LabelArray, Labels, Target, encode_labels
from naively.data.columns import Kind, Rows, column_rows, times_of
from naively.export.scorecard import Scorecard, plain_floats
from naively.file.store import HISTORY
from naively.fitting.leave_one_out import left_out, weighted_joint
from naively.fitting.sample import Reservoir, Sample
from naively.fitting.weights import posterior
from naively.inspect.column import ColumnView, column_view
from naively.inspect.drift import Drift, drift
from naively.inspect.explain import ExplainedRow, explain
from naively.inspect.likelihood import class_codes
from naively.inspect.odds import strongest
from naively.inspect.one_column import OneColumn
from naively.inspect.parameters import count_joint_parameters, count_parameters
from naively.inspect.rules import rules_of
from naively.kernels.reference import Floats
from naively.messages import visible
from naively.model.model import Model
from naively.options import Weighting
from naively.report import html
from naively.report.svg import svg_of
from naively.schema.diagnose import leaks
from naively.schema.encode import Held

# --- Sections ------------------------------------------------------------------------------------
#
# The sections of a report, each from what it is of; a section without anything to say is empty.


CLASSES = 30  # that are described one by one
COLUMNS = 24  # that are drawn
WORDS = 10  # of each class
ITEMS = 10  # of an explanation
# What a model file says about where the model comes from.
FILE = {"rows": "rows of its file", "hold_out": "of these held out", "seed": "by the seed"}
SCORES = {  # of the table, and their names
    "accuracy": "accuracy",
    "accuracy of the most frequent class": "majority_accuracy",
    "log loss (nats per row)": "log_loss",
    "Brier score": "brier",
    "area under ROC": "auc",
    "calibration error": "calibration_error",
}
SAME = 0.5  # of the other rows, from which on they are not other rows
FEWEST = 200  # rows that are looked at over time
HARDLY = 5e-5  # nats per row, which is 0.0000 when it is written


def warnings(subject: Subject) -> str:
    """Say what would make the scores too good to be true."""
    said = [
        html.escaped(text) for text in leaks(subject.model.described, subject.model.taken.tally)
    ]
    share = subject.share_learned
    if subject.known:
        said.append(
            f"Of the rows that were given {share:.0%} are equal to rows that it has learned, so "
            "that their scores are those of rows it knows: new rows will be scored worse."
        )
    elif math.isnan(share):
        said.append(
            "The rows that were given are as many of each class as it has learned. If they are the "
            "rows that it has learned, new rows will be scored worse."
        )
    return html.alert(said)


def learned(subject: Subject) -> str:
    """Say what the model learned from, and how."""
    model, settings = subject.model, subject.model.settings
    count = model.counted.tally.class_count
    weights = "none: pure naive Bayes" if model.weights is None else model.weights.how
    facts: list[tuple[str, object]] = [
        ("rows", float(count.sum())),
        ("classes", len(count)),
        ("columns", model.taken.schema.width),
        ("free parameters", count_parameters(model)),
        ("without the naive Bayes assumption", _without_assumption(model)),
        ("class prior", str(settings.class_prior)),
        ("estimate", settings.estimate),
        ("weights of the evidence", weights),
    ]
    if model.weights is not None and model.weights.linear:
        facts.append(("linear part", str(model.weights.linear)))
    facts += [
        (FILE.get(key, key), str(value))
        for key, value in subject.provenance.items()
        if key != HISTORY
    ]
    lines = "".join(
        f"<tr><th scope='row'>{html.escaped(name)}</th><td>{html.cell(value)}</td></tr>"
        for name, value in facts
    )
    found = [
        f"<li>{html.data(title(name))}: {html.data(note)}</li>"
        for name, note in model.described.notes.items()
    ]
    more = html.details(f"What was noticed of {len(found):,} columns", f"<ul>{''.join(found)}</ul>")
    return f"<table><tbody>{lines}</tbody></table>" + (more if found else "")


def _without_assumption(model: Model) -> str:
    """Say how many free parameters the full joint table has."""
    many = count_joint_parameters(model)
    return "without end, as a column holds numbers or texts" if many == math.inf else str(many)


def good(subject: Subject) -> str:
    """Say how good the model is: by cross-validation, and on rows that it never saw."""
    of: dict[str, Scores] = {}
    if subject.assessment is not None:
        of["on learned rows, cross-validated"] = subject.assessment
    if subject.scores is not None:
        which = "on given rows, most of them learned" if subject.known else "on the rows given"
        of[which] = subject.scores
    if not of:
        return html.note(
            "Nothing is known of how good it is: no sample of the learned rows is kept "
            "(save with keep_rows=True, or train with --keep-rows), and no labelled rows were "
            "given."
        )
    lines: list[list[object]] = [
        ["rows", *(s.rows for s in of.values())],
        ["of the rarest class", *(_of_rarest(s) for s in of.values())],
    ]
    for what, name in SCORES.items():
        lines.append([what, *(_score(s, name) for s in of.values())])
        if any(name in s.shown for s in of.values()):
            lines.append([f"{what}: 95 % interval", *(_interval(s, name) for s in of.values())])
    best = subject.best
    assert best is not None
    return html.table(["", *of], lines) + html.figure(
        svg_of(best.plot_confusion(), "confusion", "Rows by right class and by answer"),
        html.escaped("Rows by right class (down) and most probable class (across)."),
    )


def _of_rarest(scores: Scores) -> str | None:
    """Say how many of the rows that were scored are of the rarest class."""
    if scores.support is None:
        return None
    label, rows = scores.support.rarest
    return f"{rows:,} of {label}"


def _score(scores: Scores, name: str) -> object:
    """Return a score, and of an area under the ROC curve of few rows that it is not known."""
    return "not known" if name == "auc" and not scores.area_is_known else getattr(scores, name)


def _interval(scores: Scores, name: str) -> str | None:
    if name not in scores.shown:
        return None
    low, high = scores.shown[name]
    return f"{low:.3f} to {high:.3f}"


def calibration(subject: Subject) -> str:
    """Show how far the probabilities can be believed."""
    best = subject.best
    if best is None:
        return ""
    before = subject.scores_without_weights if best is subject.scores else None
    ax = best.plot_reliability(before=before)
    return html.figure(
        svg_of(ax, "reliability", "Accuracy against confidence"),
        html.escaped("How often the most probable class is right, against its probability."),
    )


def classes(subject: Subject) -> str:
    """Describe each class: its share, its scores and what speaks most for it."""
    model = subject.model
    count, labels = model.counted.tally.class_count, model.classes.tolist()
    best = subject.best
    order = sorted(range(len(labels)), key=lambda c: -count[c])
    lines = []
    for c in order[:CLASSES]:
        of = (
            (None, None, None) if best is None else best.by_class.get(labels[c], (None, None, None))
        )
        lines.append([str(labels[c]), float(count[c]), float(count[c] / count.sum()), *of[:2]])
    body = html.table(["class", "rows learned", "share", "precision", "recall"], lines)
    if len(labels) > CLASSES:
        body += html.note(f"These are the {CLASSES} most frequent of {len(labels):,} classes.")
    cards = (
        f"<h3>{html.data(labels[c])}</h3>"
        + html.table(
            ["speaks for it", "", "nats"],
            [[column, value, html.Nats(of)] for column, value, of in strongest(model, c, WORDS)],
        )
        for c in order[:CLASSES]
    )
    return body + (html.cards(cards) if len(labels) > 1 else "")


def columns(subject: Subject) -> str:
    """Draw each column by class, those that are worth most first."""
    model, worth = subject.model, subject.worth
    cost = subject.cost
    schema = model.described
    drawn = list(_drawn(subject, worth[:COLUMNS], cost))
    lines = [
        [title(name), str(schema.columns[name].event) if name in schema.columns else "not learned",
         schema.columns[name].kind if name in schema.columns else None,
         schema.said_of(name), cost.get(title(name))]
        for name in worth[:1000]
    ]  # fmt: skip
    body = html.table(["column", "event model", "kind", "note", "worth (nats per row)"], lines)
    more = (
        f"All {len(worth):,} columns" if len(worth) <= 1000 else f"1,000 of {len(worth):,} columns"
    )
    return html.cards(drawn) + html.details(more, body)


def _drawn(subject: Subject, names: list[Name], cost: Mapping[str, float]) -> Iterator[str]:
    """Yield a card for each column: its densities or levels by class."""
    for i, name in enumerate(names):
        if name not in subject.model.taken.schema.columns:
            continue
        view = subject.column(name)
        worth = cost.get(title(name))
        said = "" if worth is None else _worth(worth)
        yield f"<h3>{html.data(title(name))}</h3>" + html.figure(
            svg_of(view.plot(), f"column{i}", f"Column {title(name)} by class"), html.escaped(said)
        )


def _worth(nats: float) -> str:
    if abs(nats) < HARDLY:
        return "Without it the log loss hardly changes."
    return f"Without it the log loss grows by {nats:+.4f} nats per row."


def interactions(subject: Subject) -> str:
    """List the columns that have a say of their own together."""
    weights, cost = subject.model.weights, subject.cost
    names = (
        []
        if weights is None
        else sorted(weights.linear.together, key=lambda name: -cost.get(name, 0.0))
    )
    lines = [[name, cost.get(name)] for name in names]
    if not lines:
        return ""
    found = html.table(["columns", "worth (nats per row)"], lines)
    rules = rules_of(subject.model).strongest(ITEMS)
    if rules:
        said = [[conditions, label, html.Nats(weight)] for conditions, label, weight in rules]
        found += html.table(["rule", "speaks for", "weight (nats)"], said)
    return found


def moved(subject: Subject) -> str:
    """Show what has moved: over time, or between the rows that were learned and the others."""
    found = _drift(subject)
    if found is None:
        return ""
    names = ["", "column", "divergence (nats)", "by chance", "item", "before", "after"]
    columns = found.to_dict()
    keys = ("what", "column", "divergence", "chance", "item", "before", "after")
    lines = list(zip(*(columns[key][: COLUMNS + 2] for key in keys), strict=True))
    said = f"{found.between}: how far the shares of each column's levels, or bins, are apart."
    return html.figure(
        svg_of(found.plot(), "drift", "Divergence of each column, over what chance makes"),
        html.escaped(said),
    ) + html.table(names, lines)


def _drift(subject: Subject) -> Drift | None:
    """Return what has moved; None where there are no other rows, and no time orders the learned."""
    model, sample = subject.model, subject.sample
    if sample is None or not len(sample):
        return None
    if subject.rows is not None and len(subject.rows) and subject.y is not None:
        if not subject.share_learned < SAME:
            return None  # they are those that were learned
        labels = encode_labels(subject.y)
        new = model.counted.schema.encode(subject.rows, labels, model.counted.tally.axes)
        return drift(model, sample, new, None)
    times = [name for name in model.taken.schema.order if name in model.taken.schema.times]
    if len(times) != 1 or len(sample) < FEWEST:
        return None
    return drift(model, sample, None, times[0])


def rows(subject: Subject) -> str:
    """Show and explain the rows it was most sure, least sure and most wrong about."""
    shown = subject.shown
    if shown is None:
        return html.note(
            "There is no row to show: of the rows that were learned none is kept, or only the "
            "counts of its words. Give rows to see some explained."
        )
    said = html.note(f"These are {shown.source}.")
    cards = (
        f"<h3>{html.escaped(one.why)}: row {one.row}</h3>{text}" + _explained(explained, label)
        for one, label, explained, text in zip(
            shown.chosen, shown.labels, shown.explained, _texts(subject, shown), strict=True
        )
    )
    return said + html.cards(cards)


def _texts(subject: Subject, shown: ShownRows) -> list[str]:
    """Return the texts of each row that is shown."""
    names = [name for name, kind in subject.model.taken.schema.kinds.items() if kind == "text"]
    columns = [shown.rows.values(name).tolist() for name in names if name in shown.rows.place]
    rows = zip(*columns, strict=True) if columns else [()] * len(shown.rows)
    return [
        "".join(f"<blockquote>{html.data(text)}</blockquote>" for text in row if text is not None)
        for row in rows
    ]


def _explained(row: ExplainedRow, label: object) -> str:
    c = row.best
    labels = row.classes.tolist()
    right = "" if label is None else f", and is {html.data(label)}"
    verdict = (
        f"<p>{html.data(labels[c])} with probability {row.probability(c):.4f}{right}. "
        f"Weights of evidence against {html.data(labels[row.rival(c)])}, in nats:</p>"
    )
    top = row.top(c)
    lines = [[column, value, html.Nats(of)] for column, value, of in top[:ITEMS]]
    if len(top) > ITEMS:
        rest = sum(weight for _, _, weight in top[ITEMS:])
        lines.append([f"{len(top) - ITEMS:,} more", None, html.Nats(rest)])
    lines.append(["log odds", None, html.Nats(row.log_odds(c))])
    return verdict + html.table(["column", "value", "weight"], lines)


def what_if(scorer: Scorer) -> str:
    """Let a reader change the cells of a row and see the posterior move."""
    if not scorer.columns:
        return html.note(scorer.why) if scorer.why else ""
    said = "Change the cells of a row, and see the probability of each class and its evidence move."
    if scorer.columns < scorer.read:
        said += f" These are the {scorer.columns} of {scorer.read:,} columns that are worth most."
    return (
        html.note(said)
        + '<p><label for="start">Start from</label> <select id="start"></select> '
        + '<button type="button" id="again">Start again</button></p>'
        + '<div id="moves"><div id="answer"><div id="posterior" role="status"></div>'
        + '<div id="why"><h3 id="against"></h3><table id="evidence" aria-labelledby="against">'
        + '<thead><tr><th scope="col">column</th><th scope="col">value</th><td></td>'
        + '<th scope="col" class="n">weight</th></tr></thead><tbody></tbody></table></div></div>'
        + '<div id="cells" role="group" aria-label="Cells of the row"></div></div>'
        + "<noscript><p>This part needs the page's program, which is switched off.</p></noscript>"
    )


# --- The rows that a report shows: most sure, least sure, and most wrong -------------------------


EACH = 3  # rows of each kind


@dataclass(frozen=True)
class ShownRow:
    """A row that is shown, and why.

    Parameters
    ----------
    why : {"most sure", "least sure", "most wrong"}
        Of the rows that are right, one of the highest posterior; of all rows, one whose highest
        posterior is lowest; of the rows that are wrong, one whose right class has the lowest
        posterior.
    row : int
        Its place among the rows.
    """

    why: str
    row: int


def choose(p: Floats, right: NDArray[np.integer] | None = None, each: int = EACH) -> list[ShownRow]:
    """Return rows to show, each once.

    Parameters
    ----------
    p : ndarray of shape (rows, classes)
        The posteriors.
    right : ndarray of shape (rows,), optional
        The number of each row's right class; negative where it is none of these.
    each : int
        How many rows of each kind, at most.
    """
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
        some = [row for row in ordered.tolist() if row not in taken][:each]
        taken.update(some)
        found += [ShownRow(why, row) for row in some]
    return found


# --- What a report is of: a model, a sample of the rows it learned, and rows that it never saw ---


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
            held_out = hold_out(model, learned, kind, interactions=model.seeks_interactions)
            found = assess(model, held_out)
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
        return sorted(self.model.taken.schema.order, key=lambda name: -cost.get(title(name), 0.0))

    def column(self, name: Name) -> ColumnView:
        """Return what a column looks like in each class."""
        batches = [] if self.sample is None else self.sample.batches
        return column_view(self.model, name, batches)

    @cached_property
    def numbers(self) -> dict[Name, Floats]:
        """The numbers of each column of numbers, in the sample or else in the other rows."""
        columns = [n for n, g in self.model.taken.schema.columns.items() if g.kind == "number"]
        columns = [name for name in columns if not isinstance(name, Derived)]
        if self.sample is not None and self.sample.batches:
            held = [Held(batch) for batch in self.sample.batches]
            return {
                name: np.concatenate([of.number(name) for of in held]).astype(np.float64)
                for name in columns
            }
        if self.rows is None:
            return {}
        rows = self.model.taken.schema.match(self.rows)
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
        if any(group.kind == "text" for group in self.model.taken.schema.groups):
            return None  # of texts only the counts are kept
        model, labels = self.model, self.sample.labels
        batches = self.sample.encoded(model)
        found = left_out(model, batches, length_power=model.length_power)
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
            model.taken.schema.kinds,
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
        share = learned.share_of(
            model.counted.schema.encode(rows, labels, model.counted.tally.axes)
        )
        if not np.isnan(share):
            return share
    rows_of = np.bincount(labels.codes, labels.weight, labels.k)
    given = dict(zip(labels.classes.tolist(), rows_of, strict=True))
    count = dict(zip(model.classes.tolist(), model.counted.tally.class_count, strict=True))
    return np.nan if given == count else 0.0


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Rows that the page shows, why, their right labels if known, and their explanations."""

    rows: Rows
    chosen: list[ShownRow]
    labels: list[Any]
    explained: list[ExplainedRow]
    source: str


def _rows_of(model: Model, batch: Batch) -> Rows | None:
    """Return the rows that a batch of the sample holds; None if their cells are not kept."""
    held = Held(batch)
    if held.sparse:
        return None
    columns: dict[Name, Any] = {}
    for name in model.taken.schema.order:
        group = model.taken.schema.columns.get(name)
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
    return column_rows(columns, model.taken.schema.kinds)


# --- Scorer --------------------------------------------------------------------------------------
#
# What the page moves rows with: the model's scorecard, the columns, and the rows to start from.
#
# The page's program scores rows by the scorecard, as any other program can, so that every cell can
# be moved freely, whatever columns say together.


MOVABLE = 100  # that can be moved
MOST = 2_000_000  # characters of JSON on the page
SHORTEST = 4  # characters of a number in JSON, with its comma
STEPS = 100  # of a slider, at least
NOT_PLAIN = re.compile(r"[^ -;=-~]+")  # all but ASCII without control characters and "<"


@dataclass(frozen=True, eq=False)
class Scorer:
    """What the page needs to move rows and to score them.

    Parameters
    ----------
    json : str
        What the page's program reads, in which nothing can end the element that holds it; "null"
        if no cell can be moved.
    columns : int
        How many columns can be moved.
    read : int
        How many columns the scores depend on.
    why : str
        Why no cell can be moved; empty if some can.
    """

    json: str
    columns: int = 0
    read: int = 0
    why: str = ""


def make_scorer(subject: Subject) -> Scorer:
    """Return what the page needs to move the cells of rows, those of the best columns first."""
    model = subject.model
    try:
        card = Scorecard.of(model)
    except ValueError as error:
        return Scorer("null", why=f"No cell can be moved here. {error}")
    if _least_size(card) > MOST:
        return _too_large()
    read = set(card.columns)
    names = [name for name in subject.worth if title(name) in read]
    shown = subject.shown
    rows = None if shown is None else model.taken.schema.match(shown.rows)
    cells = {name: _cells(rows, name, model.taken.schema.kinds[name]) for name in names}
    starts = [
        {
            "name": f"{one.why}: row {one.row}",
            "cells": {title(name): of[i] for name, of in cells.items()},
        }
        for i, one in enumerate([] if shown is None else shown.chosen)
    ]
    moved = names[:MOVABLE]
    numbers = subject.numbers
    written = page_json(
        {
            "card": card.to_dict(),
            "classes": [visible(str(label)) for label in model.classes.tolist()],
            "columns": [
                {
                    "name": title(name),
                    "kind": model.taken.schema.kinds[name],
                    **_slider(model, name, numbers.get(name), cells[name]),
                }
                for name in moved
            ],
            "rows": starts,
        }
    )
    if len(written) > MOST:
        return _too_large()
    return Scorer(written, len(moved), len(names))


def page_json(value: object) -> str:
    r"""Return JSON for a page: what is not printed, and any ``<``, is there by its escape alone.

    >>> page_json({"</script>": "\u202eé"})
    '{"\\u003c/script>":"\\u202eé"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return NOT_PLAIN.sub(lambda found: "".join(map(_character, found[0])), text)


def _character(of: str) -> str:
    if of == "<":
        return "\\u003c"
    return of if of.isprintable() else json.dumps(of)[1:-1]


def _too_large() -> Scorer:
    why = f"No cell can be moved here, as the model takes more than {MOST // 10**6} MB of JSON."
    return Scorer("null", why=why)


def _least_size(card: Scorecard) -> int:
    """Return how many characters the numbers and tokens of a scorecard take in JSON at least."""
    held = [of for term in card.terms for of in vars(term).values()]
    numbers = SHORTEST * sum(of.size for of in held if isinstance(of, np.ndarray))
    return numbers + sum(len(token) + 3 for of in held if isinstance(of, list) for token in of)


def _cells(rows: Rows | None, name: Name, kind: Kind) -> list[Any]:
    """Return the cells of a column as the scorecard's program reads them; None where missing."""
    if rows is None:
        return []
    if kind in {"number", "boolean"}:
        there = rows.numbers([name])[:, 0].astype(np.float64)
        numbers: list[Any] = plain_floats(there)
        cells = [None if np.isnan(x) else of for x, of in zip(there, numbers, strict=True)]
        return [bool(x) if kind == "boolean" and x is not None else x for x in cells]
    values = rows.values(name)
    if kind == "time" and values.dtype.kind == "M":
        return [None if np.isnat(time) else str(time).removesuffix(".000000") for time in values]
    return [of if of is None or isinstance(of, str) else list(of) for of in values.tolist()]


def _slider(
    model: Model, name: Name, numbers: Floats | None, cells: list[Any]
) -> Mapping[str, float]:
    """Return the least and the greatest number of a slider, and its step; nothing without any.

    Numbers are of shape (numbers,), of the sample of learned rows or else of the other rows.
    """
    if model.taken.schema.kinds[name] != "number":
        return {}
    numbers = np.empty(0) if numbers is None else numbers
    known = np.array([*numbers, *(x for x in cells if isinstance(x, float))], np.float64)
    known = known[np.isfinite(known)]
    column = OneColumn.find(model, name)
    if not len(known) and column.is_number:
        known = np.array(column.range(()))
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    if low == high:
        low, high = low - 1.0, high + 1.0
    if not 1e-300 < high - low < 1e300:
        return {}
    is_whole = len(numbers) > 0 and bool((known == np.rint(known)).all())
    digits = 0 if is_whole else math.ceil(math.log10(STEPS / (high - low)))
    step = 10.0**-digits
    found = {"low": math.floor(low / step) * step, "high": math.ceil(high / step) * step}
    return {side: round(x, max(digits, 0)) for side, x in found.items()} | {"step": step}
