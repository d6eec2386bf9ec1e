"""How Sphinx builds the documentation: ``make docs``."""  # noqa: INP001

from typing import Any

import naively

project = "naively"
author = "the naively developers"
copyright = f"2026, {author}"  # noqa: A001
version = release = naively.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

numpydoc_show_class_members = False

html_theme = "furo"
html_title = "naively"


def _is_generated(_app: Any, _what: str, name: str, *_: Any) -> bool | None:
    """Leave out what scikit-learn generates for metadata routing, whose links lead nowhere here."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def setup(app: Any) -> None:
    """Tell Sphinx."""
    app.connect("autodoc-skip-member", _is_generated)
