"""Pictures of how good predictions are: reliability, confusion, ROC, and what columns are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.pictures.axes import (
    COLOURS,
    DASHES,
    GREY,
    MOST,
    line,
    name_of,
    new_axes,
    points,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle

Floats = NDArray[np.float64]
WIDE_BAND, LIGHT = "#D0D0D0", "#9ECAE1"
BARS = 0.16  # of the height of a diagram, for the rows of its bins
WRITTEN = 10  # classes up to which cells of a confusion table hold counts
DRAWN = 30  # classes up to which it is drawn as a table
FULL = 0.5  # the opacity of a cell that has all rows of its class
PAIRS = 15  # that are most confused, of more classes


class Reliability(NamedTuple):
    """The bins of a reliability diagram, each array of shape (bins,), and its calibration error."""

    confidence: Floats
    accuracy: Floats
    rows: Floats
    noise: Floats
    error: float
    expected: float  # the error to be expected by chance


@styled()
def plot_reliability(drawn: Sequence[Reliability], ax: Axes | None = None) -> Axes:
    """Draw accuracy against confidence, of one diagram, or beside it of what was before."""
    now = drawn[0]
    ax = new_axes(ax, height=3.2)
    bars = BARS * now.rows / now.rows.max()
    wide = 0.5 / 15
    ax.bar(now.confidence, bars, wide, color=LIGHT, zorder=0)
    at = int(now.rows.argmax())
    right = now.confidence[at] > 0.5
    ax.annotate(
        f"{now.rows[at]:,.6g} rows",
        (now.confidence[at] + (-wide if right else wide), bars[at]),
        va="top",
        ha="right" if right else "left",
        fontsize=6,
        color="#2171B5",
    )
    ax.errorbar(
        now.confidence,
        now.confidence,
        now.noise,
        fmt="none",
        ecolor=WIDE_BAND,
        elinewidth=6,
        zorder=1,
        label=f"by chance: ECE {now.expected:.3f}",
    )
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":", zorder=1)
    names = ["now: ", "before: "] if len(drawn) > 1 else [""]
    for i, (name, of) in reversed([*enumerate(zip(names, drawn, strict=True))]):
        how = {**line(i), **points(i), "linestyle": DASHES[i]}
        ax.plot(of.confidence, of.accuracy, label=f"{name}ECE {of.error:.3f}", **how)
    ax.set(
        xlim=(0, 1.03),
        ylim=(0, 1.03),
        xlabel="confidence (probability of the answer)",
        ylabel="accuracy (share of right answers)",
    )
    ax.set_aspect("equal", adjustable="box")
    ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), borderaxespad=0.0, reverse=True)
    return ax


@styled()
def plot_confusion(table: Floats, labels: Sequence[object], ax: Axes | None = None) -> Axes:
    """Draw a confusion table, (classes, classes): rows by right class, down, and answer, across."""
    if len(labels) > DRAWN:
        return _plot_most_confused(table, labels, ax)
    k = len(labels)
    size = max(2.3, 0.27 * k)
    ax = new_axes(ax, width=size + 1.1, height=size + 0.7)
    of_row = table.sum(axis=1)
    share = np.divide(table, of_row[:, None], out=np.zeros_like(table), where=of_row[:, None] > 0)
    ax.set(xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5), aspect="equal")
    for i in range(k):
        for j in range(k):
            ax.add_patch(_shade((j - 0.5, i - 0.5), share[i, j]))
            if table[i, j] > 0 or k <= 3:
                ax.text(
                    j,
                    i,
                    _cell(table[i, j], share[i, j], k),
                    ha="center",
                    va="center",
                    fontsize=7 if k <= 6 else 6 if k <= WRITTEN else 5,
                )
    names = [name_of(label) for label in labels]
    turned = 0 if k * max(map(len, names)) <= 32 else 90
    ax.set_xticks(range(k), names, rotation=turned)
    ax.set_yticks(range(k), [f"{n} ({rows:,.6g})" for n, rows in zip(names, of_row, strict=True)])
    ax.set(xlabel="answer" + _what_is_written(k), ylabel="right class (rows)")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


def _shade(corner: tuple[float, float], share: float) -> Rectangle:
    """Return a cell that is as full as its share: text on it can be read, on dark paper too."""
    from matplotlib.patches import Rectangle

    return Rectangle(corner, 1, 1, facecolor=COLOURS[0], alpha=FULL * share, edgecolor="none")


def _cell(count: float, share: float, k: int) -> str:
    """Write a cell: count and share of its row, count, or share in per cent, as there is room."""
    if k <= 6:
        return f"{count:,.6g}\n{share:.0%}"
    if k <= WRITTEN:
        return f"{count:,.6g}"
    return f"{100 * share:.0f}" if share >= 0.005 else "·"


def _what_is_written(k: int) -> str:
    if k <= 6:
        return " (rows, % of the row)"
    return " (rows)" if k <= WRITTEN else " (% of the row)"


def _plot_most_confused(table: Floats, labels: Sequence[object], ax: Axes | None) -> Axes:
    """Draw the pairs of classes that are most confused, as bars."""
    off = table * (1 - np.eye(len(table)))
    most = np.argsort(-off, axis=None, kind="stable")[:PAIRS]
    most = most[off.ravel()[most] > 0]
    ax = new_axes(ax, width=3.9, height=0.8 + 0.2 * max(3, len(most)))
    of_row, wrong = table.sum(axis=1), off.sum()
    names = [name_of(label) for label in labels]
    right, answer = np.unravel_index(most, table.shape)
    pairs = [f"{names[i]} as {names[j]}" for i, j in zip(right, answer, strict=True)]
    ax.barh(range(len(most)), off.ravel()[most], color=COLOURS[0])
    ax.set_yticks(range(len(most)), pairs)
    ax.invert_yaxis()
    for i, (count, of) in enumerate(zip(off.ravel()[most], of_row[right], strict=True)):
        ax.annotate(f" {count / of:.0%}", (count, i), va="center", fontsize=6)
    ax.margins(x=0.15)
    ax.set_xlabel("rows (% of the class)")
    shown = off.ravel()[most].sum()
    ax.set_title(
        f"{wrong:,.6g} of {table.sum():,.6g} rows of {len(labels):,} classes are missed;\n"
        f"the pairs of most rows are {shown:,.6g} of them",
        loc="right",
    )
    return ax


@styled()
def plot_columns(names: Sequence[str], growth: Floats, n: int, ax: Axes | None = None) -> Axes:
    """Draw how much the log loss grows without each column, (columns,), of the n of most worth."""
    most = np.argsort(-growth, kind="stable")[:n]
    ax = new_axes(ax, height=0.7 + 0.19 * max(3, len(most)))
    colours = [COLOURS[0] if growth[j] >= 0 else COLOURS[1] for j in most]
    ax.barh(range(len(most)), growth[most], color=colours)
    ax.set_yticks(range(len(most)), [name_of(names[j]) for j in most])
    ax.invert_yaxis()
    ax.axvline(0, color="black", linewidth=0.7)
    ax.set_xlabel("growth of log loss (nats a row)")
    if len(most) < len(names):
        ax.set_title(f"without one column: {len(most)} of {len(names):,}", loc="right")
    return ax


@styled()
def plot_roc(
    curves: Sequence[tuple[object, Floats, Floats, float, float]], ax: Axes | None = None
) -> Axes:
    """Draw ROC curves, each a label, the two rates, the area and the share of its rows."""
    ax = new_axes(ax, height=2.9)
    shown = sorted(curves, key=lambda curve: -curve[4])[:MOST]
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
    for i, (label, false_positive, true_positive, area, _) in enumerate(shown):
        name = f"{name_of(label)} (area {area:.3f})"
        ax.plot(false_positive, true_positive, label=name, **line(i))
    ax.set(
        xlim=(-0.01, 1.01),
        ylim=(-0.01, 1.01),
        xlabel="false positive rate (share of other rows)",
        ylabel="true positive rate (share of the class)",
    )
    ax.set_aspect("equal", adjustable="box")
    ax.legend(loc="lower right")
    if len(shown) < len(curves):
        ax.set_title(f"the {len(shown)} classes of most rows, of {len(curves):,}")
    return ax
