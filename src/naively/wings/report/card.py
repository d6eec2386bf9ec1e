"""The model card: what a model is for, what it learned, how good it is and for whom, as Markdown.

Mitchell et al., Model cards for model reporting (2019). It says what is known; what only people can
say, as what the model is to be used for, is said to be missing until they say it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from naively import __version__
from naively.counting.axis import title
from naively.file.store import HISTORY
from naively.messages import visible
from naively.model.model import History
from naively.wings.report import html
from naively.wings.report.page import doubts, facts_of, lead, sentences
from naively.wings.report.scored import (
    HEAD_OF_BINS,
    HEAD_OF_GROUPS,
    calibrated,
    every_scores,
    lines_of_bins,
    lines_of_scores,
    subgroups,
)
from naively.wings.report.subject import Subject

CLASSES = 50  # that are listed
COLUMNS = 200


def write_card(
    subject: Subject, name: str = "", use: str = "", history: History | None = None
) -> str:
    """Return the card of a model (see ``NaiveBayes.export.card``)."""
    target = visible(subject.target)
    head = name or (f"What predicts {target}" if target else "A model")
    parts = {
        "": [f"{_text(html.plain(lead(subject)))} Written by naively {__version__}."],
        "Intended use": [use or "Nothing is stated."],
        "How good it is": _scores(subject),
        "Doubts": [f"- {_text(said)}" for said in doubts(subject)],
        "Can its probabilities be believed?": _calibration(subject),
        "For whom it is better or worse": _groups(subject),
        "What it learned from": _learned(subject),
        "Columns": _columns(subject),
        "How": _table(["", ""], [fact for fact in facts_of(subject) if fact[0] != HISTORY]),
        "History": [f"    {line}" for line in str(history or "").splitlines()],
    }
    lines = [f"# {_text(head)}"]
    for heading, body in parts.items():
        found = list(body)
        if found:
            lines += ([f"## {heading}"] if heading else []) + ["\n".join(found)]
    return "\n\n".join(lines) + "\n"


def _scores(subject: Subject) -> Iterator[str]:
    yield from (f"{_text(html.plain(line))}\n" for line in sentences(subject))
    if (best := subject.best) is None:
        return
    of = every_scores(subject)
    yield from _table(["", *of], lines_of_scores(of))
    if best.by_class:
        yield ""
        lines = [[str(label), *found] for label, found in best.by_class.items()][:CLASSES]
        yield from _table(["class", "precision", "recall", "rows"], lines)


def _calibration(subject: Subject) -> Iterator[str]:
    found = calibrated(subject)
    if found is not None:
        (said, so), bins = found
        yield f"Rows in bins of the same size: the mean {_text(said)}, and the {_text(so)}.\n"
        yield from _table(HEAD_OF_BINS, lines_of_bins(bins))


def _groups(subject: Subject) -> Iterator[str]:
    lines = list(subgroups(subject))
    if lines:
        yield (
            f'"Says" is the mean probability of {_text(subject.label)}, and "is" its share of the '
            "rows.\n"
        )
        yield from _table(HEAD_OF_GROUPS, lines)


def _learned(subject: Subject) -> Iterator[str]:
    model = subject.model
    counts = model.counted.tally.class_count.tolist()
    every = list(zip(map(str, model.classes.tolist()), counts, strict=True))
    lines = [[label, round(n, 6)] for label, n in every[:CLASSES]]
    lines += [["more classes", len(every) - CLASSES]] if len(every) > CLASSES else []
    yield from _table(["class", "rows"], lines)


def _columns(subject: Subject) -> Iterator[str]:
    schema = subject.model.described()
    names = schema.order[:COLUMNS]
    said = {name: schema.said_of(name) for name in names}
    noted = {name: schema.notes.get(name, "") for name in names}
    lines = [[title(of), said[of], noted[of] * (noted[of] not in said[of])] for of in names]
    yield from _table(["column", "what it is taken for", "notes"], lines)
    if len(schema.order) > COLUMNS:
        yield f"\nand {len(schema.order) - COLUMNS:,} more."


def _table(head: Sequence[str], lines: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield f"| {' | '.join(map(_text, head))} |"
    yield f"|{' --- |' * len(head)}"
    for line in lines:
        yield f"| {' | '.join(_text(html.plain(html.cell(value))) for value in line)} |"


def _text(text: str) -> str:
    """Return a text of which nothing is markup."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|" else c for c in visible(text))
