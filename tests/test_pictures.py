"""Every kind of picture looks as it was kept, and can be read at two sizes.

The kept pictures are in ``pictures``. After a change that is meant, look at the new ones, which
``python -m tests.drawn FOLDER`` draws, and keep them: ``python -m tests.drawn --keep``. Where kept
and new ones differ is shown by
``python -m pytest tests/test_pictures.py --mpl-generate-summary=html``.
"""

from __future__ import annotations

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from naively.pictures.axes import of_target
from tests.drawn import DOTS, PICTURES, small

KEPT = (
    "3.11"  # the version of Matplotlib that drew the kept pictures: another one's differ a little
)
NAMES = sorted(PICTURES)


@pytest.mark.skipif(
    not mpl.__version__.startswith(f"{KEPT}."),
    reason=f"the kept pictures are Matplotlib {KEPT}'s: draw them anew to compare",
)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.mpl_image_compare(
    baseline_dir="pictures", style="default", tolerance=3, savefig_kwargs={"dpi": DOTS}
)
def test_it_looks_as_kept(name: str):
    figure = PICTURES[name](None).figure
    can_be_read(figure)
    return figure


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_read_on_small_axes_of_others(name: str) -> None:
    can_be_read(PICTURES[name](small()).figure)


def can_be_read(figure) -> None:
    """Check that no words overlap, and none is cut at an edge."""
    figure.draw_without_rendering()
    words = boxes(figure)
    whole = figure.bbox.padded(2)
    for said, box in words:
        assert whole.x0 <= box.x0 <= box.x1 <= whole.x1, f"{said!r} is cut"
        assert whole.y0 <= box.y0 <= box.y1 <= whole.y1, f"{said!r} is cut"
    for i, (said, box) in enumerate(words):
        for other, beside in words[:i]:
            both = Bbox.intersection(box, beside)
            wide = both is not None and min(both.width, both.height) > 1.5  # pixels
            assert not wide, f"{said!r} is on {other!r}"


def boxes(figure) -> list[tuple[str, Bbox]]:
    """Return what is written on a figure, and where; words on contours are turned, and left out."""
    found: list[Text] = []
    for ax in figure.axes:
        found += [*ax.texts, ax.title, ax._left_title, ax._right_title]
        if ax.axison:
            for axis in (ax.xaxis, ax.yaxis):
                ticks = axis._update_ticks()  # those that are drawn
                found += [axis.label, *(of for tick in ticks for of in (tick.label1, tick.label2))]
        if ax.get_legend() is not None:
            found += [*ax.get_legend().get_texts(), ax.get_legend().get_title()]
    return [
        (text.get_text(), text.get_window_extent())
        for text in found
        if text.get_visible() and text.get_text().strip() and text.get_rotation() % 90 == 0
    ]


def test_classes_say_what_they_are_of() -> None:
    for target, names in (
        ("", ["class 0", "class 1"]),
        ("survived", ["survived = 0", "survived = 1"]),
    ):
        with of_target(target):
            for picture in ("column_of_ages", "column_of_levels"):
                legend = PICTURES[picture](None).get_legend()
                assert [text.get_text() for text in legend.get_texts()] == names
            assert f"{names[0]} against {names[1]}" in PICTURES["waterfall"](None).get_xlabel()


def test_the_style_of_others_is_left_alone() -> None:
    before = dict(mpl.rcParams)
    PICTURES["density"](small())
    assert dict(mpl.rcParams) == before
    plt.close("all")
