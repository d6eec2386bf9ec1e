"""Axes to draw on, and their legends."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from textwrap import TextWrapper
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.messages import shortened, visible

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

On: TypeAlias = "Axes | None"  # what to draw on; None: a new figure
Names: TypeAlias = Sequence[str]
Floats: TypeAlias = NDArray[np.float64]
Array: TypeAlias = "NDArray[Any]"  # numbers or times
Handle: TypeAlias = "Artist | tuple[Artist, ...]"  # what a legend names
Dash: TypeAlias = "str | tuple[int, tuple[int, ...]]"
Look: TypeAlias = dict[str, Any]  # what Matplotlib is told by keywords

# --- The one style of all pictures, and the Axes that they are drawn on --------------------------
#
# Colours are told apart by the colour-blind (Okabe & Ito, Color universal design, 2008), and lines
# by their dashes and markers too, so that a picture can be printed in black and white. A figure is
# 85 mm wide, one column of a journal, with text of 8 points.


WIDTH, HEIGHT = 3.35, 2.5  # inches
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#9A8F00",
)  # fmt: skip
DASHES: tuple[Dash, ...] = (
    "-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)),
)  # fmt: skip
MARKERS = "os^DvP*X"
MOST = len(COLOURS)  # classes that are drawn one by one
GREY = "#767676"  # what is beside the point: ideals, noise, marks
LONGEST = 24  # characters of a name in a picture
ALONG = 36  # characters of one line of the label of a vertical axis
BELOW = 44  # and of a horizontal one
BESIDE = 12  # characters of the name of what is predicted, which stands before that of a class
STYLE: Look = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.5,
    "axes.linewidth": 0.7,
    "axes.prop_cycle": f"cycler(color={list(COLOURS)})",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.dpi": 150,
    "savefig.dpi": 300,
    "svg.fonttype": "none",
    "svg.hashsalt": "naively",
}


def new_axes(ax: Axes | None = None, *, width: float = WIDTH, height: float = HEIGHT) -> Axes:
    """Return the Axes that are given, or new ones in the style of all pictures."""
    # width: of a new figure, in inches
    if ax is None:
        plt = pyplot()
        with styled():
            ax = plt.subplots(figsize=(width, height), layout="constrained")[1]
    dress(ax)
    return ax


def dress(ax: Axes) -> None:
    """Give Axes, whoever made them, the sizes, the fonts and the spines of all pictures."""
    # A style is of what is made while it holds; ticks are made when a picture is drawn, long after.
    if ax.name != "rectilinear":  # of three dimensions
        return
    ax.tick_params(
        labelsize=STYLE["xtick.labelsize"],
        width=STYLE["axes.linewidth"],
        labelfontfamily=families(),
    )
    for side, spine in ax.spines.items():
        spine.set_linewidth(STYLE["axes.linewidth"])
        spine.set_visible(spine.get_visible() and side not in ("top", "right"))
    for text in (ax.title, ax._left_title, ax._right_title, ax.xaxis.label, ax.yaxis.label):  # type: ignore[attr-defined]  # noqa: SLF001  (Matplotlib has no other way to them)
        text.set_fontsize(STYLE["axes.labelsize"])
        text.set_fontfamily(families())


SMALLEST, SMALL = 5.0, 7.0  # points of a name


def inches(ax: Axes) -> tuple[float, float]:
    """Return about how wide and how high Axes are: exactly, once a layout was made."""
    box, figure = ax.get_position(), ax.get_figure(root=True)
    assert figure is not None
    return box.width * figure.get_figwidth(), box.height * figure.get_figheight()


def name_rows(ax: Axes, names: Sequence[str], at: Sequence[float] | Array | None = None) -> None:
    """Write names beside the rows of Axes, as large as their number leaves room for."""
    places = list(range(len(names))) if at is None else list(at)
    lines = max(places, default=0.0) + 1 if places else 1
    ax.set_yticks(places, list(names), fontsize=size_of_names(ax, lines))


def size_of_names(ax: Axes, lines: float) -> float:
    """Return the size of names, in points, of which there are so many, one under another."""
    return float(min(SMALL, max(SMALLEST, 0.9 * inches(ax)[1] * 72 / (1.15 * max(lines, 1)))))


# Fonts of scripts that Matplotlib's own font lacks, of which those that are installed are used.
FONTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Noto Sans JP", "Noto Sans KR",
    "WenQuanYi Zen Hei", "Microsoft YaHei", "PingFang SC", "Hiragino Sans", "Yu Gothic",
    "Malgun Gothic", "Noto Sans Thai", "Noto Sans Devanagari", "Noto Sans Arabic", "Noto Sans",
    "Arial Unicode MS",
)  # fmt: skip


@contextmanager
def styled() -> Iterator[None]:
    """Make figures in the style of all pictures."""
    with pyplot().rc_context(STYLE | {"font.family": families()}):
        yield


@cache
def families() -> list[str]:
    """Return the fonts of pictures, the first that has a character before the others."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return ["DejaVu Sans", *(name for name in FONTS if name in installed)]


@cache
def _drawn() -> frozenset[int]:
    """Return the characters that the first font has."""
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


def with_names(text: str) -> str:
    """Return a text in which symbols that cannot be drawn, such as most emoji, are named."""
    if text.isascii():
        return text
    named = (
        f"[{unicodedata.name(c, 'symbol').lower()}]"
        if unicodedata.category(c) in ("So", "Sk", "Cn") and ord(c) not in _drawn()
        else c
        for c in text
    )
    return "".join(named)


def pyplot() -> ModuleType:
    """Return Matplotlib's pyplot, which draws to files where there is no display."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures are drawn by Matplotlib; install it with: pip install 'naively[plots]'."
        ) from error
    return plt


def line(i: int) -> Look:
    """Return how the line of the i-th class is drawn."""
    return {"color": COLOURS[i % MOST], "linestyle": DASHES[i % MOST]}


def points(i: int) -> Look:
    """Return how the points of the i-th class are drawn."""
    return {"color": COLOURS[i % MOST], "marker": MARKERS[i % MOST], "linestyle": "none"}


def name_of(value: object, longest: int = LONGEST) -> str:
    """Return a label, level or word as a picture shows it: short, on one line, never a formula."""
    return with_names(shortened(visible(str(value)), longest)).replace("$", r"\$")


_TARGET: ContextVar[str] = ContextVar("target", default="")


@contextmanager
def of_target(name: str) -> Iterator[None]:
    """Draw pictures that say what the classes are of, as "survived = 1", where that is known."""
    before = _TARGET.set(name)
    try:
        yield
    finally:
        _TARGET.reset(before)


def target() -> str:
    """Return what the classes of the pictures that are drawn now are of, or ""."""
    return _TARGET.get()


def class_axis(what: str = "") -> str:
    """Return the label of an axis of classes: the name of what they are of, where that is known."""
    return ": ".join(filter(None, (name_of(target(), BESIDE), what))) or "class"


def on_lines(*parts: str, longest: int = ALONG) -> str:
    """Return the label of an axis, whose parts are on lines of their own if they are long."""
    whole = " ".join(parts)
    return whole if len(whole) <= longest else "\n".join(parts)


def class_name(label: object) -> str:
    """Return the name of a class; a number or a truth, which says nothing alone, is told."""
    name = name_of(label)
    if target():
        return f"{name_of(target(), BESIDE)} = {name}"
    return name if isinstance(label, str) else f"class {name}"


def class_names(labels: Sequence[object]) -> list[str]:
    """Return the names of classes, of more than ``MOST`` as short as they are."""
    return [class_name(label) if len(labels) <= MOST else name_of(label) for label in labels]


def whole_numbers(axis: Axis, most: int = 10) -> None:
    """Write whole numbers only on an axis, about so many at most."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, nbins=most))


def put_endless(ax: Axes, x: float, y: float, sign: float, colour: str) -> None:
    """End a bar or a line in an arrow, beside which it says that the weight is infinite."""
    ax.plot([x], [y], ">" if sign > 0 else "<", color=colour, markersize=5.5, clip_on=False)
    said, off, side = ("+∞", 4.5, "left") if sign > 0 else ("-∞", -4.5, "right")
    how: Look = {"textcoords": "offset points", "ha": side, "va": "center"}
    ax.annotate(said, (x, y), (off, 0), fontsize=7, **how)


# --- Legends above a picture, with names as they are, and sentences below it ---------------------


LINE = 0.14  # inches
WIDE = 50  # characters of a line above the Axes of a figure of one column


def legend_height(names: Sequence[str]) -> float:
    """Return how many inches a legend takes beyond its first line."""
    return LINE * (-(-len(names) // _across(names)) - 1) if names else 0.0


def _across(names: Sequence[str]) -> int:
    """Return in how many columns names fit."""
    return max(1, min(len(names), 4, WIDE // (max(map(len, names), default=1) + 6)))


def put_legend(
    ax: Axes,
    handles: Sequence[Handle],
    names: Sequence[str],
    where: Literal["left", "right"] = "left",
) -> None:
    """Put a legend above the Axes, in as many columns as fit; to the right beside long names."""
    # Matplotlib may leave out names that begin with "_", so they are set when the legend is there.
    legend = ax.legend(
        handles,
        [" " * len(name) for name in names],
        loc="lower left" if where == "left" else "lower right",
        bbox_to_anchor=(0.0 if where == "left" else 1.0, 1.0),
        ncols=_across(names),
        handlelength=1.8,
        fontsize=STYLE["legend.fontsize"],
        frameon=False,
        columnspacing=1.0,
        borderaxespad=0.2,
    )
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)


WRAPPED = TextWrapper(54, break_long_words=False, break_on_hyphens=False)  # sentences below


class Said(NamedTuple):
    """What is written along the two axes of a picture, and in sentences below it."""

    x: str = ""
    y: str = ""
    notes: Names = ()


def put_said(ax: Axes, said: Said, where: Literal["center", "right"] = "center") -> None:
    """Label the axes, and write sentences under the label of the horizontal one, in grey."""
    lines = [line for note in said.notes for line in WRAPPED.wrap(" ".join(note.split()))]
    ax.set_xlabel(said.x, loc=where)
    if said.y:
        ax.set_ylabel(said.y)
    if lines:
        at = {"center": 0.5, "right": 1.0}[where], 0
        how: Look = {"xycoords": ax.xaxis.label, "textcoords": "offset points"}
        how |= {"ha": where, "va": "top", "fontsize": 7, "color": GREY, "gid": "notes"}
        ax.annotate("\n".join(lines), at, (0, -2), **how)


WRITTEN = 10  # classes up to which cells of a confusion table hold counts
DRAWN = 30  # classes up to which it is drawn as a table
PAIRS = 15  # that are most confused, of more classes
BAND = 2.0  # standard deviations of chance


def most_confused(table: Floats) -> list[tuple[int, int]]:
    """Return the right class and the answer of the pairs that are most confused, the most first."""
    off = table * (1 - np.eye(len(table)))
    most = np.argsort(-off, axis=None, kind="stable")[:PAIRS]
    right, answer = np.unravel_index(most[off.ravel()[most] > 0], table.shape)
    return list(zip(right.tolist(), answer.tolist(), strict=True))
