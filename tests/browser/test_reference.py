"""The reference in a browser: pages of a few screens; a search that finds the right one first."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("furo", reason="make test-browser installs it")

DOCS = Path(__file__).parents[2] / "docs"
EXTENSIONS = "myst_parser,numpydoc,sphinx.ext.autodoc,sphinx.ext.autosummary,formulas,generated"
MOST = 3_500  # pixels at a width of 1280: four screens


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """Build the reference and the pages that say how to, without their pictures."""
    folder = tmp_path_factory.mktemp("repository") / "docs"
    made = shutil.ignore_patterns("api", "verbs")
    for name in ("extensions", "static", "templates", "reference", "how-to"):
        shutil.copytree(DOCS / name, folder / name, ignore=made)
    shutil.copy(DOCS / "conf.py", folder)
    pages = "\n".join(["reference/index", *(f"how-to/{page.stem}" for page in how_tos())])
    (folder / "index.md").write_text(f"# Pages\n\n```{{toctree}}\n{pages}\n```\n", encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-D", f"extensions={EXTENSIONS}"]
    subprocess.run([*command, folder, folder / "html"], check=True, stderr=subprocess.DEVNULL)
    return folder / "html"


def how_tos() -> list[Path]:
    return sorted((DOCS / "how-to").glob("*.md"))


def test_pages_have_a_few_screens_and_keep_within_their_width(browser, built) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    pages = sorted((built / "reference").rglob("*.html"))
    assert len(pages) > 200
    for path in pages:
        page.goto(path.as_uri(), wait_until="domcontentloaded")
        height, width = page.evaluate(
            "[document.querySelector('.content').offsetHeight, document.body.scrollWidth]"
        )
        assert height <= MOST, (path.name, height)
        assert width <= 1280, path.name
    page.close()


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("explain", "reference/api/naively.NaiveBayes.explain.html"),
        ("merge", "reference/api/naively.NaiveBayes.merge.html"),
        ("assess", "reference/api/naively.NaiveBayes.assess.html"),
        ("calibrate", "reference/api/naively.NaiveBayes.calibrate.html"),
        ("predict_proba", "reference/api/naively.NaiveBayes.predict_proba.html"),
        ("nb.inspect.column", "reference/api/naively.NaiveBayes.inspect.column.html"),
        ("nb.explain(X)", "reference/api/naively.NaiveBayes.explain.html"),
        ("GaussianNB", "reference/api/naively.GaussianNB.html"),
        ("calibration", "how-to/calibration.html"),
        ("missing cells", "how-to/missing.html"),
        ("costs", "how-to/costs.html"),
    ],
)
def test_the_search_finds_the_right_page_first(browser, built, asked, first) -> None:
    page = browser.new_page()
    page.goto(f"{(built / 'search.html').as_uri()}?q={asked.replace(' ', '+')}")
    found = page.locator("ul.search > li > a").first
    assert found.get_attribute("href").partition("?")[0].partition("#")[0] == first
    page.close()
