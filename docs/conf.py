"""How Sphinx builds the documentation: ``make docs``."""

import sys
from pathlib import Path
from typing import Any

from docutils import nodes

import naively

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "naively"
author = "the naively developers"
copyright = f"2026, {author}"  # noqa: A001
version = release = naively.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "formulas",
    "generated",
    "motion",
    "notebooks",
    "drawn",
    "exercises",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py"]
nitpicky = True  # a name that leads nowhere is a warning, and "make docs" makes it an error
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
smartquotes = False  # two dashes begin an option

numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = False  # a line each,
numpydoc_class_members_toctree = False  # on the page of the class
templates_path = ["templates"]  # of the pages that autosummary makes: one a name, in reference/api
autodoc_typehints = "none"  # the docstrings say of which types and shapes parameters are

plot_formats = ["svg"]
plot_html_show_formats = False
plot_html_show_source_link = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_",  # these are run
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": (),  # a script prints what it shows
    "image_scrapers": ("scraped.scrape",),
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 3600,  # no page depends on how fast this machine is
    "write_computation_times": False,
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "  # what is copied can be pasted
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = "naively"
html_math_renderer = "ziamath"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_search_scorer = str(Path(__file__).parent / "static" / "search.js")
linkcheck_timeout = 20


def _is_generated(_app: Any, _what: str, name: str, *_: Any) -> bool | None:
    """Leave out what scikit-learn generates for metadata routing, whose links lead nowhere here."""
    made = name == "get_metadata_routing" or (name.startswith("set_") and name.endswith("_request"))
    return True if made else None


def _without_empty_end(_app: Any, page: nodes.document) -> None:
    """Take the empty line off that an example ends with, which its doctest needs and no reader."""
    for block in page.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        block.children = [nodes.Text(text)]
        block.rawsource = text  # what is highlighted must be what is shown


def _one_branch(_app: Any, _page: str, _template: str, context: dict[str, Any], _: Any) -> None:
    """Let the sidebar show no branch but that of the page: all of them took half of the time."""
    if whole := context.get("toctree"):
        context["toctree"] = lambda **options: whole(**options | {"collapse": True})


def setup(app: Any) -> None:
    """Tell Sphinx."""
    app.connect("html-page-context", _one_branch, priority=400)  # before the theme asks for it
    app.connect("doctree-read", _without_empty_end)
    app.connect("autodoc-skip-member", _is_generated)
