"""Pieces of a page: every text is escaped here, and its direction of writing kept to itself."""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from naively.messages import shortened, visible
from naively.tabular import are_numbers
from naively.wings.pictures.axes import COLOURS, GREY, pyplot, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LONGEST = 300  # characters of a text that is shown


def asset(name: str) -> str:
    """Return a file of the page's own: style, program or form."""
    return files("naively.wings.report").joinpath(name).read_text(encoding="utf-8")


def escaped(text: object) -> str:
    """Return a text for a page: nothing in it is obeyed, by a browser or by a terminal."""
    return quoted(visible(str(text)))


def data(value: object) -> str:
    """Return something of the user's data: short, escaped, and with a direction of its own."""
    text = shortened(visible(str(value)), LONGEST)
    return f"<bdi>{html.escape(text, quote=True)}</bdi>"


def plain(markup: str) -> str:
    """Return the text of a line of the page, without its elements."""
    return html.unescape(re.sub("<[^>]*>", "", markup))


class Nats(float):
    """A weight of evidence, in nats: shown with its sign."""


def cell(value: object) -> str:
    """Return a cell of a table: digits of numbers, nothing for None."""
    match value:
        case None:
            return ""
        case tuple():  # the cells of a product
            return " · ".join(cell(of) or "missing" for of in value)
        case bool():
            return str(value)
        case int():
            return f"{value:,}"
        case Nats():
            return f"{round(value, 3) + 0.0:+.3f}"
        case float():
            return number(value)
    return data(value)


def number(value: float) -> str:
    """Return a number of three digits, or all digits of a whole one."""
    if math.isnan(value):
        return "undefined"
    whole = math.isfinite(value) and (value == round(value) or abs(value) >= 1000)
    return f"{value:,.0f}" if whole else f"{value:.3g}"


def of_100(share: float) -> str:
    """Return a share as a number of 100, to a digit more where it is near all or nothing."""
    if not math.isfinite(share):
        return "an unknown number"
    if 0 < share < 0.0005:
        return "under 0.1"
    near = 0 < share < 0.015 or 0.985 < share < 1
    return f"{100 * share:.1f}" if near else f"{100 * share:.0f}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table, which can be scrolled where it is wider than the page."""
    lines = [[*row] for row in rows]
    right = [
        bool(lines) and are_numbers(line[j] for line in lines if line[j] is not None)
        for j in range(len(head))
    ]
    mark = [' class="n"' if of else "" for of in right]
    top = "".join(f'<th scope="col"{m}>{escaped(n)}</th>' for n, m in zip(head, mark, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{m}>{cell(v)}</td>" for v, m in zip(line, mark, strict=True))
        + "</tr>"
        for line in lines
    )
    return (
        f'<div class="wide" tabindex="0"><table><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def note(text: str) -> str:
    """Return a remark, of the page's own words."""
    return f'<p class="note">{escaped(text)}</p>'


def alert(lines: Iterable[str]) -> str:
    """Return sentences, escaped already, that nobody is to overlook."""
    return "".join(f'<p class="alert">{line}</p>' for line in lines)


def figure(svg: str, caption: str = "") -> str:
    """Return a picture with its caption."""
    below = f'<figcaption class="note">{caption}</figcaption>' if caption else ""
    return f"<figure>{svg}{below}</figure>"


def section(name: str, title: str, body: str, *, folded: bool = False) -> str:
    """Return a section of the page, or one that is opened by who wants it."""
    head = f'<h2 id="{name}-title">{escaped(title)}</h2>'
    if folded:
        body = f"<details><summary>{head}</summary>{body}</details>"
        head = ""
    return f'<section id="{name}" aria-labelledby="{name}-title">{head}{body}</section>'


def how_to_read(text: str) -> str:
    """Return a sentence on how to read what follows, of the page's own words."""
    return f'<p class="how">{escaped(text)}</p>'


def bars(name: str, lines: Iterable[tuple[str, float, str]]) -> str:
    """Return bars, each with a name, a length of at most 1 and what is written at its end."""
    found = "".join(
        f'<tr><th scope="row">{data(of)}</th><td class="length"><div class="track">'
        f'<div class="fill" style="width:{100 * min(max(share, 0.0), 1.0):.1f}%"></div></div></td>'
        f'<td class="n">{escaped(said)}</td></tr>'
        for of, share, said in lines
    )
    if not found:
        return ""
    caption = f"<caption class='note'>{escaped(name)}</caption>"
    return f'<table class="bars">{caption}<tbody>{found}</tbody></table>'


def listed(names: Sequence[str], most: int) -> str:
    """Return names in a row, those after so many by their number: "a, b and 3 more"."""
    more = len(names) - most
    shown = [*names[:most], *([f"{more} more"] if more > 0 else [])]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def cards(each: Iterable[str]) -> str:
    """Return cards side by side, as many as fit."""
    found = "".join(f'<div class="card">{body}</div>' for body in each)
    return f'<div class="cards">{found}</div>' if found else ""


def details(summary: str, body: str) -> str:
    """Return something that is opened by who wants it."""
    return f"<details><summary>{escaped(summary)}</summary>{body}</details>"


def chooser(name: str, bodies: Mapping[str, str], start: str) -> str:
    """Return bodies of which one is seen, that a reader chooses by its name."""
    options = "".join(
        f"<option{' selected' * (of == start)}>{escaped(of)}</option>" for of in bodies
    )
    each = "".join(f"<div>{body}</div>" for body in bodies.values())
    label = f"<label>{escaped(name)} <select>{options}</select></label>"
    return f'<div class="chooser"><p class="controls">{label}</p>{each}</div>' if bodies else ""


def quoted(text: str) -> str:
    """Return a text, or a whole page, as the value of an attribute may hold it."""
    return html.escape(text, quote=True)


# --- Pictures in a page ---------------------------------------------------------------------------


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
DOT = re.compile(r"M (\S+) (\S+) \n(?:C [^MCz]*){8}z\s*")  # of a hatch: a circle of 800 bytes
IDENTIFIER = re.compile(r'(id="|url\(#|href="#)')


def svg_of(ax: Axes, name: str, label: str) -> str:
    """Return the figure of these Axes as an SVG element, and close it."""
    # name: of letters and digits; it keeps the identifiers of different pictures apart; label: what
    # the picture shows, for who cannot see it
    figure, written = ax.figure.canvas.figure, io.StringIO()
    with styled():
        figure.savefig(written, format="svg", metadata={"Date": None}, transparent=True)
    pyplot().close(figure)
    found = DOT.sub(r"M\1 \2v-1", METADATA.sub("", OUTSIDE.sub("", written.getvalue())))
    found = COLOUR.sub(lambda match: VARIABLES[match[0].lower()], found)
    found = IDENTIFIER.sub(rf"\g<1>{name}-", found)
    found = SIZE.sub(r"<svg\1\2>", found, count=1)
    found = re.sub(r' height="[^"]*"', "", found, count=1)
    return found.replace("<svg", f'<svg role="img" aria-label="{escaped(label)}"', 1)
