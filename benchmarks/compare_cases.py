"""What is measured of a commit: run by the Python of its environment, as ``cases.py NAME``.

Only what both commits have can be called here, so that this file imports nothing of the benchmarks.
A process has one case. It makes its data, runs the case once, and prints how many megabytes that
took; then it runs the case once more for each line that it reads, and prints the seconds.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Run = Callable[[], Any]
LETTERS = np.array([*"abcdefghijklmnopqrstuvwxyz"])


class Case(NamedTuple):
    """What is measured: its set-up in a folder returns what is run."""

    name: str
    clock: Callable[[], float]  # CPU time of one thread, or what a clock on the wall says
    setup: Callable[[Path], Run]


CASES: dict[str, Case] = {}


def case(name: str, clock: Callable[[], float] = time.process_time) -> Any:
    """Register the set-up of a case."""

    def register(setup: Callable[[Path], Run]) -> Callable[[Path], Run]:
        CASES[name] = Case(name, clock, setup)
        return setup

    return register


# --- Data -----------------------------------------------------------------------------------------


def texts(n: int, words: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Return n texts of so many words on average, of four classes, and their labels.

    A word of rank r comes as often as 1 / (r + 10), as in English, and the classes rank them apart.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 12, 40_000)
    letters = "".join(rng.choice(LETTERS, lengths.sum()))
    ends = np.cumsum(lengths)
    vocabulary = np.array(
        [letters[e - size : e] for e, size in zip(ends, lengths, strict=True)], object
    )
    share = 1 / (np.arange(len(vocabulary)) + 10)
    ranks = [np.arange(len(vocabulary))]
    ranks += [np.argsort(ranks[0] * rng.lognormal(0.0, 0.3, len(vocabulary))) for _ in range(3)]
    y = rng.integers(4, size=n)
    sizes = rng.poisson(words, n) + 1
    drawn = rng.choice(len(vocabulary), sizes.sum(), p=share / share.sum())
    found = [
        " ".join(vocabulary[ranks[c][of]])
        for c, of in zip(y, np.split(drawn, np.cumsum(sizes)[:-1]), strict=True)
    ]
    return found, [f"class {c}" for c in y]


def numbers(n: int, columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of three classes, and their labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return rng.normal(rng.normal(0, 0.5, (3, columns))[y], 1.0), y


def many_classes(n: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return five columns of numbers of k classes, and their labels, each of which comes."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(k), rng.integers(k, size=n - k))
    return rng.normal(rng.normal(0, 3, (k, 5))[y], 1.0), y


def strings(n: int, columns: int, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return columns of 5 to 60 strings each, and labels of two classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    found = {}
    for j in range(columns):
        levels = np.array([f"level {i} of {j}" for i in range(int(rng.integers(5, 61)))], object)
        p = rng.dirichlet(np.full(len(levels), 2.0), 2)
        drawn = np.where(y, *(rng.choice(len(levels), n, p=p[c]) for c in (1, 0)))
        found[f"c{j}"] = levels[drawn]
    return found, np.array(["no", "yes"], object)[y]


def mixed(n: int, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Return a frame of numbers and strings with a few missing cells, and labels."""
    import pandas as pd

    x, _ = numbers(n, 6, seed)
    columns, y = strings(n, 6, seed)
    x += (y == "yes")[:, None] * 0.4
    x[np.random.default_rng(seed).random(x.shape) < 0.02] = np.nan
    return pd.DataFrame({f"x{j}": x[:, j] for j in range(6)} | columns), y


def fourteen(n: int) -> tuple[Any, np.ndarray]:
    """Return a frame of seven columns of numbers and seven of strings, and labels."""
    import pandas as pd

    x, _ = numbers(n, 7)
    columns, y = strings(n, 7)
    x += (y == "yes")[:, None] * 0.4
    return pd.DataFrame({f"x{j}": x[:, j] for j in range(7)} | columns), y


def learned_texts() -> tuple[Any, list[str], list[str]]:
    """Return a model of 11,000 texts of two classes by default blocks, the texts, and labels."""
    from naively import NaiveBayes

    X, y = texts(11_000, 200)
    y = ["spam" if label == "class 0" else "ham" for label in y]
    nb = NaiveBayes().fit(X, y)
    nb.predict(X[:1])
    return nb, X, y


def command(*arguments: object, given: bytes = b"") -> None:
    """Run naively's command line."""
    subprocess.run(
        [Path(sys.executable).with_name("naively"), *map(str, arguments)],
        input=given,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
    )


def learned_mail(folder: Path) -> list[Path]:
    """Make mail and a model of it, ``m.naively``; return the files of good mail."""
    X, y = texts(2_000, 150)
    for i, (text, label) in enumerate(zip(X, y, strict=True)):
        of = folder / "mail" / ("spam" if label == "class 0" else "ham")
        of.mkdir(parents=True, exist_ok=True)
        (of / str(i)).write_text(f"Subject: {text[:30]}\n\n{text}\n")
    command(*mail_verb("learn"), folder / "m.naively", folder / "mail")
    return sorted((folder / "mail" / "ham").iterdir())


def mail_verb(verb: str) -> list[str]:
    """Return how a verb of the mail filter is called; before there was `mail`, it stood alone."""
    from naively.wings.mail import command

    return ["mail", verb] if hasattr(command, "HELP") else [verb]


# --- What is measured -----------------------------------------------------------------------------


@case("pure words, 16 MB: fit")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = texts(9_000, 250)
    return lambda: NaiveBayes(weights=None).fit(X, y)


@case("pure words, 16 MB: predict_proba")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = texts(9_000, 250)
    nb = NaiveBayes(weights=None).fit(X, y)
    return lambda: nb.predict_proba(X)


@case("default texts, 3 MB: fit, on two threads", time.perf_counter)
def _(_: Path) -> Run:
    import naively

    naively.set_threads(2)
    X, y = texts(3_000, 150)
    return lambda: naively.NaiveBayes().fit(X, y)


@case("default texts, 30 MB: fit, on two threads, whose memory counts", time.perf_counter)
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = texts(20_000, 200)
    return lambda: NaiveBayes().fit(X, y)


@case("Gaussian, 300,000 x 20: fit and predict_proba")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = numbers(300_000, 20)
    return lambda: NaiveBayes("gaussian", weights=None).fit(X, y).predict_proba(X)


@case("categories, 200,000 x 10 of pandas: fit and predict_proba")
def _(_: Path) -> Run:
    import pandas as pd

    from naively import NaiveBayes

    columns, y = strings(200_000, 10)
    X = pd.DataFrame(columns).astype("category")
    return lambda: NaiveBayes(weights=None).fit(X, y).predict_proba(X)


@case("strings, 200,000 x 10 of Polars: fit")
def _(_: Path) -> Run:
    import polars as pl

    from naively import NaiveBayes

    columns, y = strings(200_000, 10)
    X, labels = pl.DataFrame({k: v.tolist() for k, v in columns.items()}), pl.Series(y.tolist())
    return lambda: NaiveBayes(weights=None).fit(X, labels)


@case("strings, 200,000 x 10 of Polars: predict_proba")
def _(_: Path) -> Run:
    import polars as pl

    from naively import NaiveBayes

    columns, y = strings(200_000, 10)
    X, labels = pl.DataFrame({k: v.tolist() for k, v in columns.items()}), pl.Series(y.tolist())
    nb = NaiveBayes(weights=None).fit(X, labels)
    return lambda: nb.predict_proba(X)


@case("default table, 20,000 x 12: fit")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = mixed(20_000)
    return lambda: NaiveBayes().fit(X, y)


@case("default table, 20,000 x 12: one row, predict_proba")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = mixed(20_000)
    nb, one = NaiveBayes().fit(X, y), X[:1]
    return lambda: [nb.predict_proba(one) for _ in range(20)]


@case("default table, 20,000 x 12: fit, and assess")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = mixed(20_000)
    return lambda: NaiveBayes().fit(X, y).assess()


@case("5,000 classes, 10,000 x 5: fit")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = many_classes(10_000, 5_000)
    return lambda: NaiveBayes().fit(X, y)


@case("2,000 Gaussian classes, 10,000 x 5: fit")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = many_classes(10_000, 2_000)
    return lambda: NaiveBayes("gaussian").fit(X, y)


@case("difference of 800 classes")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = many_classes(10_000, 800)
    nb, less = NaiveBayes().fit(X, y), NaiveBayes().fit(X[::2], y[::2])
    return lambda: nb.inspect.difference(less)


@case("curves of many classes, 10,000 x 5 of 800")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = many_classes(10_000, 800)
    nb = NaiveBayes().fit(X, y)
    return lambda: (nb.curve.smoothing(), nb.curve.learning(X, y))


@case("table, 5,000 x 12: fit with interactions")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = mixed(5_000)
    return lambda: NaiveBayes(interactions="auto").fit(X, y)


@case("CSV, 100,000 x 12: naively train, and assess", time.perf_counter)
def _(folder: Path) -> Run:
    X, y = mixed(100_000)
    X.assign(y=y).to_csv(folder / "data.csv", index=False)
    return lambda: command("train", folder / "data.csv", "-t", "y", "-o", folder / "m.naively")


@case("JSON lines of texts, 60 MB: naively train", time.perf_counter)
def _(folder: Path) -> Run:
    rows = zip(*texts(40_000, 200), strict=True)
    lines = (json.dumps({"text": text, "y": label}) for text, label in rows)
    (folder / "data.jsonl").write_text("\n".join(lines))
    return lambda: command("train", folder / "data.jsonl", "-t", "y", "-o", folder / "m.naively")


@case("one mail: naively filter", time.perf_counter)
def _(folder: Path) -> Run:
    one = learned_mail(folder)[0].read_bytes()
    return lambda: [
        command(*mail_verb("filter"), folder / "m.naively", given=one) for _ in range(3)
    ]


@case("300 mails: their verdicts")
def _(folder: Path) -> Run:
    from naively.wings.mail.message import read_message
    from naively.wings.mail.score import Verdict, words_of
    from naively.wings.mail.table import open_table

    raws = [file.read_bytes() for file in learned_mail(folder)[:300]]
    try:  # weights are kept from message to message
        from naively.wings.mail.score import WordWeights as Weights
    except ImportError:
        Weights = list

    def run() -> None:
        table = open_table(str(folder / "m.naively"))
        weights = table if Weights is list else Weights(table)
        for raw in raws:
            Verdict(weights, words_of(read_message(raw)))

    return run


@case("partial_fit of one text into a large model")
def _(_: Path) -> Run:
    nb, X, y = learned_texts()
    return lambda: [nb.partial_fit(X[i : i + 1], y[i : i + 1]) for i in range(20)]


@case("partial_fit and predict of one text in turn")
def _(_: Path) -> Run:
    nb, X, y = learned_texts()

    def run() -> None:
        for i in range(10):
            nb.partial_fit(X[i : i + 1], y[i : i + 1]).predict(X[i : i + 1])

    return run


@case("forget of one text, of a large model")
def _(_: Path) -> Run:
    nb, X, y = learned_texts()

    def run() -> None:
        for i in range(10):
            nb.partial_fit(X[i : i + 1], y[i : i + 1]).forget(X[i : i + 1], y[i : i + 1])

    return run


@case("partial_fit and predict of one row of a table in turn")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = mixed(20_000)
    nb, one = NaiveBayes().fit(X, y), X[:1]
    return lambda: [nb.partial_fit(one, y[:1]).predict(one) for _ in range(20)]


@case("one row, predict_proba 200 times: array")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = numbers(20_000, 4)
    nb, one = NaiveBayes("gaussian", weights=None).fit(X, y), X[:1]
    return lambda: [nb.predict_proba(one) for _ in range(200)]


@case("one row, predict_proba 200 times: dict of 14 columns")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = fourteen(20_000)
    nb, one = NaiveBayes().fit(X, y), X.iloc[0].to_dict()
    return lambda: [nb.predict_proba(one) for _ in range(200)]


@case("one row, predict_proba 200 times: frame of 14 columns")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = fourteen(20_000)
    nb, one = NaiveBayes().fit(X, y), X[:1]
    return lambda: [nb.predict_proba(one) for _ in range(200)]


@case("one row, predict_proba 200 times: text")
def _(_: Path) -> Run:
    from naively import NaiveBayes

    X, y = texts(3_000, 150)
    nb = NaiveBayes().fit(X, y)
    return lambda: [nb.predict_proba(X[:1]) for _ in range(200)]


@case("start-up: import naively and NaiveBayes", time.perf_counter)
def _(_: Path) -> Run:
    line = [sys.executable, "-I", "-c", "from naively import NaiveBayes"]
    return lambda: [subprocess.run(line, check=True) for _ in range(3)]


@case("start-up: load a model and predict one text", time.perf_counter)
def _(folder: Path) -> Run:
    from naively import NaiveBayes

    NaiveBayes().fit(*texts(40, 20)).save(folder / "m.naively")
    code = "import sys; from naively import load; load(sys.argv[1]).predict(['one text'])"
    line = [sys.executable, "-I", "-c", code, str(folder / "m.naively")]
    return lambda: [subprocess.run(line, check=True) for _ in range(3)]


@case("start-up: train on four rows and predict them", time.perf_counter)
def _(folder: Path) -> Run:
    data, model = folder / "four.csv", folder / "m.naively"
    data.write_text("a,b,y\n1,2,x\n2,3,x\n7,8,z\n8,7,z\n")
    return lambda: [
        command("train", data, "--target", "y", "--output", model),
        command("predict", model, data),
    ]


# --- The process ----------------------------------------------------------------------------------


def memory(what: str) -> float:
    """Return what the system says of the memory of this process, in MB; NaN where it does not."""
    try:
        found = re.search(rf"{what}:\s*(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        return float("nan")
    return float("nan") if found is None else int(found[1]) / 1e3


def peak(run: Run) -> float:
    """Run, and return how many MB that took at most, above what was taken before."""
    if os.access("/proc/self/clear_refs", os.W_OK):
        Path("/proc/self/clear_refs").write_text("5")  # the peak is from here on
    before, children = memory("VmRSS"), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return after / 1e3 if after > children else memory("VmHWM") - before


def main(name: str) -> None:
    """Run a case each time that a line comes."""
    import naively

    chosen = CASES[name]
    if chosen.clock is time.process_time:
        naively.set_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        run = chosen.setup(Path(folder))
        print(json.dumps(peak(run)), flush=True)
        for _ in sys.stdin:
            begin = chosen.clock()
            found = run()
            print(json.dumps(chosen.clock() - begin), flush=True)
            del found


if __name__ == "__main__":
    main(sys.argv[1])
