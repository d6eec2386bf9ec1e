"""Every kind of picture looks as it was kept, and can be read at two sizes.

The kept pictures are in ``pictures``. After a change that is meant, look at the new ones, which
``python -m tests.drawn FOLDER`` draws, and keep them: ``python -m tests.drawn --keep``. Where kept
and new ones differ is shown by
``python -m pytest tests/test_pictures.py --mpl-generate-summary=html``.
"""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from naively import Gaussian, NaiveBayes
from naively.estimators.learned import NO_TARGET
from naively.wings.pictures.axes import of_target
from tests.drawn import DOTS, PICTURES, digits, manifest, passengers, ship, small

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


def in_legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_classes_say_what_they_are_of_where_that_is_known() -> None:
    assert in_legend(PICTURES["column_of_counts"](None)) == ["class 0", "class 1"]
    with of_target("survived"):  # as the report says it
        assert in_legend(PICTURES["column_of_counts"](None)) == ["survived = 0", "survived = 1"]
        assert in_legend(PICTURES["column_of_ages"](None)) == ["survived = 0", "survived = 1"]
    of, (X, y), names = ship(), passengers(), ["survived = 0", "survived = 1"]
    one = of.explain({name: cells[:1] for name, cells in X.items()})[0]
    some = {name: cells[:30] for name, cells in X.items()}
    for column in ("age", "fare", "embarked", "pclass"):
        assert in_legend(of.inspect.column(column).plot()) == names
    both = "survived = 0 against survived = 1"
    assert both in one.plot().get_xlabel()
    assert both in one.waterfall().plot().get_xlabel()
    assert "p(survived = 1)" in of.predict_interval(some).plot().get_xlabel()
    assert "p(survived = 1)" in of.predict_interval(some).row(3).plot().get_xlabel()
    assert "survived = 1 against survived = 0" in of.inspect.nomogram().plot().get_xlabel()
    bars = of.inspect.strongest(3).plot()
    assert [text.get_text().strip() for text in bars.texts][:2] == names
    assert of.inspect.parameters().plot().get_xlabel() == "survived"
    assert str(of.inspect.graph()).startswith("survived -> pclass, ")
    assert str(of.inspect.graph("fate")).startswith("fate -> pclass, ")
    regions = of.inspect.regions(["age", "fare"], points=5)
    assert "survived = 1" in in_legend(regions.plot())
    assert "p(survived = 1 | row)" in str(shown(regions.plot(what="posterior").figure))
    for scores in (of.evaluate(X, y), of.evaluate({**X, "survived": y}, "survived")):
        assert in_legend(scores.plot_roc())[-1].startswith("survived = 1 (area ")
        table = scores.plot_confusion()
        assert table.get_ylabel() == "survived: right class (rows)"
        assert table.get_xlabel().startswith("survived: answer")
    plt.close("all")
    judged = NaiveBayes(weights=None).assess(manifest(), "survived", folds=2)
    assert in_legend(judged.plot_roc())[-1].startswith("survived = 1 (area ")
    assert in_legend(ship().assess().plot_roc())[-1].startswith("survived = 1 (area ")


def test_weights_say_what_their_classes_are_of() -> None:
    X = {"a": [1.0, 2.0, 8.0, 9.0], "y": [0, 0, 1, 1]}
    view = NaiveBayes(Gaussian(variance="shared"), weights=None).fit(X, "y").inspect.linear()
    assert "log odds of y = 1 against y = 0" in view.plot().get_title(loc="left")
    X = {"a": [1.0, 2.0, 8.0, 9.0, 15.0, 16.0], "y": ["u", "u", "v", "v", "w", "w"]}
    view = NaiveBayes(Gaussian(variance="shared"), weights=None).fit(X, "y").inspect.linear()
    assert in_legend(view.plot()) == ["y = u", "y = v", "y = w"]


def test_images_say_what_their_classes_are_of() -> None:
    nb, X = digits()
    table = {f"p{j}": X[:600, j] for j in range(64)}
    X = {**table, "digit": nb.predict(X[:600])}
    named = NaiveBayes("gaussian", weights=None).fit(X, "digit")
    assert "digit: mean" in str(shown(named.inspect.images((8, 8)).plot().figure))
    title = named.explain({name: of[:1] for name, of in table.items()})[0].plot_image((8, 8))
    assert "digit = " in str(shown(title.figure))


@pytest.mark.parametrize(
    "name",
    [
        "difference", "margin", "intervals", "nomogram", "waterfall", "strongest", "confusion",
        "images",
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ["alone", "small"])
def test_a_long_name_of_what_is_predicted_finds_room(name: str, where: str, monkeypatch) -> None:
    nameless = replace(ship()._learned, target=NO_TARGET)
    monkeypatch.setattr(ship(), "_learned", nameless)
    with of_target("number_of_days_in_hospital"):
        can_be_read(PICTURES[name](None if where == "alone" else small()).figure)


def shown(figure) -> list[str]:
    """Return what is written on a figure."""
    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def test_the_style_of_others_is_left_alone() -> None:
    before = dict(mpl.rcParams)
    PICTURES["density"](small())
    assert dict(mpl.rcParams) == before
    plt.close("all")
