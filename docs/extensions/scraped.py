"""Pictures of the gallery: of those side by side each is a file, so that they fit a phone."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from sphinx_gallery.scrapers import figure_rst


def scrape(_block: Any, variables: dict[str, Any], conf: dict[str, Any]) -> str:
    """Write each part of each figure that there is; return the lines that show them."""
    paths, titles = [], []
    for figure in map(plt.figure, plt.get_fignums()):
        figure.draw_without_rendering()  # which lays it out
        for part in figure.subfigs or [figure]:
            paths.append(next(variables["image_path_iterator"]))
            titles.append(part.get_suptitle())
            box = part.bbox.transformed(figure.dpi_scale_trans.inverted())
            figure.savefig(paths[-1], bbox_inches=box)
    plt.close("all")
    return str(figure_rst(paths, conf["src_dir"], ", ".join(filter(None, titles))))
