"""The gallery: every script runs, writes pictures, and prints numbers that others find too."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.naive_bayes import GaussianNB

FOLDER = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("[0-9]*.py"))
REAL = [name for name in SCRIPTS if " = real(" in (FOLDER / f"{name}.py").read_text()]
PNG = b"\x89PNG\r\n\x1a\n"


def numbers_of(printed: str, line: str) -> list[float]:
    """Return the numbers in the one line that begins so, after its beginning."""
    (found,) = [text for text in printed.splitlines() if text.startswith(line)]
    return [float(x.replace(",", "")) for x in re.findall(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?",
                                                          found[len(line) :])]  # fmt: skip


def check_coins(printed: str, _: Path | None) -> None:
    assert numbers_of(printed, "MAP             108/210 =") == [
        pytest.approx(float(Fraction(8 + 101 - 1, 10 + 101 + 101 - 2)), abs=1e-6)
    ]
    assert numbers_of(printed, "posterior mean  109/212 =") == [
        pytest.approx(stats.beta(109, 103).mean(), abs=1e-6)
    ]


def check_ratings(printed: str, data: Path | None) -> None:
    mean, variance = numbers_of(printed, "maximum likelihood")
    if data:
        import pandas as pd

        polls = pd.read_csv(data / "tables/approval_polls.csv")
        ratings = polls.approve[polls.subgroup == "All polls"]
        assert (mean, variance) == pytest.approx((ratings.mean(), ratings.var(ddof=0)), abs=1e-3)
    (below,) = numbers_of(printed, "p(rating < 0)   =")
    assert below == pytest.approx(stats.norm(mean, variance**0.5).cdf(0), rel=0.05)
    assert "independence is doubtful" in printed


def check_spam(printed: str, data: Path | None) -> None:
    mle, *_ = numbers_of(printed, "maximum likelihood ")
    one, *_ = numbers_of(printed, "pseudo-count 1 ")
    if data:
        assert 0.83 < mle < 0.87
        assert one > 0.97
    else:
        assert mle < one - 0.05


def check_headlines(printed: str, data: Path | None) -> None:
    mle, *_ = numbers_of(printed, "maximum likelihood ")
    one, *_ = numbers_of(printed, "pseudo-count 1 ")
    assert mle < one - 0.05
    assert "zyxxy" not in printed  # a word never seen says nothing
    if data:
        assert 0.83 < one < 0.87  # scikit-learn's MultinomialNB finds 0.85
        assert "+inf  text = unicorn" in printed


def check_pages(printed: str, _: Path | None) -> None:
    bernoulli, multinomial, default = (
        numbers_of(printed, f"{name} ")[0]
        for name in ("bernoulli", "multinomial", "naively's default")
    )
    assert 0.7 < bernoulli < multinomial < default


def check_digits(printed: str, data: Path | None) -> None:
    from naively.datasets import digits

    if data:
        table = np.loadtxt(data / "tables/optdigits.csv", delimiter=",", skiprows=1)
        X, y = table[:, :-1], table[:, -1]
    else:
        X, y, _, _ = digits()
    n = 2 * len(X) // 3
    dark = X > 8
    share = np.array([(dark[:n][y[:n] == c].sum(axis=0) + 1) / ((y[:n] == c).sum() + 2)
                      for c in range(10)])  # fmt: skip
    joint = dark[n:] @ np.log(share).T + ~dark[n:] @ np.log1p(-share).T
    joint += np.log(np.bincount(y[:n].astype(int)))
    found, *_ = numbers_of(printed, "dark or not")
    assert found == pytest.approx((joint.argmax(axis=1) == y[n:]).mean(), abs=0.01)


def check_iris(printed: str, _: Path | None) -> None:
    right = cross_val_score(GaussianNB(), *load_iris(return_X_y=True), cv=LeaveOneOut()).mean()
    accuracy, *_ = numbers_of(printed, "three classes, a variance in each class")
    assert accuracy == pytest.approx(right, abs=0.01)


def check_shapes(printed: str, _: Path | None) -> None:
    xor, _, _ = numbers_of(printed, "Gaussian")
    assert 0.45 < xor < 0.55  # no better than a coin
    for name in ("interactions", "joint table"):
        assert min(numbers_of(printed, name)) > 0.9


def check_copies(printed: str, _: Path | None) -> None:
    *_, alone = numbers_of(printed, "copies 1, weights None")
    *_, copied = numbers_of(printed, "copies 10, weights None")
    *_, weighted = numbers_of(printed, "copies 10, weights loo")
    assert copied > 3 * alone
    assert weighted < copied / 3


def check_vocabulary(printed: str, _: Path | None) -> None:
    first, *_, last = [line.split() for line in printed.split("multinomial\n")[1].splitlines()]
    assert float(first[2]) < float(last[2])
    assert float(last[1]) < float(last[2])  # multinomial is ahead with many words


def check_discriminative(printed: str, _: Path | None) -> None:
    (apart,) = numbers_of(printed, "log odds of naive Bayes are linear but for")
    assert apart < 1e-10
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    radius = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    zero, one = radius[y == 0], radius[y == 1]
    variance = (len(zero) * zero.var() + len(one) * one.var()) / len(y)
    counted, _ = numbers_of(printed, "mean radius")
    assert counted == pytest.approx((one.mean() - zero.mean()) / variance, rel=0.02)


def check_documents(printed: str, _: Path | None) -> None:
    for word, p in (("cheap", 0.4), ("pills", 0.3), ("meeting", 0.1), ("lunch", 0.2)):
        truth, estimate = numbers_of(printed, f"spam   {word} ")
        assert truth == p
        assert abs(estimate - p) < 4 * (p * (1 - p) / (2_000 * 0.3 * 6)) ** 0.5
    best, _ = numbers_of(printed, "    1")
    exact = 0.7 * 0.15 + 0.3 * 0.30 + 0.7 * 0.45 + 0.7 * 0.35  # the likelier class of each word
    assert best == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 5_000) ** 0.5)


def check_die(printed: str, _: Path | None) -> None:
    for m in (6, 30):
        assert numbers_of(printed, f"{m:4} ") == [2 * m + 1, 2 * (2**m - 1) + 1]
    joint, naive, optimal = numbers_of(printed, " 30,000")
    assert naive < joint == pytest.approx(optimal, abs=0.015)
    joint, naive, _ = numbers_of(printed, "     10  ")
    assert joint < naive


def check_mixed(printed: str, _: Path | None) -> None:
    from naively.datasets import penguins

    accuracy, log_loss = numbers_of(printed, "chosen by hand")[:2]
    assert 0.7 < accuracy < 0.95
    assert log_loss < 0.6
    X, species = penguins()
    rows = list(zip(species, X["island"], strict=True))
    dream = {of: rows.count((of, "Dream")) / species.count(of) for of in set(species)}
    (weight,) = re.findall(r"([-+][\d.]+)  island = Dream", printed)
    assert float(weight) == pytest.approx(np.log(dream["Chinstrap"] / dream["Adelie"]), abs=0.1)


def check_billions(printed: str, _: Path | None) -> None:
    assert numbers_of(printed, "rows in the sum of four tallies:") == [200_000]
    said = "greatest difference between merged and whole, in probability:"
    assert numbers_of(printed, said)[0] < 1e-9
    _, underflown, logs = numbers_of(printed, "spam: product of")
    assert underflown == 0
    assert logs == pytest.approx(1000 * np.log(0.02), abs=0.1)
    assert printed.count("extrapolated: ") == 2


def check_sets(printed: str, _: Path | None) -> None:
    assert numbers_of(printed, "hold the right digit:")[0] == pytest.approx(0.9, abs=0.03)


def check_two_columns(printed: str, _: Path | None) -> None:
    assert len(LOSSES.findall(printed)) == 3
    assert all(float(after) < float(before) for before, after in LOSSES.findall(printed))
    assert "total - fare" in printed
    assert "of its values count by themselves" in printed
    assert "this very row was seen" in printed


LOSSES = re.compile(r"([\d.]+) without, ([\d.]+) with")

CHECKS: dict[str, Callable[[str, Path | None], None]] = dict(
    zip(
        SCRIPTS,
        (check_coins, check_ratings, check_spam, check_headlines, check_pages, check_digits,
         check_iris, check_shapes, check_copies, check_vocabulary, check_discriminative,
         check_documents, check_die, check_mixed, check_billions, check_sets,
         check_two_columns),
        strict=True,
    )
)  # fmt: skip


# Runs a script, and what it would show on a screen is written to a folder.
RUN = """
import pathlib, runpy, sys
import matplotlib.pyplot as plt
script, folder = map(pathlib.Path, sys.argv[1:])
def show():
    for i in plt.get_fignums():
        plt.figure(i).savefig(folder / f"{script.stem}-{i}.png", dpi=150)
plt.show = show
runpy.run_path(str(script), run_name="__main__")
"""


def run(script: str, folder: Path, data: Path | None) -> str:
    """Run a script where nothing else is, as after a download, and return what it prints."""
    known = {k: v for k, v in os.environ.items() if k not in ("NAIVELY_DATA", "DISPLAY")}
    known["MPLBACKEND"] = "agg"
    known |= {"NAIVELY_DATA": str(data)} if data else {}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", RUN]
    command += [shutil.copy(FOLDER / f"{script}.py", folder), str(folder)]
    done = subprocess.run(
        command, env=known, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_runs_on_what_every_machine_has(script: str, tmp_path: Path) -> None:
    printed = run(script, tmp_path, None)
    check_pictures(script, tmp_path)
    assert printed.startswith("Data: ")
    CHECKS[script](printed, None)


@pytest.mark.slow
@pytest.mark.parametrize("script", REAL)
def test_a_script_runs_on_real_data(script: str, tmp_path: Path, data_folder: Path) -> None:
    printed = run(script, tmp_path, data_folder)
    check_pictures(script, tmp_path)
    assert "in full." in printed.splitlines()[0]
    CHECKS[script](printed, data_folder)


def check_pictures(script: str, folder: Path) -> None:
    pictures = list(folder.glob("*.png"))
    assert pictures
    for picture in pictures:
        assert picture.name.startswith(f"{script}-")
        content = picture.read_bytes()
        assert content.startswith(PNG)
        assert len(content) > 5_000  # an empty figure is smaller


def test_scripts_are_short_and_public() -> None:
    for script in SCRIPTS:
        source = (FOLDER / f"{script}.py").read_text()
        assert len(source.splitlines()) < 120
        assert source.endswith("\nplt.show()\n")
        assert not re.search(r"\bnaively(\.\w+)*\._|import _", source)


def test_a_notebook_has_the_statements_of_its_script_which_runs(tmp_path: Path) -> None:
    pytest.importorskip("sphinx_gallery", reason="make docs installs it")
    from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF
    from sphinx_gallery.notebook import jupyter_notebook
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    for script in SCRIPTS:
        path = FOLDER / f"{script}.py"
        _, blocks = split_code_and_text_blocks(str(path))
        made = jupyter_notebook(blocks, dict(DEFAULT_GALLERY_CONF), str(tmp_path))
        cells = ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]
        ours = "\n".join(cell for cell in cells if not cell.startswith("%"))
        body = ast.parse(path.read_text()).body[1:]  # without the page's text
        assert ast.dump(ast.parse(ours)) == ast.dump(ast.Module(body, []))
