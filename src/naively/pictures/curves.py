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
    ax.set(xlabel="rows learned", ylabel=LABELS[metric])
    title = f"mean, least and greatest of {repeats} orders" if repeats > 1 else None
    ax.legend(title=title, title_fontsize=7)
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
    if len(positive):
        decades = 10.0 ** np.arange(np.floor(np.log10(positive[0])), 7)
        inside = decades[(decades >= positive[0]) & (decades <= values[-1])]
        ticks = inside[:: max(1, (len(inside) + 4) // 6)]
        zero = [0.0] if values[0] == 0 else []
        ax.set_xticks([*zero, *ticks], [*["0"] * len(zero), *(f"{tick:g}" for tick in ticks)])
        ax.minorticks_off()
    ax.set(xlabel="pseudo-count λ", ylabel=LABELS[metric])
    ax.legend()
    return ax


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
