"""Pictures as inline SVG: text stays text, and colours follow the page, light or dark."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from naively.wings.pictures.axes import COLOURS, GREY, pyplot, styled
from naively.wings.report.html import escaped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What the style draws in these colours takes those of the page.
VARIABLES = {colour.lower(): f"var(--c{i})" for i, colour in enumerate(COLOURS)} | {
    "#000000": "var(--ink)",
    "#ffffff": "var(--paper)",
    GREY: "var(--grey)",
}
COLOUR = re.compile(rf"(?<=[lk][le]: )(?:{'|'.join(VARIABLES)})\b", re.IGNORECASE)  # fill, stroke
OUTSIDE = re.compile(r"^.*?(?=<svg)", re.DOTALL)  # the XML declaration and the document's type
METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
SIZE = re.compile(r'<svg([^>]*?) width="[^"]*"([^>]*?)>')
IDENTIFIER = re.compile(r'(id="|url\(#|href="#)')


def svg_of(ax: Axes, name: str, label: str) -> str:
    """Return the figure of these Axes as an SVG element, and close it."""
    # name: of letters and digits; it keeps the identifiers of different pictures apart; label: what
    # the picture shows, for who cannot see it
    figure, written = ax.figure.canvas.figure, io.StringIO()
    with styled():
        figure.savefig(written, format="svg", metadata={"Date": None}, transparent=True)
    pyplot().close(figure)
    found = METADATA.sub("", OUTSIDE.sub("", written.getvalue()))
    found = COLOUR.sub(lambda match: VARIABLES[match[0].lower()], found)
    found = IDENTIFIER.sub(rf"\g<1>{name}-", found)
    found = SIZE.sub(r"<svg\1\2>", found, count=1)
    found = re.sub(r' height="[^"]*"', "", found, count=1)
    text = escaped(label)
    return found.replace("<svg", f'<svg role="img" aria-label="{text}"', 1)
