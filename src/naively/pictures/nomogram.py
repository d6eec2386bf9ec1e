"""The picture of a nomogram: lines with values on them, and a scale of the sum below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from naively.pictures.axes import COLOURS, GREY, HEIGHT, new_axes, styled
from naively.pictures.legend import put_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
LINE = 0.36  # inches that a column takes
SIZE = 5.5  # points, of the values
CHARACTER = 0.0165  # of the picture's width, that a character of a value takes
FAR = 12.0  # nats, beyond which a line is cut


@styled()
def draw_nomogram(
    columns: Sequence[str],
    values: Sequence[Sequence[str]],
    weights: Sequence[Floats],
    ranges: Sequence[tuple[float, float]],
    probabilities: Mapping[float, float],
    *,
    label: str,
    name: str,
    notes: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw a line for each column, with its values at their weights.

    A value is written above its line where the weight grows with the value, else below it; values
    whose names would overlap have a mark only.

    Parameters
    ----------
    columns : sequence of str
        The columns.
    values : sequence of sequence of str
        The values of each.
    weights : sequence of ndarray of shape (values,)
        The weight of each value, in nats.
    ranges : sequence of tuple of float
        The least and the greatest weight of each column.
    probabilities : mapping of float to float
        The sum of weights at which the class has each probability.
    label, name : str
        Of the horizontal axis, and of the probability.
    notes : sequence of str
        What is said below.
    ax : Axes, optional
        What to draw on.
    """
    ax = new_axes(ax, height=max(0.8 * HEIGHT, LINE * (len(columns) + 1.6) + 0.7))
    ends = np.clip(np.array([*ranges, (-0.5, 0.5)]), -FAR, FAR)
    low, high = float(ends.min()), float(ends.max())
    room = 0.06 * (high - low)
    ax.set_xlim(low - room, high + room)
    ax.axvline(0, color=GREY, linewidth=0.5, linestyle=":")
    for y, (of, weight, (least, most)) in enumerate(zip(values, weights, ranges, strict=True)):
        ax.plot(np.clip([least, most], -FAR, FAR), [y, y], color=COLOURS[0], linewidth=0.9)
        at = np.clip(weight, -FAR, FAR)
        for mark, some in (("<", weight < -FAR), ("|", at == weight), (">", weight > FAR)):
            ax.plot(at[some], np.full(some.sum(), y), mark, color=COLOURS[0], markersize=5)
        written = [
            f"{v} ({_far(w)})" if abs(w) > FAR else v for v, w in zip(of, weight, strict=True)
        ]
        _write(ax, written, at, y, (high - low) + 2 * room)
    below = len(columns) + 0.3
    sums = np.array([*probabilities.values()])
    width = max(float(np.ptp(sums)), 1e-9)
    place = low + (sums - sums.min()) / width * (high - low)
    ax.plot([low, high], [below, below], color="black", linewidth=0.9)
    ax.plot(place, np.full(len(place), below), "|", color="black", markersize=5)
    for p, total, x in zip(probabilities, sums.tolist(), place.tolist(), strict=True):
        ax.text(x, below - 0.17, f"{total:+.1f}", ha="center", va="bottom", fontsize=SIZE)
        ax.text(x, below + 0.19, f"{p:g}", ha="center", va="top", fontsize=SIZE)
    ax.set_yticks(
        [*range(len(columns)), below - 0.28, below + 0.32], [*columns, "sum of weights", name]
    )
    ax.set_ylim(below + 0.8, -0.8)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    if any(abs(end) > FAR for both in ranges for end in both):
        notes = [*notes, f"arrows: beyond {FAR:g} nats"]
    put_notes(ax, label, notes, "right")
    return ax


def _far(weight: float) -> str:
    """Write a weight that is beyond the picture."""
    return f"{weight:+.0f}".replace("inf", "∞")


def _write(ax: Axes, values: Sequence[str], at: Floats, y: int, width: float) -> None:
    """Write values at their weights where there is room, the outermost first."""
    grows = np.gradient(at) >= 0 if len(at) > 1 else np.array([True])
    middle = (at.min() + at.max()) / 2 if len(at) else 0.0
    taken: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for i in np.argsort(-np.abs(at - middle), kind="stable").tolist():
        half = (0.5 * len(values[i]) + 0.6) * CHARACTER * width
        for above in (bool(grows[i]), not grows[i]):
            if all(abs(at[i] - x) > half + other for x, other in taken[above]):
                taken[above].append((float(at[i]), half))
                ax.text(
                    float(at[i]),
                    y - 0.17 if above else y + 0.19,
                    values[i],
                    ha="center",
                    va="bottom" if above else "top",
                    fontsize=SIZE,
                )
                break
