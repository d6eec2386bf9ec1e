"""About a gigabyte of JSON lines, learned with the default blocks, beside scikit-learn in batches.

The file repeats Enron, and in each copy every seventh word is another one, so that the vocabulary
grows as it does in real text. It is written where TMPDIR says, and removed.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.data.process import Cost
from benchmarks.speed.alone import alone
from benchmarks.speed.beside import Row, say
from benchmarks.speed.setting import Setting

FIT = """
import sys, duckdb
from naively import NaiveBayes
with duckdb.connect(config={"threads": 1}) as connection:
    NaiveBayes().fit(connection.read_json(sys.argv[1]), "label")
"""
BATCHES = """
import itertools, json, sys
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.naive_bayes import MultinomialNB
words, nb = HashingVectorizer(alternate_sign=False, norm=None), MultinomialNB()
with open(sys.argv[1], encoding="utf-8") as lines:
    while some := [json.loads(line) for line in itertools.islice(lines, 10_000)]:
        X = words.transform([one["text"] for one in some])
        nb.partial_fit(X, [one["label"] for one in some], classes=sys.argv[2:])
"""
STEP = 7


def measure(setting: Setting) -> Sequence[Row]:
    texts, y = setting.texts("enron_spam")
    labels = y.tolist()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mails.jsonl")
        copies = write(path, texts, labels, setting.size(1_000_000_000, 600_000))
        size = f"{path.stat().st_size / 1e9:.2f} GB, {copies * len(texts):,} texts"
        theirs = alone("-c", BATCHES, path, *sorted(set(labels)))
        rows = _beside(f"fit ({size})", alone("-c", FIT, path), theirs)
        command = ("train", str(path), "--target", "label", "--output", str(Path(folder, "m")))
        trained = alone("-m", "naively", *command)
        rows += _beside("naively train, which assesses too", trained, theirs)
    return rows


def _beside(name: str, ours: Cost, theirs: Cost) -> list[Row]:
    peer = "HashingVectorizer, MultinomialNB"
    return [
        say(Row(name, peer, [ours.cpu], [theirs.cpu])),
        say(Row(f"{name}: peak memory", peer, [ours.peak], [theirs.peak], unit="MB", clock="")),
    ]


def write(path: Path, texts: Sequence[str], labels: Sequence[str], size: int) -> int:
    """Write copies until the file is so large, and return how many there are."""
    copy = 0
    with path.open("w", encoding="utf-8") as lines:
        while lines.tell() < size:
            end = "".join(chr(ord("a") + int(digit)) for digit in str(copy))
            for text, label in zip(texts, labels, strict=True):
                words = text.split(" ")
                if copy:
                    at = slice(copy % STEP, None, STEP)
                    words[at] = [word + end for word in words[at]]
                lines.write(json.dumps({"label": label, "text": " ".join(words)}) + "\n")
            copy += 1
    return copy
