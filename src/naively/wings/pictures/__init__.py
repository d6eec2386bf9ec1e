"""Pictures of results: what is drawn of each, on Matplotlib's Axes.

The files that draw are imported when they are first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES = {  # the class of a result and the picture of it: the file here, and the function in it
    "Consistency": "estimates:consistency",
    "Dirichlet": "estimates:dirichlet",
    "Estimate": "estimates:estimate",
    "GridPosterior": "estimates:grid_posterior",
    "Independence autocorrelation": "estimates:autocorrelation",
    "Independence series": "estimates:series",
    "NormalInverseGamma": "estimates:two_parameters",
    "Prior": "estimates:one_parameter",
    "ParameterCurve": "estimates:curve",
    "ParameterCurve likelihood": "estimates:likelihood",
    "Surface": "estimates:surface",
    "Updates": "estimates:updates",
    "Counts": "by_class:counts",
    "Fading": "by_class:fading",
    "LevelView": "by_class:levels",
    "NumberView": "by_class:numbers",
    "Regions": "by_class:regions",
    "Regions surface": "by_class:surface",
    "Tally": "by_class:tally",
    "WordView": "by_class:words",
    "ClassImages": "evidence:class_images",
    "Difference": "evidence:difference",
    "EvidenceImage": "evidence:evidence_image",
    "Explanation": "evidence:explanation",
    "Linear": "evidence:linear",
    "NaiveGraph": "evidence:graph",
    "Nomogram": "evidence:nomogram",
    "ParameterCounts": "evidence:parameter_counts",
    "Parameters": "evidence:parameters",
    "Probabilities": "evidence:probabilities",
    "Rules": "evidence:rules",
    "Strongest": "evidence:strongest",
    "Waterfall": "evidence:waterfall",
    "Weights": "evidence:weights",
    "Scores reliability": "scores:reliability",
    "Scores confusion": "scores:confusion",
    "Scores columns": "scores:columns",
    "Scores roc": "scores:roc",
    "Comparison": "scores:models",
    "DecayCurve": "scores:decay",
    "Dependence": "scores:dependence",
    "Drift": "scores:drift",
    "Fits": "scores:models",
    "LearningCurve": "scores:learning",
    "PredictionSets": "scores:set_sizes",
    "ProbabilityIntervals": "scores:probabilities",
    "SmoothingCurve": "scores:smoothing",
}


def picture(result: object, ax: Axes | None = None, which: str = "", **options: object) -> Axes:
    """Draw a result on Axes, or on new ones, and return them."""
    from naively.wings.pictures.axes import of_target, styled, target

    names = (f"{kind.__name__} {which}".strip() for kind in type(result).__mro__)
    file, name = next(PICTURES[name] for name in names if name in PICTURES).split(":")
    draw = getattr(import_module(f"{__name__}.{file}"), name)
    with of_target(getattr(result, "target", "") or target()), styled():
        drawn: Axes = draw(result, ax, **options)
    return drawn
