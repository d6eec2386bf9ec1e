"""Raw text to a model and to predictions, on one thread: ``python -m benchmarks.text``.

First against CountVectorizer + MultinomialNB, in turn, as ratios of CPU time; then beside other
software, where it is installed, with its accuracy; then the memory that is needed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import naively
from benchmarks.text_peers import PEERS
from benchmarks.timing import Result, compare
from naively import NaiveBayes, Text

SETS = {"sms_spam": ("text",), "enron_spam": ("text",)}
CYRILLIC = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "абцдефгхижклмнопярстувщхызАБЦДЕФГХИЖКЛМНОПЯРСТУВЩХЫЗ",
)
SPLITS = [{}, {"ngram_range": (1, 2)}]
SLOW = 4000  # texts that the slow peers learn


def read(folder: Path, name: str, fields: tuple[str, ...]) -> tuple[list[str], np.ndarray]:
    """Read texts and labels of a set in JSON lines."""
    texts, labels = [], []
    with gzip.open(folder / "text" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            texts.append(" ".join(record[field] or "" for field in fields))
            labels.append(record["label"])
    return texts, np.array(labels)


def words(folder: Path, name: str, rounds: int) -> list[Result]:
    """Fit and predict one set: words, one bag."""
    texts, y = read(folder, name, SETS[name])
    return side_by_side(name, texts, y, {}, rounds)


def side_by_side(
    name: str, texts: list[str], y: np.ndarray, split: dict[str, object], rounds: int
) -> list[Result]:
    """Fit and predict as scikit-learn does, with the same predictions."""
    size = sum(map(len, texts)) / 1e6
    name += "".join(f", {value}" for value in split.values())
    fresh = partial(make_pipeline, CountVectorizer(**split), MultinomialNB())
    ours, peer = _fit(texts, y, split), fresh().fit(texts, y)
    assert (peer.predict(texts) == ours.predict(texts)).all()
    in_turn = partial(compare, rounds=rounds, clock=time.process_time)
    return [
        in_turn(
            f"{name}: text to a model ({size:.1f} MB)",
            lambda: fresh().fit(texts, y),
            lambda: _fit(texts, y, split),
        ),
        in_turn(f"{name}: predict", lambda: peer.predict(texts), lambda: ours.predict(texts)),
        in_turn(
            f"{name}: one text",
            lambda: peer.predict(texts[:1]),
            lambda: ours.predict(texts[:1]),
            repeat=50,
        ),
    ]


def _fit(texts: list[str], y: np.ndarray, split: dict[str, object]) -> NaiveBayes:
    nb = NaiveBayes(Text(**split), weights=None, smoothing=1.0).fit(texts, y)
    _ = nb.model_.likelihoods  # as scikit-learn derives them in fit
    return nb


def beside_peers(texts: list[str], y: np.ndarray) -> None:
    """Train on four fifths and predict the rest."""
    order = np.random.default_rng(0).permutation(len(texts))
    cut = len(texts) * 4 // 5
    print(f"\n{'':<34} {'texts':>7} {'fit s':>9} {'predict s':>10} {'accuracy':>9}")
    for peer in PEERS:
        if (lacking := peer.lacking()) is not None:
            print(f"{peer.name:<34} not measured: {lacking}")
            continue
        train = order[:cut][: SLOW if peer.slow else cut]
        learned = [texts[i] for i in train]
        rest = [texts[i] for i in order[cut:]]
        fit, predict, found = peer.run(learned, y[train].tolist(), rest)
        accuracy = np.mean(np.array(found) == y[order[cut:]])
        print(
            f"{peer.name:<34} {len(train):>7,} {fit:>9.3f} {predict:>10.3f} {accuracy:>9.4f}",
            flush=True,
        )


MEMORY = """
import sys
from pathlib import Path
from benchmarks import text
texts, y = text.read(Path(sys.argv[1]), "enron_spam", ("text",))
split = {"ngram_range": (1, int(sys.argv[3]))}
def fit(texts, y, split):
    if sys.argv[2] == "naively":
        return text._fit(texts, y, split)
    return text.make_pipeline(text.CountVectorizer(**split), text.MultinomialNB()).fit(texts, y)
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
fit(texts[:99], y[:99], split)
Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from what is held now
before = peak()
model = fit(texts, y, split)
print(peak() - before)
"""


def memory(folder: Path) -> None:
    """Print the peak memory of a fit, above the texts themselves (Linux)."""
    if not Path("/proc/self/clear_refs").exists():
        print("peak memory: measured on Linux only")
        return
    print(f"\n{'peak memory of a fit (MB), Enron':<44} {'scikit-learn':>13} {'naively':>10}")
    for high in (1, 2):
        peaks = [
            float(
                subprocess.run(
                    [sys.executable, "-c", MEMORY, str(folder), side, str(high)],
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout
            )
            for side in ("scikit-learn", "naively")
        ]
        what = "words" if high == 1 else "words and bigrams"
        print(f"{what:<44} {peaks[0]:>13.0f} {peaks[1]:>10.0f} {peaks[0] / peaks[1]:>7.1f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder = os.environ.get("NAIVELY_DATA")
    if not folder:
        sys.exit("NAIVELY_DATA is not set: no text to measure on")
    naively.set_threads(1)
    naively.show_config()
    print(f"{'':<44} {'scikit-learn':>13} {'naively':>13} {'ratio':>8}  (range)")
    for name, fields in SETS.items():
        texts, y = read(Path(folder), name, fields)
        for split in SPLITS:
            side_by_side(name, texts, y, split, options.rounds)
    other = [text.translate(CYRILLIC) for text in texts[::4]]
    side_by_side("Enron in Cyrillic letters", other, y[::4], {}, options.rounds)
    some, of = texts[::20], y[::20]
    for analyzer in ("char", "char_wb"):
        split = {"analyzer": analyzer, "ngram_range": (2, 5)}
        side_by_side("a 20th of Enron", some, of, split, options.rounds)
    beside_peers(texts, y)
    memory(Path(folder))


if __name__ == "__main__":
    main()
