"""The picture of the README: what naively counts of tumours, and why it answers so.

``make picture`` draws it into docs/static/naively.png, and beside it the first screen of a report,
where there is Chromium to open it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from naively import NaiveBayes
from naively.wings.pictures.axes import STYLE

HERE = Path(__file__).parent
WIDTH, HEIGHT = 6.6, 2.6  # inches: text of 8 points is read at the width of a page
SCREEN, SCALE = (440, 1140), 1.5  # pixels of the picture of a report: it is read on a phone too
COLUMNS = ["mean radius", "mean texture", "mean smoothness", "mean concavity", "worst radius"]
LEARNED, ROW = 400, 413  # rows, as in README, and the one that is explained
TITLES = ("It counts, in one pass", "It says why")


def draw(path: Path) -> None:
    """Draw the two pictures side by side into a file."""
    data = load_breast_cancer(as_frame=True)
    tumours, kind = data.data[COLUMNS], data.target.map({0: "malignant", 1: "benign"})
    nb = NaiveBayes().fit(tumours[:LEARNED], kind[:LEARNED])
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        parts = figure.subfigures(1, 2, width_ratios=(1, 1.35))
        axes = [part.subplots() for part in parts]
        for part, title in zip(parts, TITLES, strict=True):
            part.suptitle(title, fontweight="bold", fontsize=10)
        nb.inspect.column("worst radius").plot(axes[0])
        nb.explain(tumours.iloc[[ROW]])[0].plot(axes[1])
        figure.savefig(path, dpi=240, metadata={"Software": None})
    plt.close(figure)


def draw_report(path: Path) -> None:
    """Take a picture of the first screen of a report, or say that there is no browser for it."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.stderr.write(f"There is no Chromium here: {path.name} stays as it is.\n")
        return
    data = load_breast_cancer(as_frame=True)
    names = data.target.map({0: "malignant", 1: "benign"})
    report = NaiveBayes().fit(data.data, names).export.report(name="Tumours")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        report.save(page)
        options = ["--headless", "--no-sandbox", "--hide-scrollbars"]
        options += [f"--force-device-scale-factor={SCALE}"]
        size = f"--window-size={SCREEN[0]},{SCREEN[1]}"
        to = f"--screenshot={path.resolve()}"
        subprocess.run(  # noqa: S603
            [browser, *options, size, to, page.as_uri()], check=True, capture_output=True
        )


if __name__ == "__main__":
    to = Path(sys.argv[1]) if sys.argv[1:] else HERE / "static" / "naively.png"
    draw(to)
    draw_report(to.with_name("report.png"))
