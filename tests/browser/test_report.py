"""The report in a real browser: its numbers are the library's, and no data are obeyed."""

from __future__ import annotations

import shutil

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes
from tests.linear_parts import with_linear_part
from tests.reported import HOSTILE, table, with_a_pair, with_holes

playwright = pytest.importorskip("playwright.sync_api", reason="make test-browser installs it")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a report, and fail if it says anything on the console or asks the network."""
    said, asked, contexts = [], [], []

    def opened(report, **options):
        path = tmp_path / "report.html"
        report.save(path)
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


@pytest.fixture(scope="module", params=["columns", "interactions", "linear"])
def model(request):
    if request.param == "linear":  # whose missing cells are evidence too
        return with_linear_part(NaiveBayes().fit(with_holes(table()), "y"))
    return with_a_pair() if request.param == "interactions" else NaiveBayes().fit(table(), "y")


def posterior(page) -> list[float]:
    return page.evaluate(
        "[...document.querySelectorAll('#posterior output')].map(o => Number(o.dataset.p))"
    )


def test_posteriors_of_the_rows_are_the_librarys(model, open_page):
    others = table(50, seed=1)
    page = open_page(model.report(others, "y"))
    scorer = page.evaluate("JSON.parse(document.getElementById('scorer').textContent)")
    assert scorer["classes"] == model.classes_.tolist()
    assert len(scorer["rows"]) > 5
    for i, row in enumerate(scorer["rows"]):
        page.select_option("#start", str(i))
        place = int(row["name"].rsplit(" ", 1)[1])
        right = model.predict_proba(others.drop(columns="y").iloc[[place]])[0]
        np.testing.assert_allclose(posterior(page), right, atol=1e-7)


def test_moved_cells_are_scored_as_the_library_scores_them(model, open_page):
    others = table(50, seed=1)
    page = open_page(model.report(others, "y"))
    scorer = page.evaluate("JSON.parse(document.getElementById('scorer').textContent)")
    place = int(scorer["rows"][0]["name"].rsplit(" ", 1)[1])
    row = others.drop(columns="y").iloc[[place]].copy()
    page.select_option("#start", "0")
    moved = 0
    for j, column in enumerate(scorer["columns"]):
        if column["name"] == "when":
            continue
        for i in {0, len(column["values"]) // 2, len(column["values"]) - 1}:
            value = column["values"][i]
            value = {"True": True, "False": False}.get(value, value)
            page.evaluate(
                "([id, i]) => { const c = document.getElementById(id); c.value = i;"
                " c.dispatchEvent(new Event('input')); }",
                [f"cell-{j}", i],
            )
            row = row.assign(**{column["name"]: pd.Series([value], row.index, dtype=object)})
            if column["kind"] == "number":
                row[column["name"]] = row[column["name"]].astype(float)
            np.testing.assert_allclose(posterior(page), model.predict_proba(row)[0], atol=1e-7)
            moved += 1
    assert moved >= 12


def test_keys_alone_move_a_row(model, open_page):
    page = open_page(model.report(table(50, seed=1), "y"))
    page.focus("#start")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "cell-0"
    slider = page.locator("input[type=range]").first
    slider.focus()
    slider.press("Home")
    before = posterior(page)
    slider.press("End")
    slider.press("ArrowLeft")
    assert posterior(page) != before
    page.locator("#again").press("Enter")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_a_phone_in_light_and_dark(model, open_page, scheme):
    page = open_page(model.report(table(50, seed=1), "y"), viewport=PHONE, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    paper, ink = page.evaluate(
        "['backgroundColor', 'color'].map(n => getComputedStyle(document.body)[n])"
    )
    brightness = [
        sum(map(int, c.removeprefix("rgb(").rstrip(")").split(","))) for c in (paper, ink)
    ]
    assert (brightness[0] > brightness[1]) == (scheme == "light")
    assert abs(brightness[0] - brightness[1]) > 450


def test_text_of_pictures_is_text(model, open_page):
    page = open_page(model.report(table(50, seed=1), "y"))
    texts = page.evaluate("[...document.querySelectorAll('svg text')].map(t => t.textContent)")
    assert any("confidence" in text.lower() for text in texts)
    assert page.locator("svg").count() == page.locator("svg[role=img][aria-label]").count() > 5


def test_nothing_in_the_data_is_obeyed(open_page):
    rng = np.random.default_rng(0)
    n = 400
    labels = np.array(HOSTILE)[np.arange(n) % len(HOSTILE)]
    table = pd.DataFrame({name: rng.choice(HOSTILE, n) for name in HOSTILE[:4]})
    table[HOSTILE[4]] = rng.normal(size=n)
    nb = NaiveBayes().fit(table, labels)
    page = open_page(nb.report(table[::20], labels[::20], name=HOSTILE[0]))
    assert page.evaluate("window.pwned") is None
    assert page.locator("script").count() == 2
    assert page.locator("img, a[href^='javascript'], iframe, [onerror]").count() == 0
    text = page.locator("body").inner_text()
    assert "<script>window.pwned = 1</script>" in text
    assert "\\x1b[31mred" in text
    assert "\\u202e" in text
    assert "مرحبا" in text
    assert "\x1b" not in page.content()


def test_texts_are_searched_and_shown(open_page):
    texts = [
        "cheap pills now",
        "lunch at noon",
        "cheap watches <b>now</b>",
        "see you at lunch",
    ] * 10
    labels = ["spam", "ham", "spam", "ham"] * 10
    nb = NaiveBayes().fit(texts, labels)
    page = open_page(nb.report(texts[:4], labels[:4]))
    assert "pills" in page.locator("#classes").inner_text()
    names = page.evaluate(
        "JSON.parse(document.getElementById('scorer').textContent).rows.map(row => row.name)"
    )
    for i, name in enumerate(names):
        page.select_option("#start", str(i))
        right = nb.predict_proba([texts[int(name.rsplit(" ", 1)[1])]])[0]
        np.testing.assert_allclose(posterior(page), right, atol=1e-7)
