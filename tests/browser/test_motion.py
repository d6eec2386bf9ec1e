"""The things that move, in a browser, by keyboard: their numbers are the library's, or SciPy's."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from sklearn.linear_model import LogisticRegression

from naively import Bernoulli, Beta, GaussianNB, NaiveBayes

pytest.importorskip("furo", reason="make test-browser installs it")

DOCS = Path(__file__).parents[2] / "docs"
EXTENSIONS = "myst_parser,sphinx.ext.autodoc,formulas,motion"
MOST = 1_500_000  # bytes of a page and all that it loads

_spec = importlib.util.spec_from_file_location("motion", DOCS / "extensions" / "motion.py")
motion = importlib.util.module_from_spec(_spec)
sys.modules["motion"] = motion
_spec.loader.exec_module(motion)


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """Build the page alone, with all that a page of the documentation has."""
    folder = tmp_path_factory.mktemp("docs")
    for name in ("extensions", "static", "motion"):
        shutil.copytree(DOCS / name, folder / name)
    shutil.copy(DOCS / "conf.py", folder)
    lines = [f"<!-- motion: {name} -->\n" for name in motion.WIDGETS]
    (folder / "index.md").write_text("# Page\n\n```{toctree}\nplain\n```\n\n" + "\n".join(lines))
    (folder / "plain.md").write_text("# Plain\n\nNothing moves here.\n")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-D", f"extensions={EXTENSIONS}"]
    subprocess.run([*command, folder, folder / "html"], check=True)
    return folder / "html"


@pytest.fixture
def open_page(open_file, built):
    """Open the page."""

    def opened(width=1280, **options):
        viewport = {"width": width, "height": 844}
        return open_file(built / "index.html", viewport=viewport, **options)

    return opened


class Widget:
    """One of them, moved by keyboard alone."""

    def __init__(self, page, name: str) -> None:
        self.page, self.at = page, page.locator(f".motion[data-motion={name}]")

    def press(self, role: str, name: str, keys: str, times: int = 1) -> None:
        """Give a control the focus, and press keys, a few times."""
        control = self.at.get_by_role(role, name=re.compile(f"^ ?{re.escape(name)}")).first
        control.focus()
        for _ in range(times):
            for key in keys.split():
                self.page.keyboard.press(key)

    @property
    def numbers(self) -> dict[str, float]:
        """All that is shown, by name, with all digits."""
        found = self.at.locator("[data-value]").evaluate_all(
            "all => all.map(one => [one.dataset.name, one.dataset.value])"
        )
        return {name: float(value) for name, value in found}

    def says(self, numbers: dict[str, float], within: float = 1e-12) -> None:
        found = self.numbers
        for name, value in numbers.items():
            assert found[name] == pytest.approx(value, rel=within, abs=within, nan_ok=True), name


@pytest.fixture
def widget(open_page, request):
    return Widget(open_page(), request.param)


def of(name: str):
    return pytest.mark.parametrize("widget", [name], indirect=True)


def check_flips(widget: Widget, a: float, b: float, heads: int, tails: int) -> None:
    coin = Bernoulli(prior=Beta(a, b)).fit([1] * heads + [0] * tails)
    posterior = stats.beta(a + heads, b + tails)
    low, high = posterior.ppf([0.025, 0.975])
    right = {"MLE": coin.mle, "MAP": coin.map, "mean": coin.mean}
    widget.says(right | {"p(θ > ½)": posterior.sf(0.5), "95 % from": low, "95 % to": high}, 1e-9)
    log_evidence = special.betaln(a + heads, b + tails) - special.betaln(a, b)
    widget.says({"log evidence": log_evidence}, 1e-9)


@of("flips")
def test_a_prior_is_dragged(widget) -> None:
    check_flips(widget, 2, 2, 8, 2)
    widget.press("slider", "heads", "ArrowRight", 3)
    check_flips(widget, 2, 2, 11, 2)
    widget.press("slider", "tails", "Home")
    check_flips(widget, 2, 2, 11, 0)
    widget.press("slider", "a, pretend heads", "ArrowLeft", 5)
    check_flips(widget, 1.5, 2, 11, 0)
    widget.press("button", "Know nothing", "Enter")
    check_flips(widget, 1, 1, 11, 0)
    handle = widget.at.get_by_role("slider", name="Prior: ")
    widget.press("slider", "Prior: ", "ArrowUp", 4)
    widget.press("slider", "Prior: ", "ArrowRight", 5)
    a, b = json.loads(f"[{handle.get_attribute('aria-valuetext')[5:].split(')')[0]}]")
    assert a > b > 1
    check_flips(widget, a, b, 11, 0)
    widget.press("slider", "heads", "Home")
    check_flips(widget, a, b, 0, 0)


def check_gaussians(widget: Widget, means, deviations, p: float, spot) -> None:
    joint = np.log([1 - p, p])
    joint += [stats.norm(m, s).logpdf(spot).sum() for m, s in zip(means, deviations, strict=True)]
    posterior = special.softmax(joint)
    found = {"p(blue)": posterior[0], "p(orange)": posterior[1]}
    widget.says(found | {"log odds of orange": joint[1] - joint[0]})


@of("gaussians")
def test_two_gaussians_make_a_border(widget) -> None:
    said = widget.at.locator(".motion-said")
    means = np.array([[-2, -0.8], [1.5, 0.6]])
    deviations = np.array([[1.5, 1], [0.8, 1.4]])
    spot = np.array([0.5, 2])
    check_gaussians(widget, means, deviations, 0.5, spot)
    assert said.inner_text().startswith("The border is a hyperbola: ")
    widget.press("slider", "Mean of orange", "ArrowRight ArrowDown", 5)
    means[1] += [0.5, -0.5]
    widget.press("slider", "Width of blue along x₁", "ArrowLeft", 4)
    deviations[0, 0] -= 0.4
    widget.press("slider", "Width of orange along x₂", "ArrowUp", 2)
    deviations[1, 1] += 0.2
    widget.press("slider", "A row", "Shift+ArrowLeft")
    spot[0] -= 1
    widget.press("slider", "p(orange), before", "ArrowRight", 10)
    check_gaussians(widget, means, deviations, 0.6, spot)
    before = widget.at.locator(".motion-line.border").get_attribute("d")
    widget.press("radio", "own of each class", "ArrowLeft")
    check_gaussians(widget, means, [deviations[0]] * 2, 0.6, spot)
    assert said.inner_text().startswith("The border is a straight line: ")
    assert widget.at.locator(".motion-line.border").get_attribute("d") != before
    widget.press("radio", "shared by both classes", "ArrowLeft")
    check_gaussians(widget, means, np.ones((2, 2)), 0.6, spot)
    assert said.inner_text().startswith("The border is a straight line: ")


def check_words(widget: Widget, smoothing: float, message: str) -> None:
    corpus = motion.words()
    nb = NaiveBayes("multinomial", smoothing=smoothing, weights=None)
    nb.fit(corpus["texts"], corpus["labels"])
    ham, spam = nb.predict_proba([message])[0]
    widget.says({"λ": smoothing, "p(ham)": ham, "p(spam)": spam})
    table = nb.inspect.parameters().to_frame()
    known = table[table.column == "text"]
    shown = {f"p({row['item']} | {row['class']})": row["value"] for _, row in known.iterrows()}
    found = widget.numbers
    words = [name for name in found if " | " in name]
    assert words
    widget.says({name: shown[name] for name in words})


@of("words")
def test_the_pseudo_count_moves_the_words(widget) -> None:
    message = motion.words()["message"]
    check_words(widget, 1, message)
    widget.press("slider", "λ", "ArrowLeft", 4)
    check_words(widget, 0.6, message)
    widget.press("slider", "λ", "End")
    check_words(widget, 10, message)
    widget.press("slider", "λ", "Home")
    check_words(widget, 0, message)  # each class is ruled out, and the prior is left
    assert widget.numbers["p(spam)"] == 0.5
    widget.at.get_by_role("textbox").fill("Pills, PILLS and lunch?")
    widget.press("slider", "λ", "ArrowRight", 20)
    check_words(widget, 2, "Pills, PILLS and lunch?")
    assert widget.at.locator("td", has_text="never seen").count() == 2  # "and", twice


def check_points(widget: Widget) -> None:
    place = widget.at.locator(".motion-place")
    points, cursor = (
        json.loads(place.get_attribute(f"data-{name}")) for name in ("points", "cursor")
    )
    *X, y = np.array(points).T
    X, y = np.transpose(X), y.astype(int)
    shown = {"points": len(points)}
    nb = GaussianNB().fit(X, y)
    shown["right: naive Bayes"] = nb.score(X, y)
    shown["p(orange) at +: naive Bayes"] = nb.predict_proba([cursor])[0, 1]
    widget.says(shown, 1e-9)
    other = LogisticRegression(tol=1e-12, solver="newton-cholesky").fit(X, y)
    shown = {"right: logistic regression": other.score(X, y)}
    shown["p(orange) at +: logistic regression"] = other.predict_proba([cursor])[0, 1]
    widget.says(shown, 1e-6)


@of("points")
def test_points_are_set_and_taken_away(widget) -> None:
    check_points(widget)
    before = widget.numbers
    widget.press("radio", "orange", "Space")
    widget.press("slider", "Cursor", "ArrowLeft Enter", 6)
    assert widget.numbers["points"] == before["points"] + 6
    check_points(widget)
    widget.press("slider", "Cursor", "Delete", 2)
    assert widget.numbers["points"] == before["points"] + 4
    check_points(widget)
    regions = widget.at.locator(".motion-region")
    shaded = regions.first.get_attribute("d")
    widget.press("radio", "naive Bayes", "ArrowRight")
    assert regions.first.get_attribute("d") != shaded
    found = {}
    for name in ("One within the other", "A chessboard", "Two outliers"):
        widget.press("button", name, "Enter")
        check_points(widget)
        found[name] = [
            widget.numbers[f"right: {of}"] for of in ("naive Bayes", "logistic regression")
        ]
    inner, board, outliers = found.values()
    assert inner[0] > inner[1] + 0.15
    assert max(board) < 0.8
    assert outliers[1] >= outliers[0]
    widget.press("button", "Clear", "Enter")
    assert widget.numbers["points"] == 0
    widget.press("slider", "Cursor", "Enter")
    assert np.isnan(widget.numbers["right: naive Bayes"])


@of("points")
def test_a_point_is_clicked_and_dragged(widget) -> None:
    page, svg = widget.page, widget.at.locator("svg")
    svg.scroll_into_view_if_needed()
    box, before = svg.bounding_box(), widget.numbers["points"]
    x, y = box["x"] + 0.9 * box["width"], box["y"] + 0.7 * box["height"]
    page.mouse.click(x, y)
    assert widget.numbers["points"] == before + 1
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 30, y - 20)
    page.mouse.up()
    assert widget.numbers["points"] == before + 1
    check_points(widget)
    page.mouse.click(x - 30, y - 20)
    assert widget.numbers["points"] == before


@of("mail")
def test_a_mail_is_typed(widget) -> None:
    nb, box = motion.learn_mail(), widget.at.get_by_role("textbox")
    marks = widget.at.locator("mark")
    texts = [
        *motion.mail()["samples"].values(),
        "free FREE lunch at noon — naïve, free?",
        "xyzzy",
        "",
    ]
    for text in texts:
        box.focus()
        widget.page.keyboard.press("Control+A")
        widget.page.keyboard.press("Delete")
        widget.page.keyboard.insert_text(text)
        ham, spam = nb.predict_proba([text])[0]
        widget.says({"p(ham)": ham, "p(spam)": spam, "log odds of spam": np.log(spam / ham)})
        assert widget.at.locator(".motion-message").inner_text() == text
        weighed = [float(title.split()[0].replace("\N{MINUS SIGN}", "-"))
                   for title in marks.evaluate_all("all => all.map(one => one.title)")]  # fmt: skip
        total = sum(weighed) + widget.numbers["before any word"]
        assert total == pytest.approx(np.log(spam / ham), abs=0.005 * (len(weighed) + 1))
    widget.press("button", "Spam", "Enter")
    assert marks.filter(has_text="prize").get_attribute("class") == "c1"
    widget.press("button", "Ham", "Enter")
    assert marks.filter(has_text="meeting").get_attribute("class") == "c0"


@of("copies")
def test_copies_are_taken_for_witnesses(widget) -> None:
    rows = np.array(motion.copies()["rows"])
    labels = np.where(rows[:, 1] == 1, "yes", "no")

    def check(copies: int, x: float) -> None:
        for weights, name in ((None, "without weights"), ("loo", "with weights")):
            nb = motion.learn_copies(copies, weights)
            row, others = ({f"x{j}": of for j in range(copies)} for of in ([x], rows[:, 0]))
            found = nb.predict_proba(others)
            widget.says({
                f"at x, {name}": nb.predict_proba(row)[0, 1],
                f"log loss, {name}": nb.evaluate(others, labels).log_loss,
                f"sure, {name}": found.max(axis=1).mean(),
            }, 1e-9)  # fmt: skip
            if weights is None:
                widget.says({"right, of 300 new rows": (nb.predict(others) == labels).mean()})
        blue, orange = (stats.norm(mean, motion.DEVIATION).pdf(x) for mean in (-1, 1))
        widget.says({"at x, the truth": orange / (blue + orange)})

    check(5, 1.5)
    widget.press("slider", "how often", "ArrowRight", 2)
    widget.press("slider", "A row", "ArrowLeft", 20)
    check(7, -0.5)
    sure = widget.numbers["sure, without weights"]
    widget.press("slider", "how often", "Home")
    check(1, -0.5)
    assert widget.numbers["sure, without weights"] < sure - 0.15


@of("tally")
def test_a_tally_learns_and_forgets(widget) -> None:
    table = motion.tally()
    days = pd.DataFrame(table["rows"], columns=[*table["columns"], "play"])
    boxes = widget.at.get_by_role("checkbox")
    asked = {name: levels[0] for name, levels in table["columns"].items()}

    def check() -> None:
        ticked = [boxes.nth(i).is_checked() for i in range(len(days))]
        learned = days[ticked]
        nb = NaiveBayes("categorical", smoothing=1, weights=None)
        nb.fit(learned[list(asked)], learned.play)
        no, yes = nb.predict_proba(pd.DataFrame([asked]))[0]
        widget.says({"p(no)": no, "p(yes)": yes})
        found = widget.numbers
        for c, label in enumerate(table["classes"]):
            of_class = learned[learned.play == label]
            assert found[f"rows {c}"] == len(of_class)
            for name, levels in table["columns"].items():
                counts = [found[f"{name} {i} {c}"] for i in range(len(levels))]
                assert counts == [(of_class[name] == level).sum() for level in levels]

    check()
    before = widget.numbers
    boxes.nth(13).focus()
    widget.page.keyboard.press("Space")
    assert widget.at.locator(".changed").count() == 5  # the rows, and a level of each column
    check()
    widget.page.keyboard.press("Space")
    assert widget.numbers == before
    for i in (0, 3, 8):
        boxes.nth(i).focus()
        widget.page.keyboard.press("Space")
    check()
    widget.press("radio", "cool", "ArrowRight")
    asked["temperature"] = "mild"
    check()
    widget.press("button", "Learn all", "Enter")
    check()
    widget.press("button", "Forget the sunny days", "Enter")
    check()
    widget.press("radio", "sunny", "ArrowRight")
    asked["outlook"] = "overcast"
    check()
    widget.press("button", "Forget all", "Enter")
    assert widget.at.locator(".motion-said").inner_text().startswith("Nothing is known of a class")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_the_page(open_page, width, scheme) -> None:
    page = open_page(width, color_scheme=scheme)
    wide = "[...document.querySelectorAll('.motion *')].filter(one => !one.closest('.motion-wide')"
    wide += " && one.getBoundingClientRect().right > innerWidth + 1).length"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(wide) == 0
    assert page.locator(".motion svg").count() == 5
    colour = "one => getComputedStyle(one).getPropertyValue('--c0')"
    blue = {"light": "#0072b2", "dark": "#5cb3ee"}[scheme]
    assert page.locator(".motion").first.evaluate(colour) == blue


def test_a_picture_follows_the_width_of_the_page(open_page) -> None:
    page = open_page(1280)
    box = "document.querySelector('.motion svg').getAttribute('viewBox')"
    before = page.evaluate(box)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(f"{box} !== '{before}'")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_page_is_small_and_says_what_to_try(built) -> None:
    text = (built / "index.html").read_text()
    scripts = list(motion.scripts(list(motion.WIDGETS)))
    assert (
        len(text.encode()) + sum((built / "_static" / name).stat().st_size for name in scripts)
        < MOST / 3
    )
    loaded = [path for path in (built / "_static").rglob("*.*s") if path.name in text]
    assert len(text.encode()) + sum(path.stat().st_size for path in loaded) < MOST
    assert text.count("<figcaption>") == len(motion.WIDGETS)
    plain = (built / "plain.html").read_text()
    assert "motion" not in plain  # a page without them loads nothing of theirs


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="page asks for 'flops'; known are flips, "):
        motion.fill(None, "page", ["<!-- motion: flops -->"])
