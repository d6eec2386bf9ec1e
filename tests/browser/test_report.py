"""The report in a real browser: its numbers are the library's, and no data are obeyed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes
from naively.messages import visible
from tests.linear_parts import with_linear_part
from tests.reported import HOSTILE, table, with_holes, with_interactions

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def open_page(open_file, tmp_path):
    """Open a report."""

    def opened(report, **options):
        path = tmp_path / "report.html"
        report.save(path)
        return open_file(path, **options)

    return opened


def noted(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """The table with a column of texts, and with missing cells of each kind."""
    found, rng = table(n, seed), np.random.default_rng(seed)
    words = np.array(["cheap", "pills", "now", "lunch", "at", "noon", "meeting", "offer", "price"])
    likely = {"ham": words[:6], "spam": words[2:], "unsure": words}
    notes = [" ".join(rng.choice(likely[label], 12)) for label in found["y"]]
    return with_holes(found.assign(note=notes), seed)


@pytest.fixture(scope="module", params=["columns", "interactions", "products"])
def model(request):
    if request.param == "interactions":
        return with_interactions()
    nb = NaiveBayes().fit(noted(), "y")
    return with_linear_part(nb, products=3) if request.param == "products" else nb


@pytest.fixture(scope="module")
def report(model):
    return model.export.report(others_of(model))


def others_of(model) -> pd.DataFrame:
    """Rows that the model never saw, without labels."""
    return noted(50, seed=1)[list(model.feature_names_in_)]


def posterior(page) -> list[float]:
    return page.evaluate(
        """[...document.querySelectorAll('#posterior output')].sort(
            (a, b) => a.dataset.c - b.dataset.c).map(o => Number(o.dataset.p))"""
    )


def scorer_of(page) -> dict:
    return page.evaluate("JSON.parse(document.getElementById('scorer').textContent)")


def unfold(page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(of => { of.open = true; })")


def place_of(row: dict) -> int:
    return int(row["name"].rsplit(" ", 1)[1])


def test_posteriors_of_the_rows_are_the_librarys(model, report, open_page):
    others = others_of(model)
    page = open_page(report)
    scorer = scorer_of(page)
    assert scorer["classes"] == model.classes_.tolist()
    assert len(scorer["rows"]) > 5
    for i, row in enumerate(scorer["rows"]):
        page.select_option("#start", str(i))
        right = model.predict_proba(others.iloc[[place_of(row)]])[0]
        np.testing.assert_allclose(posterior(page), right, atol=1e-12)
        for j, column in enumerate(scorer["columns"]):
            cell, control = row["cells"][column["name"]], page.locator(f"#cell-{j}")
            assert page.is_checked(f"#missing-{j}") == (cell is None)
            if cell is not None and column["kind"] in {"boolean", "string"}:
                assert control.locator("option:checked").inner_text() == str(cell)
            elif cell is not None:
                read = {"number": float, "time": np.datetime64, "text": str}[column["kind"]]
                assert read(control.input_value()) == read(cell)


# By kind: what is entered for a column, and the cell that it is.
MOVES = {
    "number": [("-0.731", -0.731), ("1e3", 1000.0)],
    "boolean": [("True", True), ("False", False)],
    "string": [("(never seen)", "purple")],
    "time": [("2026-02-03T04:05:06", pd.Timestamp("2026-02-03T04:05:06")),
             ("1999-12-31T23:59:59", pd.Timestamp("1999-12-31T23:59:59"))],
    "text": [("Cheap, cheap PILLS\nat noon!", "Cheap, cheap PILLS\nat noon!"), ("", "")],
}  # fmt: skip


def test_moved_cells_are_scored_as_the_library_scores_them(model, report, open_page):
    others = others_of(model)
    page = open_page(report)
    scorer = scorer_of(page)
    row = others.iloc[[place_of(scorer["rows"][0])]].astype(object)
    page.select_option("#start", "0")
    before = posterior(page)

    def check(name, cell):
        row[name] = pd.Series([cell], row.index, dtype=object)
        found = row.astype({"size": float, "when": "datetime64[us]"})
        np.testing.assert_allclose(posterior(page), model.predict_proba(found)[0], atol=1e-12)

    assert {column["name"] for column in scorer["columns"]} == set(others)
    for j, column in enumerate(scorer["columns"]):
        name, control, missing = column["name"], page.locator(f"#cell-{j}"), f"#missing-{j}"
        moves = MOVES[column["kind"]]
        if column["kind"] == "string":
            levels = sorted(others[name].dropna().unique())
            assert control.locator("option").all_inner_texts() == [*levels, "(never seen)"]
            moves = moves + [(level, level) for level in levels]
        for entered, cell in moves:
            if column["kind"] in {"boolean", "string"}:
                control.select_option(entered)
            else:
                control.fill(entered)
            assert not page.is_checked(missing)
            check(name, cell)
        page.check(missing)
        check(name, None)
        page.uncheck(missing)
        check(name, cell)
        if j % 2:  # the cells of other columns are moved beside missing ones, and others
            page.check(missing)
            check(name, None)
    page.locator("#again").press("Enter")
    assert posterior(page) == before


def test_slider_and_number_move_each_other(model, report, open_page):
    others = others_of(model)
    page = open_page(report)
    scorer = scorer_of(page)
    j = next(j for j, column in enumerate(scorer["columns"]) if column["name"] == "size")
    number, slider = page.locator(f"#cell-{j}"), page.locator("#cells input[type=range]")
    row = others.iloc[[place_of(scorer["rows"][0])]].copy()
    page.select_option("#start", "0")
    for x in (scorer["columns"][j]["low"], scorer["columns"][j]["high"]):
        slider.fill(str(x))
        assert float(number.input_value()) == x
        row["size"] = x
        np.testing.assert_allclose(posterior(page), model.predict_proba(row)[0], atol=1e-12)
    number.fill("0.5")
    assert float(slider.input_value()) == pytest.approx(0.5, abs=scorer["columns"][j]["step"])
    number.fill("")
    assert page.is_checked(f"#missing-{j}")
    row["size"] = np.nan
    np.testing.assert_allclose(posterior(page), model.predict_proba(row)[0], atol=1e-12)


def test_row_without_any_cell_is_a_start(model, report, open_page):
    others = others_of(model)
    page = open_page(report)
    page.select_option("#start", "none")
    nothing = others.iloc[[0]].astype(object).mask(np.ones((1, others.shape[1]), bool), None)
    nothing = nothing.astype({"size": float, "when": "datetime64[us]"})
    np.testing.assert_allclose(posterior(page), model.predict_proba(nothing)[0], atol=1e-12)
    assert page.locator(".missing input:checked").count() == others.shape[1]


def test_evidence_is_that_of_explain(model, report, open_page):
    others = others_of(model)
    page = open_page(report)
    for i, row in enumerate(scorer_of(page)["rows"]):
        page.select_option("#start", str(i))
        explained = model.explain(others.iloc[[place_of(row)]])[0]
        c = explained.best
        said = page.locator("#against").inner_text()
        best, rival = (explained.classes[of] for of in (c, explained.rival(c)))
        assert said == f"Evidence for {best} against {rival}, in nats"
        page.evaluate("document.getElementById('why').open = true")
        lines = [line.split("\t") for line in page.locator("#evidence tbody tr").all_inner_texts()]
        *weights, total = [float(line[-1]) for line in lines]
        assert lines[-1][0] == "log odds"
        assert total == pytest.approx(explained.log_odds(c), abs=6e-4)
        assert sum(weights) == pytest.approx(total, abs=1e-2)
        sizes = [abs(of) for of in weights]
        n = len(sizes) - ("more" in lines[-2][0])
        assert sizes[:n] == sorted(sizes[:n], reverse=True)
        right = {}
        for column, weight in zip(explained.column, explained.weights(c), strict=True):
            right[column] = right.get(column, 0.0) + weight
        for column, *_, weight in lines[:n]:
            if column != "note":  # one line for each of its tokens
                assert float(weight) == pytest.approx(right[column], abs=6e-4)


def test_keys_alone_move_a_row(report, open_page):
    page = open_page(report)
    page.focus("#start")
    for _ in range(4):  # start again, for and against which class, and the first cell
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.cell') !== null")
    slider = page.locator("#cells input[type=range]").first
    slider.focus()
    slider.press("Home")
    before = posterior(page)
    slider.press("End")
    slider.press("ArrowLeft")
    assert posterior(page) != before
    box = page.locator(".missing input").first
    box.focus()
    was = box.is_checked()
    page.keyboard.press("Space")
    assert box.is_checked() != was
    page.locator("#again").press("Enter")


def test_each_control_is_named_after_its_column(report, open_page):
    page = open_page(report)
    for j, column in enumerate(scorer_of(page)["columns"]):
        name = column["name"]
        assert page.get_by_label(name, exact=True).get_attribute("id") == f"cell-{j}"
        box = page.get_by_role("checkbox", name=f"{name} is missing", exact=True)
        assert box.get_attribute("id") == f"missing-{j}"
    slider = page.get_by_role("slider", name="size, by slider", exact=True)
    assert slider.count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_a_phone_in_light_and_dark(report, open_page, scheme):
    page = open_page(report, viewport=PHONE, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    paper, ink = page.evaluate(
        "['backgroundColor', 'color'].map(n => getComputedStyle(document.body)[n])"
    )
    brightness = [
        sum(map(int, c.removeprefix("rgb(").rstrip(")").split(","))) for c in (paper, ink)
    ]
    assert (brightness[0] > brightness[1]) == (scheme == "light")
    assert abs(brightness[0] - brightness[1]) > 450


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_scores_can_be_read_on_a_phone(open_page, scheme):
    """The table of scores is as wide as the page, of whole words; numbers stand in one line."""
    rows = table()
    nb = NaiveBayes().fit(rows, "y")
    page = open_page(nb.export.report(rows, "y"), viewport=PHONE, color_scheme=scheme)
    unfold(page)
    wide, room = page.evaluate(
        "(w => [w.scrollWidth, w.clientWidth])(document.querySelector('#scores .wide'))"
    )
    assert wide <= room
    lines = page.evaluate(
        """[...document.querySelectorAll('#scores td, #scores th')].map(cell => {
            const range = document.createRange(); range.selectNodeContents(cell);
            const heights = [...range.getClientRects()].map(r => Math.round(r.top));
            return [cell.textContent, new Set(heights).size];
        })"""
    )
    assert len(lines) > 20
    for text, n in lines:
        assert n <= max(1, len(text.replace("-", " ").split())), text


def test_text_of_pictures_is_text(report, open_page):
    page = open_page(report)
    texts = page.evaluate("[...document.querySelectorAll('svg text')].map(t => t.textContent)")
    assert any("probability" in text for text in texts)
    assert page.locator("svg").count() == page.locator("svg[role=img][aria-label]").count() > 5


def test_nothing_in_the_data_is_obeyed(open_page):
    rng = np.random.default_rng(0)
    n = 400
    labels = np.array(HOSTILE)[np.arange(n) % len(HOSTILE)]
    names = [*HOSTILE[:4], "__proto__", "constructor"]
    table = pd.DataFrame({name: rng.choice(HOSTILE, n) for name in names})
    table.loc[::3, names[4]] = labels[::3]
    table[HOSTILE[4]] = rng.normal(size=n)
    table[HOSTILE[5]] = rng.integers(2, size=n) > 0
    nb = NaiveBayes().fit(table, labels)
    page = open_page(nb.export.report(table[::20], labels[::20], name=HOSTILE[0]))
    assert page.evaluate("window.pwned") is None
    assert page.locator("script").count() == 3
    assert page.locator("img, a[href^='javascript'], iframe, [onerror]").count() == 0
    unfold(page)
    text = page.locator("body").inner_text()
    assert "<script>window.pwned = 1</script>" in text
    assert "\\x1b[31mred" in text
    assert "\\u202e" in text
    assert "مرحبا" in text
    assert "\x1b" not in page.content()
    assert "\u202e" not in text
    scorer = scorer_of(page)
    row = table[::20].iloc[[place_of(scorer["rows"][0])]].copy()
    page.select_option("#start", "0")
    np.testing.assert_allclose(posterior(page), nb.predict_proba(row)[0], atol=1e-12)
    for j, column in enumerate(scorer["columns"]):
        if column["kind"] != "string":
            continue
        control = page.locator(f"#cell-{j}")
        shown = control.locator("option").all_inner_texts()
        assert sorted(shown) == sorted([*map(visible, HOSTILE), "(never seen)"])
        for level in (HOSTILE[2], HOSTILE[5], HOSTILE[7]):
            control.select_option(index=shown.index(visible(level)))
            row[column["name"]] = level
            np.testing.assert_allclose(posterior(page), nb.predict_proba(row)[0], atol=1e-12)
    assert page.evaluate("window.pwned") is None


def test_texts_are_searched_and_written(open_page):
    texts = [
        "cheap pills now",
        "lunch at noon",
        "cheap watches <b>now</b>",
        "see you at lunch",
    ] * 10
    nb = NaiveBayes().fit(texts, ["spam", "ham", "spam", "ham"] * 10)
    page = open_page(nb.export.report())  # of texts no row is kept
    assert "pills" in page.locator("#columns").inner_text()
    for text in ("<img src=x onerror='window.pwned = 1'> cheap lunch", "pills\u202e \x1b[31m 🍕 é"):
        page.locator("#cell-0").fill(text)
        np.testing.assert_allclose(posterior(page), nb.predict_proba([text])[0], atol=1e-12)
        assert page.locator("img").count() == 0
        assert page.evaluate("window.pwned") is None


def test_infinite_numbers_are_starts(open_page):
    nb, others = with_interactions(), table(6, seed=1).drop(columns="y")
    others["size"] = [np.inf, -np.inf, 1.0] * 2
    page = open_page(nb.export.report(others))
    scorer = scorer_of(page)
    j = next(j for j, column in enumerate(scorer["columns"]) if column["name"] == "size")
    for i, row in enumerate(scorer["rows"]):
        page.select_option("#start", str(i))
        right = nb.predict_proba(others.iloc[[place_of(row)]])[0]
        np.testing.assert_allclose(posterior(page), right, atol=1e-12)
        assert not page.is_checked(f"#missing-{j}")


def test_level_may_be_called_never_seen(open_page):
    levels, labels = ["(never seen)", "b"] * 20, [0, 1, 0, 0] * 10
    nb = NaiveBayes().fit(pd.DataFrame({"x": levels}), labels)
    page = open_page(nb.export.report())
    options = page.locator("#cell-0 option").all_inner_texts()
    assert options == ["(never seen)", "b", "((never seen))"]
    for i, level in enumerate(["(never seen)", "b", "c"]):
        page.locator("#cell-0").select_option(index=i)
        right = nb.predict_proba(pd.DataFrame({"x": [level]}))[0]
        np.testing.assert_allclose(posterior(page), right, atol=1e-12)


def test_most_probable_of_many_classes_are_shown(open_page):
    labels = np.arange(400) % 12
    nb = NaiveBayes().fit({"x": np.random.default_rng(0).normal(labels, 2.0)}, labels)
    page = open_page(nb.export.report())
    p = posterior(page)
    shown = page.locator("#posterior .bar:visible output").all_inner_texts()
    assert len(p) == 12
    assert shown == [f"{of:.3f}" for of in sorted(p, reverse=True)[:6]]


def test_best_columns_of_many_can_be_moved(open_page, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    rows = pd.DataFrame(rng.normal(size=(300, 60)), columns=[f"x{i}" for i in range(60)])
    rows["x7"] += y
    nb = NaiveBayes().fit(rows, y)
    monkeypatch.setattr("naively.wings.report.scorer.MOST", 120_000)
    page = open_page(nb.export.report(rows.iloc[:40], y[:40]))
    assert "30 best of 60 columns" in page.locator("#whatif").inner_text()
    row = rows.iloc[[place_of(scorer_of(page)["rows"][0])]].copy()
    page.select_option("#start", "0")
    np.testing.assert_allclose(posterior(page), nb.predict_proba(row)[0], atol=1e-9)
    page.locator("#cell-0").fill("0.25")
    row[scorer_of(page)["columns"][0]["name"]] = 0.25
    np.testing.assert_allclose(posterior(page), nb.predict_proba(row)[0], atol=1e-9)
    chooser = page.locator("#columns .chooser select")
    for c in (2, 0):
        chooser.select_option(index=c)
        assert page.locator(".chooser > div:visible").count() == 1
        assert f"Speaks for {c}" in page.locator(".chooser > div:visible").inner_text()


def test_only_class_has_no_evidence_against_another(open_page):
    page = open_page(NaiveBayes().fit({"a": [1.0, 2.0, 3.0]}, ["x"] * 3).export.report())
    page.locator("#cell-0").fill("7")
    assert posterior(page) == [1.0]
    assert page.locator("#why").is_hidden()


# --- The nomogram: its weights are the library's, and its marks can be moved ---------------------


def weights_of(page) -> list[float]:
    return page.evaluate(
        "[...document.querySelectorAll('#cells .scaled output')].map(o => Number(o.dataset.weight))"
    )


def test_weights_of_the_nomogram_are_those_of_explain_and_sum_to_the_log_odds(
    model, report, open_page
):
    others = others_of(model)
    page = open_page(report)
    scorer = scorer_of(page)
    for i, row in enumerate(scorer["rows"]):
        page.select_option("#start", str(i))
        explained = model.explain(others.iloc[[place_of(row)]])[0]
        c, r = (int(page.input_value(of)) for of in ("#for", "#rival"))
        assert (c, r) == (explained.best, explained.rival(explained.best))
        total = float(page.locator("#total").get_attribute("data-total"))
        assert total == pytest.approx(explained.log_odds(c), abs=1e-9)
        weight, right = explained.weights(c), {}
        for column, of in zip(explained.column, weight, strict=True):
            name = column.split(" (")[0].removesuffix(" is missing").removesuffix(" is present")
            right[name] = right.get(name, 0.0) + of
        for column, found in zip(scorer["columns"], weights_of(page), strict=True):
            assert found == pytest.approx(right.get(column["name"], 0.0), abs=1e-9)


def test_classes_that_are_compared_can_be_chosen(model, report, open_page):
    others = others_of(model)
    page = open_page(report)
    row = scorer_of(page)["rows"][0]
    page.select_option("#start", "0")
    joint = model.explain(others.iloc[[place_of(row)]])[0].joint
    for c, r in ((0, 1), (2, 0), (1, 2)):
        page.select_option("#for", str(c))
        page.select_option("#rival", str(r))
        total = float(page.locator("#total").get_attribute("data-total"))
        assert total == pytest.approx(joint[c] - joint[r], abs=1e-9)


def test_marks_can_be_dragged_and_moved_by_keys(model, report, open_page):
    others = others_of(model)
    page = open_page(report, viewport={"width": 1280, "height": 900})
    scorer = scorer_of(page)
    page.select_option("#start", "0")
    row = others.iloc[[place_of(scorer["rows"][0])]].astype(object)

    def check(name, cell):
        row[name] = pd.Series([cell], row.index, dtype=object)
        found = row.astype({"size": float, "when": "datetime64[us]"})
        np.testing.assert_allclose(posterior(page), model.predict_proba(found)[0], atol=1e-12)

    for j, column in enumerate(scorer["columns"]):
        name, kind = column["name"], column["kind"]
        if kind not in {"number", "string", "boolean"}:
            continue
        handle = page.get_by_role("slider", name=f"{name}, by weight", exact=True)
        handle.scroll_into_view_if_needed()
        box = handle.bounding_box()
        seen = set()
        for by in (-400, 0, 400):
            page.mouse.move(box["x"] + 8, box["y"] + 8)
            page.mouse.down()
            page.mouse.move(box["x"] + 8 + by, box["y"] + 8, steps=4)
            page.mouse.up()
            seen.add(cell := cell_of(page, j, kind))
            check(name, cell)
        assert len(seen) > 1
        handle.focus()
        handle.press("Home")
        check(name, first := cell_of(page, j, kind))
        handle.press("ArrowRight")
        check(name, second := cell_of(page, j, kind))
        assert first != second
        left = [handle.bounding_box()["x"]]
        for key in ("ArrowRight", "End"):
            handle.press(key)
            left.append(handle.bounding_box()["x"])
        assert left == sorted(left)
        handle.press("End")
        check(name, cell_of(page, j, kind))
        assert "nats" in handle.get_attribute("aria-valuetext")


def cell_of(page, j: int, kind: str):
    control = page.locator(f"#cell-{j}")
    if kind == "number":
        return float(control.input_value())
    chosen = control.locator("option:checked").inner_text()
    return chosen == "True" if kind == "boolean" else chosen


def test_words_of_a_text_are_marked_by_their_weights(open_page):
    texts = ["cheap pills now", "lunch at noon", "cheap watches now", "see you at lunch"] * 10
    page = open_page(NaiveBayes().fit(texts, ["spam", "ham"] * 20).export.report())
    page.locator("#cell-0").fill("pills at the lunch")
    marks = page.locator(".marked mark")
    sides = dict(zip(marks.all_inner_texts(), (m.get_attribute("class") for m in marks.all()),
                     strict=True))  # fmt: skip
    assert sides["pills"] == "for"
    assert sides["lunch"] == "against"
    assert page.locator(".marked").inner_text() == "pills at the lunch"


# --- Thresholds and costs ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def decided():
    rows = table()
    rows["y"] = np.where(rows["y"] == "spam", "spam", "ham")
    nb, others = NaiveBayes().fit(rows[:400], "y"), rows[400:]
    return nb, others, nb.export.report(others, "y")


def test_threshold_moves_what_is_answered(decided, open_page):
    nb, others, report = decided
    page = open_page(report)
    p, right = nb.predict_proba(others.drop(columns="y"))[:, 1], others["y"] == "spam"
    for t in ("0", "0.137", "0.5", "0.9", "1"):
        page.locator("#threshold").fill(t)
        above = p * 1000 >= round(float(t) * 1000)
        found = page.evaluate(
            "[...document.querySelectorAll('#decisions td[data-n]')].map(c => Number(c.dataset.n))"
        )
        truth = [above & right, ~above & right, above & ~right, ~above & ~right]
        assert found == [of.sum() for of in truth]
        said = page.locator("#decided-said").inner_text()
        if above.any():
            assert f"Precision: {100 * right[above].mean():.1f} %" in said
        assert f"Recall: {100 * above[right].mean():.1f} %" in said
        assert f"Accuracy: {100 * (above == right).mean():.1f} %" in said
        assert page.locator("#decision-curves svg").count() == 4


def test_costs_choose_the_threshold_of_the_library(decided, open_page):
    nb, others, report = decided
    page = open_page(report)
    for alarm, miss in ((1.0, 4.0), (9.0, 1.0), (3.0, 1.0)):
        page.locator("#cost-alarm").fill(str(alarm))
        page.locator("#cost-miss").fill(str(miss))
        cost = {"ham": {"spam": alarm}, "spam": {"ham": miss}}
        right = nb.evaluate(others, "y", cost=cost).decisions
        assert float(page.input_value("#threshold")) == pytest.approx(right.threshold, abs=5e-4)
        found = float(page.locator("#decided-said").get_attribute("data-cost"))
        assert found == pytest.approx(right.cost, abs=1e-9)


def test_class_that_is_decided_on_can_be_chosen(decided, open_page):
    nb, others, report = decided
    page = open_page(report)
    page.select_option("#decided", "0")
    p, right = nb.predict_proba(others.drop(columns="y"))[:, 0], others["y"] == "ham"
    found = page.evaluate(
        "[...document.querySelectorAll('#decisions td[data-n]')].map(c => Number(c.dataset.n))"
    )
    assert found[0] == ((p >= 0.5) & right).sum()


# --- The page as a whole -------------------------------------------------------------------------


def test_page_is_three_screens_before_anything_is_unfolded(decided, open_page):
    page = open_page(decided[2], viewport={"width": 1280, "height": 900})
    assert page.evaluate("document.documentElement.scrollHeight") <= 3 * 900
    first = page.evaluate("document.querySelector('.first').getBoundingClientRect().bottom")
    assert first < 900
    assert page.locator("header h1, main, nav[aria-label]").count() == 3
    headed = page.locator("section[aria-labelledby]")
    for section in headed.all():
        assert page.locator(f"[id='{section.get_attribute('aria-labelledby')}']").count() == 1
    unnamed = page.evaluate(
        """[...document.querySelectorAll('input, select, textarea')].filter(
            of => !of.labels.length && !of.ariaLabel).length"""
    )
    assert unnamed == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_unfolded_page_fits_a_phone_without_a_word_in_letters(decided, open_page, scheme):
    page = open_page(decided[2], viewport=PHONE, color_scheme=scheme)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    tall = page.evaluate(
        """[...document.querySelectorAll('td:not(:has(.in)), th, .in, .bar span')].filter(cell => {
            const range = document.createRange(); range.selectNodeContents(cell);
            const lines = new Set([...range.getClientRects()].map(r => Math.round(r.top))).size;
            return cell.checkVisibility() && lines > 1 + cell.textContent.length / 5;
        }).map(cell => cell.textContent)"""
    )
    assert tall == []
