"""The rows that it was most sure, least sure and most wrong about, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping

from naively.inspect.explain import ExplainedRow
from naively.kernels.tokens import splitter
from naively.messages import shortened
from naively.wings.report import html
from naively.wings.report.subject import ShownRows, Subject

ITEMS = 8  # of an explanation
FAINT, STRONG = 0.08, 0.45  # how strongly words are marked, of the weakest and the strongest
LEAST = 0.1  # of the strongest word's weight: weaker ones are not marked
MOST = 600  # characters of a text whose words are marked


def rows(subject: Subject) -> str:
    """Show and explain the rows it was most sure, least sure and most wrong about."""
    shown = subject.shown
    if shown is None:
        return html.note(
            "There is no row to show: of the rows that were learned none is kept, or only the "
            "counts of its words. Give rows to see some explained."
        )
    said = html.how_to_read(
        f"These are {shown.source}. Each line is what a cell speaks for or against the answer; "
        "they sum to the log odds. No two of a kind are the same."
    )
    cards = (
        f"<h3>{html.escaped(one.why)}: row {one.row}</h3>{_explained(subject, explained, label)}"
        + _texts(subject, shown, i)
        + _lines(explained)
        for i, (one, label, explained) in enumerate(
            zip(shown.chosen, shown.labels, shown.explained, strict=True)
        )
    )
    return said + html.cards(cards)


def _explained(subject: Subject, row: ExplainedRow, label: object) -> str:
    c, labels, against = row.best, row.classes.tolist(), ""
    right = "" if label is None else f", and it is {html.data(label)}"
    if len(labels) > 1:
        against = f" Weights of evidence against {html.data(labels[row.rival(c)])}, in nats:"
    return (
        f"<p>It says {html.escaped(subject.said(c))} with probability "
        f"{row.probability(c):.3f}{right}.{against}</p>"
    )


def _lines(row: ExplainedRow) -> str:
    """Return the lines of an explanation, those of the greatest weight first, and their sum."""
    c = row.best
    top = row.top(c)
    lines = [[column, _plain(value), html.Nats(of)] for column, value, of in top[:ITEMS]]
    if len(top) > ITEMS:
        rest = sum(weight for _, _, weight in top[ITEMS:])
        lines.append([f"{len(top) - ITEMS:,} more", None, html.Nats(rest)])
    lines.append(["log odds", None, html.Nats(row.log_odds(c))])
    return html.table(["column", "value", "weight"], lines)


def _plain(value: object) -> object:
    return shortened(value, 60) if isinstance(value, str) else value


# --- Texts, with their words marked --------------------------------------------------------------


def _texts(subject: Subject, shown: ShownRows, i: int) -> str:
    """Return the texts of a row, in which what speaks for the answer, and against it, is marked."""
    row, found = shown.explained[i], []
    kinds = subject.model.view.schema.kinds
    for name in (name for name, kind in kinds.items() if kind == "text"):
        text = shown.rows.values(name).tolist()[i] if name in shown.rows.place else None
        if text is None:
            continue
        text = text if isinstance(text, str) else " ".join(map(str, text))
        weights = {
            value: weight
            for column, value, weight in row.top(row.best)
            if column == str(name) and isinstance(value, str)
        }
        found.append(f"<blockquote><bdi>{marked(text, weights)}</bdi></blockquote>")
    return "".join(found)


def marked(text: str, weights: Mapping[str, float]) -> str:
    """Return a text, escaped, whose words are marked by their weights."""
    split = splitter("word", (1, 1), lowercase=True, stop_words=())
    most = max(map(abs, weights.values()), default=0.0)
    found = []
    for piece in re.split(r"(\s+)", text[:MOST]):
        weight = sum(weights.get(word, 0.0) for word in dict.fromkeys(split(piece)))
        said = html.escaped(piece)
        if most and abs(weight) >= LEAST * most:
            side = "for" if weight > 0 else "against"
            shade = FAINT + (STRONG - FAINT) * min(abs(weight) / most, 1.0)
            said = f'<mark class="{side}" style="--w:{shade:.2f}">{said}</mark>'
        found.append(said)
    return "".join(found) + ("…" if len(text) > MOST else "")
