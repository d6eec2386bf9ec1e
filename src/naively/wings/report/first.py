"""The first screen: what is predicted, how good it is in a sentence, what matters, and doubts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import numpy as np

from naively.assess.scores import Scores
from naively.counting.axis import title
from naively.messages import amount, visible
from naively.schema.diagnose import OWN_LEVELS, leaks
from naively.wings.report import html
from naively.wings.report.columns import OPEN, importance_bars
from naively.wings.report.subject import JudgedRows, Subject

FEW_ROWS = 100  # that were scored: a share of them is not known to 10 %
FEW_OF_CLASS = 30  # rows of the rarest class
MOVED = 0.02  # nats: a divergence that is less does little, however sure it is
NAMED = 5  # classes, or columns, that are named
ABOUT = 0.9, 0.05  # a confidence, and how far from it rows are that it is judged by
ENOUGH = 30  # such rows
OFF = 0.02  # beyond twice of what chance makes: probabilities are off


def lead(subject: Subject) -> str:
    """Say what is predicted, from how many rows of what, and when this was written."""
    model = subject.model
    labels = [visible(str(label)) for label in model.classes.tolist()]
    which = (
        html.listed(labels, NAMED) if len(labels) <= NAMED else f"one of {len(labels):,} classes"
    )
    rows, width = float(model.counted.tally.class_count.sum()), model.view.schema.width
    columns = "1 column" if width == 1 else f"{width:,} columns"
    what = f"<b>{html.data(subject.target)}</b>" if subject.target else "a class"
    which = html.escaped(which)
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    return (
        f'<p class="lead">It predicts {what} ({which}) from {columns}, as learned from '
        f"{amount(rows)} rows. <time>{today}</time></p>"
    )


def first(subject: Subject) -> str:
    """Return the first screen, below its heading."""
    bars, there = importance_bars(subject, OPEN)
    said = "".join(f'<p class="say">{line}</p>' for line in sentences(subject))
    left = f'{warnings(subject)}<div class="says">{said}</div>'
    if not bars:
        return f'<div class="first">{left}</div>'
    heading = f"The {OPEN} columns that matter most" if there > OPEN else "What matters"
    return f'<div class="first">{left}<div class="matter"><h2>{heading}</h2>{bars}</div></div>'


def sentences(subject: Subject) -> Iterator[str]:
    """Say how good it is, in plain words; escaped."""
    best = subject.best
    if best is None:
        yield html.escaped(
            "How good it is, nobody knows: no sample of the learned rows is kept (save with "
            "keep_rows=True, or train with --keep-rows), and no labelled rows were given."
        )
        return
    always = f"always answering {_name(subject, best)}"
    right, majority = of_100(best.accuracy), of_100(best.majority_accuracy)
    yield f"It is right for <b>{right} of 100</b> rows, where {always} is right for {majority}."
    judged = subject.judged
    if judged is not None:
        sure = sure_of(judged)
        if sure is not None:
            said, hit, rows = sure
            yield (
                f"When it says {of_100(said)} % on average, it is right <b>{of_100(hit)} %</b> "
                f"of the time ({rows:,} rows)."
            )
    which = "rows that were given" if best is subject.scores else "learned rows, cross-validated"
    if best is subject.scores and subject.known:
        which += ", most of them learned"
    low, high = best.intervals.get("accuracy", (np.nan, np.nan))
    yield (
        f'<span class="note">By {best.rows:,} {which}; of other such rows it would be right for '
        f"{of_100(low)} to {of_100(high)} of 100 (about 95 % interval).</span>"
    )


def _name(subject: Subject, best: Scores) -> str:
    """Return the most frequent class: a word as it is, a number with what is predicted."""
    is_word = any(character.isalpha() for character in str(best.majority))
    said = best.majority if is_word else subject.named(best.majority)
    return f"“{html.data(said)}”"


def of_100(share: float) -> str:
    """Return a share as a number of 100, to a digit more where it is near all or nothing."""
    if not np.isfinite(share):
        return "an unknown number"
    near = 0 < share < 0.015 or 0.985 < share < 1
    return f"{100 * share:.1f}" if near else f"{100 * share:.0f}"


def sure_of(judged: JudgedRows) -> tuple[float, float, int] | None:
    """Return a mean confidence of about 90 %, how often it is right then, and of how many rows."""
    # Where too few rows are about 90 % sure, it is of the half of the rows that are surest.
    confidence, answer = judged.p.max(axis=1), judged.p.argmax(axis=1)
    middle, far = ABOUT
    some = np.abs(confidence - middle) <= far
    if some.sum() < ENOUGH:
        some = confidence >= np.median(confidence)
    weight = judged.weight * some
    if some.sum() < ENOUGH or not weight.any():
        return None
    hit = answer == judged.right
    return (
        float(np.average(confidence, weights=weight)),
        float(np.average(hit, weights=weight)),
        int(some.sum()),
    )


def warnings(subject: Subject) -> str:
    """Say what is to be doubted."""
    said = [html.escaped(text) for text in doubts(subject)]
    if not said:
        return ""
    head = '<h2 id="warnings-title">Before you believe it</h2>'
    section = '<section id="warnings" aria-labelledby="warnings-title">'
    return f"{section}{head}{html.alert(said)}</section>"


def doubts(subject: Subject) -> Iterator[str]:
    """Say what would make the scores too good to be true, and what else is to be doubted."""
    yield from leaks(subject.model.described(), subject.model.view.tally)
    yield from _of_known(subject)
    yield from _of_few(subject)
    yield from _of_columns(subject)


def _of_known(subject: Subject) -> Iterator[str]:
    share = subject.share_learned
    if subject.known:
        yield (
            f"Of the rows that were given {share:.0%} are equal to rows that it has learned, so "
            "that their scores are those of rows it knows: new rows will be scored worse."
        )
    elif np.isnan(share):
        yield (
            "The rows that were given are as many of each class as it has learned. If they are the "
            "rows that it has learned, new rows will be scored worse."
        )


def _of_few(subject: Subject) -> Iterator[str]:
    """Say what too few rows leave open, and where it is no better than one answer."""
    best = subject.best
    if best is None or len(subject.model.classes) < 2:
        return
    if best.rows < FEW_ROWS:
        low, high = best.intervals.get("accuracy", (0.0, 1.0))
        yield (
            f"Only {best.rows:,} rows were scored: it may be right for {of_100(low)} to "
            f"{of_100(high)} of 100."
        )
    elif best.support is not None and best.support.rarest[1] < FEW_OF_CLASS:
        label, rows = best.support.rarest
        yield (
            f"Only {rows:,} of the rows that were scored are of class {label!r}: what is said of "
            "it may be chance."
        )
    low = best.intervals.get("accuracy", (1.0, 1.0))[0]
    if low <= best.majority_accuracy:
        yield "It may be no better than always answering the most frequent class."
    if best.calibration_error > 2 * best.calibration_noise + OFF:
        yield (
            f"Its probabilities are off by {best.calibration_error:.0%} on average, more than "
            "chance makes."
        )


def _of_columns(subject: Subject) -> Iterator[str]:
    """Say which columns are like identifiers, and which have moved."""
    notes = subject.model.described().notes
    own = [title(name) for name, note in notes.items() if OWN_LEVELS in note]
    if own:
        yield (
            f"Nearly every row has its own {html.listed(own, NAMED)}: like an identifier, of which "
            "a new row will hold another. Leave it out."
        )
    found = subject.drift
    if found is None:
        return
    moved = [
        (name or "the classes")
        for what, name, is_beyond, far in zip(
            found.what, found.column, found.moved, found.divergence.tolist(), strict=True
        )
        if what != "log loss" and is_beyond and far > MOVED
    ]
    if moved:
        yield f"{html.listed(moved, NAMED)} moved ({found.between}): see what has moved."
