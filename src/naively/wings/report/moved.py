"""What has moved: over time, or between the rows that were learned and the others."""

from __future__ import annotations

from naively.wings.report import html
from naively.wings.report.subject import Subject
from naively.wings.report.svg import svg_of

LINES = 26  # of the table


def moved(subject: Subject) -> str:
    """Show what has moved."""
    found = subject.drift
    if found is None:
        return ""
    names = ["", "column", "divergence (nats)", "by chance", "item", "before", "after"]
    columns = found.to_dict()
    keys = ("what", "column", "divergence", "chance", "item", "before", "after")
    lines = list(zip(*(columns[key][:LINES] for key in keys), strict=True))
    how = html.how_to_read(
        f"{found.between}: how far the shares of each column's levels, or bins, are apart. What is "
        "far beyond its mark has moved more than chance makes."
    )
    picture = svg_of(found.plot(), "drift", "Divergence of each column, over what chance makes")
    return how + html.figure(picture) + html.table(names, lines)
