"""How Sphinx builds the documentation: ``make docs``."""  # noqa: INP001

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
