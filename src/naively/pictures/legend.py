"""Legends above a picture, with names as they are, and sentences below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from naively.pictures.axes import GREY, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    handles: Sequence[Any],
    names: Sequence[str],
    where: Literal["left", "right"] = "left",
) -> None:
    """Put a legend above the Axes, in as many columns as fit; to the right beside long names.

    Matplotlib may leave out names that begin with "_", so they are set when the legend is there.
    """
    legend: Any = ax.legend(
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


def put_notes(
    ax: Axes, label: str, notes: Sequence[str], where: Literal["center", "right"] = "center"
) -> None:
    """Label the horizontal axis, and write sentences under the label, in grey.

    To the right they have the room under the names at the left.
    """
    lines = [line for note in notes for line in _lines(note)]
    ax.set_xlabel(label, loc=where)
    if lines:
        below = ax.annotate(
            "\n".join(lines),
            ({"center": 0.5, "right": 1.0}[where], 0),
            (0, -2),
            xycoords=ax.xaxis.label,
            textcoords="offset points",
            ha=where,
            va="top",
            fontsize=6,
            color=GREY,
        )
        below.set_gid("notes")


def _lines(note: str) -> list[str]:
    """Break a sentence into lines."""
    lines = [""]
    for word in note.split():
        if lines[-1] and len(lines[-1]) + len(word) >= 62:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
