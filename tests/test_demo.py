"""The demo: what it prints is what ``NaiveBayes()`` does, and what it names next works."""

from __future__ import annotations

import os
import re
import shlex
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, log_loss

from naively import NaiveBayes
from naively.wings.cli import demo
from naively.wings.cli.shared import held_out
from tests.commands import run
from tests.test_cli import ROWS, ok, sentence

TITLES = {"wine": "Measurements: which", "breast_cancer": "Measurements: is"}
ODDS = re.compile(r"^ +(-?[\d.]+)  log odds of '(.*)' against '(.*)'$", re.MULTILINE)
VERDICT = re.compile(
    r"^    '(.*)' with a probability of ([\d.]+)% is (?:right|wrong: it is '(.*)')$", re.MULTILINE
)


@pytest.fixture(scope="module")
def page() -> str:
    return ok("demo")


def part(page: str, name: str) -> str:
    """Return what the page says of one of the tables."""
    return page.partition(f"\n{TITLES[name]}")[2].partition("\n\nMeas")[0].partition("\nAll of")[0]


@cache
def learned(name: str) -> tuple[NaiveBayes, Any, Any, Any]:
    """Fit the rows that are not held out, as a user would; and return those that are."""
    data = getattr(datasets, f"load_{name}")()
    x = {str(c): data.data[:, j] for j, c in enumerate(data.feature_names)}
    y = np.array([str(c) for c in data.target_names])[data.target]
    aside = held_out(len(y), 0.25, 0)
    nb = NaiveBayes().fit({c: v[~aside] for c, v in x.items()}, y[~aside])
    return nb, {c: v[aside] for c, v in x.items()}, y[aside], y[~aside]


def of_line(text: str, begin: str) -> list[float]:
    """Return the three scores of the line that begins so."""
    (line,) = (line for line in text.splitlines() if line.strip().startswith(begin))
    return [float(number) for number in line.split()[-3:]]


def calibration_error(p: Any, right: Any) -> float:
    """Compute the expected calibration error by its definition, with 15 bins."""
    confidence, hit = p.max(axis=1), p.argmax(axis=1) == right
    total = 0.0
    for b in range(15):
        inside = (confidence >= b / 15) & ((confidence < (b + 1) / 15) | (b == 14))
        total += abs(confidence[inside].sum() - hit[inside].sum())
    return total / len(right)


@pytest.mark.slow
@pytest.mark.parametrize("name", TITLES)
def test_scores_are_those_of_naive_bayes_as_a_user_calls_it(page: str, name: str) -> None:
    nb, x, y, _ = learned(name)
    p = nb.predict_proba(x)
    expected = [
        accuracy_score(y, nb.predict(x)),
        log_loss(y, p, labels=nb.classes_),
        calibration_error(p, np.searchsorted(nb.classes_, y)),
    ]
    np.testing.assert_allclose(of_line(part(page, name), "NaiveBayes()"), expected, atol=6e-4)


@pytest.mark.parametrize("name", TITLES)
def test_beside_them_are_those_of_the_majority_class(page: str, name: str) -> None:
    nb, _, y, learned_y = learned(name)
    labels, count = np.unique(y, return_counts=True)
    majority = labels[count.argmax()]
    dummy = DummyClassifier(strategy="prior").fit(learned_y, learned_y)
    expected = [
        (y == majority).mean(),
        log_loss(y, dummy.predict_proba(y), labels=nb.classes_),
        abs((y == majority).mean() - (learned_y == majority).mean()),
    ]
    found = of_line(part(page, name), f"always '{majority}'")
    np.testing.assert_allclose(found, expected, atol=6e-4)


def test_the_default_classifier_is_well_ahead_of_the_majority(page: str) -> None:
    accuracy, loss, error = of_line(page.partition("Texts:")[2].partition("Meas")[0], "NaiveB")
    assert accuracy > 0.93
    assert loss < 0.25
    assert error < 0.04


@pytest.mark.parametrize("name", ["breast_cancer"])
def test_one_right_and_one_wrong_answer_are_explained(page: str, name: str) -> None:
    nb, x, y, _ = learned(name)
    p, answer = nb.predict_proba(x), nb.predict(x)
    verdicts = list(VERDICT.finditer(part(page, name)))
    assert len(verdicts) == 2
    for verdict, hit in zip(verdicts, (True, False), strict=True):
        i = np.flatnonzero((answer == y) == hit)[0]
        shown, sure, right = verdict.groups()
        assert (shown, right) == (answer[i], None if hit else y[i])
        assert float(sure) == pytest.approx(100 * p[i].max(), abs=0.06)


def test_every_explanation_adds_up(page: str) -> None:
    found = 0
    for block in page.split("explained\n")[1:]:
        match = ODDS.search(block)
        assert match is not None
        weights = re.findall(r"^ +([+-][\d.]+)  \S", block[: match.start()], re.MULTILINE)
        assert 5 < len(weights) <= 8
        assert sum(map(float, weights)) == pytest.approx(float(match[1]), abs=0.005 * 9)
        found += 1
    assert found in (5, 6)  # of wine no answer may be wrong
    assert (found == 5) == ("None of these 44 answers is wrong." in page)


def test_steps_are_timed_and_columns_named(page: str) -> None:
    assert len(re.findall(r"rows of \d+ classes$", page, re.MULTILINE)) == 3
    timed = r"learned in [\d.]+ s, [\d,]+ held out and scored in [\d.]+ s"
    assert len(re.findall(timed, page)) == 3
    assert "All of this took" in page
    assert page.count("What the columns were taken for") == 3
    assert "30 columns of numbers: mean radius, mean texture" in page
    assert re.search(r"texts: [\d.]+ words, [\d.]+ word 2-grams", page)


def test_in_a_pipe_it_is_plain_and_narrow(page: str) -> None:
    assert "\x1b" not in page
    assert "np." not in page
    assert max(map(len, page.splitlines())) <= 80


@pytest.mark.slow
def test_in_a_terminal_of_80_columns_no_line_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    (tmp_path / "things.csv").write_text(ROWS)
    monkeypatch.chdir(tmp_path)
    shown = in_terminal("demo", "things.csv", "-t", "kind")
    assert "\x1b[1m" in shown  # bold
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown).replace("\r", "")
    assert re.search(r"^  NaiveBayes\(\)  +[\d.]+ +[\d.]+ +[\d.]+$", plain, re.MULTILINE)
    assert "\n  python -m naively train things.csv --target kind -o my.naively\n" in plain
    assert max(map(len, plain.splitlines())) <= 80


def in_terminal(*arguments: str) -> str:
    import pty
    import subprocess

    lead, follow = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [sys.executable, "-m", "naively", *arguments],
        stdout=follow, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=environment,
    ) as process:  # fmt: skip
        os.close(follow)
        shown = b""
        try:
            while some := os.read(lead, 10_000):
                shown += some
        except OSError:  # how Linux says that the other end is closed
            pass
        assert process.wait() == 0
    os.close(lead)
    return shown.decode()


@pytest.mark.slow
def test_on_your_own_file_the_commands_that_it_names_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "my things.csv"
    file.write_text(ROWS)
    page = ok("demo", file, "--target", "kind")
    assert "my things.csv: predicting kind" in page
    assert "6 rows of 2 classes" in page
    assert "colour  categorical" in page
    monkeypatch.chdir(tmp_path)
    prefix = "  python -m naively "
    commands = [line.removeprefix(prefix) for line in page.splitlines() if line.startswith(prefix)]
    assert [command.split()[0] for command in commands] == ["train", "predict", "explain"]
    for command in commands:
        ok(*shlex.split(command.replace("NEW_FILE", shlex.quote(str(file)))))


def test_of_a_rare_class_it_prints_the_recall(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    fraud = rng.random(2000) < 0.04
    x, kind = rng.normal(size=2000) + 2 * fraud, np.where(fraud, "fraud", "fine")
    path = tmp_path / "x.csv"
    path.write_text("x,kind\n" + "".join(f"{a},{b}\n" for a, b in zip(x, kind, strict=True)))
    page = ok("demo", path, "--target", "kind")
    aside = held_out(2000, 0.25, 0)
    nb = NaiveBayes().fit({"x": x[~aside]}, kind[~aside])
    there, p = fraud[aside], nb.predict_proba({"x": x[aside]})
    page = page.partition("x.csv: predicting kind")[2]
    recall, loss, _ = of_line(page, "NaiveBayes() ")
    assert recall == pytest.approx((p[there].argmax(axis=1) == 1).mean(), abs=6e-4)
    before = of_line(page, "always 'fine'")[1]
    assert "recall of 'fraud'" in page
    (share,) = re.findall(r"^  (\d+)% of the uncertainty", page, re.MULTILINE)
    assert int(share) == pytest.approx(100 * (1 - loss / before), abs=2)
    assert "--cost" in page


def test_a_folder_of_texts_needs_no_target(tmp_path: Path) -> None:
    for kind, word in (("ham", "lunch"), ("spam", "pills")):
        (tmp_path / kind).mkdir()
        for i in range(4):
            (tmp_path / kind / f"{i}.txt").write_text(f"{word} number {i} of these many texts")
    assert "8 rows of 2 classes" in ok("demo", tmp_path)


@pytest.mark.slow
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,y\n1,u\n2,\n3,u\n4,v\n")
    assert "Say --target COLUMN" in run("demo", path).stderr.decode()
    assert b"Row 1 has no label" in run("demo", path, "-t", "y").stderr
    path.write_text("a,y\n1,u\n")
    assert b"1 rows are too few" in (done := run("demo", path, "-t", "y")).stderr
    assert done.returncode == 2
    assert "no such" in sentence("demo", tmp_path / "no such.csv", "-t", "y")


@pytest.mark.parametrize(
    ("called", "found", "shown"),
    [
        ("/bin/naively", "/bin/naively", "naively"),
        (".venv/bin/naively", None, ".venv/bin/naively"),
        ("/a b/naively", "/bin/naively", "'/a b/naively'"),
        ("/x/naively/__main__.py", None, "python -m naively"),
    ],
)
def test_commands_are_named_as_the_shell_finds_them(
    monkeypatch: pytest.MonkeyPatch, called: str, found: str | None, shown: str
) -> None:
    monkeypatch.setattr(sys, "argv", [called])
    monkeypatch.setattr("shutil.which", lambda _: found)
    assert demo._own_name() == shown
