"""Pieces of a page: every text is escaped here, and its direction of writing kept to itself."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

from naively.messages import shortened, visible
from naively.tabular import are_numbers

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


class Bar(NamedTuple):
    """A cell of a table with a bar, and a mark from one place to another, all shares of its width.

    A bar to the left of where it begins is of the other colour.
    """

    said: str
    end: float
    begin: float = 0.0
    low: float = -1.0
    high: float = -1.0


def cell(value: object) -> str:
    """Return a cell of a table: digits of numbers, nothing for None."""
    match value:
        case None:
            return ""
        case Bar(said, end, begin):
            side, ends = " against" * bool(end < begin), zip("wxyz", value[1:], strict=True)
            places = ";".join(f"--{name}:{x:.4f}" for name, x in ends)
            return f'<div class="in{side}" style="{places}">{escaped(said)}</div>'
        case tuple():  # the cells of a product
            return " · ".join(cell(of) or "missing" for of in value)
        case bool():
            return str(value)
        case int():
            return f"{value:,}"
        case float():
            return number(value)
    return data(value)


def nats(weight: float, most: float, low: float = math.nan, high: float = math.nan) -> Bar:
    """Return a weight of evidence as a bar on either side of 0, with its band."""
    ends = (0.5 + of / (2 * most or 1.0) for of in (weight, 0.0, low, high))
    places = [-1.0 if math.isnan(at) else min(max(at, 0.0), 1.0) for at in ends]
    return Bar(f"{round(weight, 3) + 0.0:+.3f}", *places)


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
    each = [[of, Bar("", min(max(share, 0.0), 1.0)), said] for of, share, said in lines]
    return f'<div class="bars">{note(name)}{table(["", "", ""], each)}</div>' if each else ""


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
