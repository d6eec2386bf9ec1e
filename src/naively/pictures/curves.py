"""Pictures of scores against what a model was given: rows, or pseudo-counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.pictures.axes import COLOURS, GREY, MARKERS, name_of, new_axes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
LABELS = {"accuracy": "accuracy (share of right answers)", "log_loss": "log loss (nats a row)"}
DASH = {"held-out": "-", "training": "--", "leave-one-out": "-."}
PLACE = {name: i for i, name in enumerate(DASH)}
FEW = 6  # ticks
MARKED = {0.0: "0", 0.5: "½", 1.0: "1"}  # maximum likelihood, Jeffreys, Laplace


class Curve(NamedTuple):
    """A line, with a band from ``low`` to ``high`` if there is one; arrays of shape (points,)."""

    name: str
    x: Floats
    y: Floats
    low: Floats | None = None
    high: Floats | None = None


@styled()
def plot_learning(
    curves: Sequence[Curve], metric: str, repeats: int, ax: Axes | None = None
) -> Axes:
    """Draw scores against the number of rows learned, on a logarithmic axis."""
    ax = new_axes(ax)
    for curve in curves:
        _draw(ax, curve)
        if repeats > 1 and curve.low is not None and curve.high is not None:
            colour = COLOURS[PLACE[curve.name]]
            ax.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.2, linewidth=0)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set(xlabel="rows learned", ylabel=LABELS[metric])
    title = f"mean, and least to greatest, of {repeats} orders" if repeats > 1 else None
    ax.legend(title=title, title_fontsize=7, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return ax


@styled()
def plot_smoothing(
    curves: Sequence[Curve], metric: str, chosen: Mapping[str, float], ax: Axes | None = None
) -> Axes:
    """Draw scores against the pseudo-count, on an axis that is logarithmic but for 0.

    ``chosen`` are pseudo-counts to mark, by name.
    """
    ax = new_axes(ax)
    for curve in curves:
        _draw(ax, curve)
    values = np.unique(np.concatenate([curve.x for curve in curves]))
    positive = values[values > 0]
    if len(positive):
        ax.set_xscale("symlog", linthresh=positive[0], linscale=0.5)
    for value, name in MARKED.items():
        if values[0] <= value <= values[-1]:
            ax.axvline(value, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
            _above(ax, value, name)
    for i, (name, value) in enumerate(chosen.items()):
        if values[0] <= value <= values[-1]:
            label = f"auto: {value:.2g}" + (f" ({name_of(name)})" if len(chosen) > 1 else "")
            ax.axvline(
                value,
                color="black",
                linewidth=0.9,
                linestyle=(0, (1, 1 + i)),
                zorder=0,
                label=label,
            )
    ticks = _ticks(values)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set(xlabel="pseudo-count λ", ylabel=LABELS[metric])
    ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.05), ncols=2)
    return ax


def _ticks(values: Floats) -> list[float]:
    """Return the pseudo-counts to write below the axis: all of a few, else powers of ten."""
    positive = values[values > 0]
    if len(values) <= FEW:
        return [float(value) for value in values]
    powers = 10.0 ** np.arange(np.floor(np.log10(positive[0])), np.log10(values[-1]) + 1e-9)
    inside = powers[powers >= positive[0] * (1 - 1e-9)]
    zero = [0.0] if len(positive) < len(values) else []
    return [*zero, *map(float, inside[:: 1 + len(inside) // FEW])]


def _draw(ax: Axes, curve: Curve) -> None:
    i = PLACE[curve.name]
    ax.plot(
        curve.x,
        curve.y,
        label=curve.name,
        color=COLOURS[i],
        linestyle=DASH[curve.name],
        marker=MARKERS[i],
    )


def _above(ax: Axes, x: float, text: str) -> None:
    """Write a mark above the axes."""
    ax.annotate(
        text,
        (x, 1.0),
        xycoords=ax.get_xaxis_transform(),
        xytext=(0, 2),
        textcoords="offset points",
        ha="center",
        fontsize=7,
        color=GREY,
    )
