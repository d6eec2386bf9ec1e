"""The mail filter, beside bogofilter and SpamAssassin's Bayes: ``python -m benchmarks.mail``.

These are left out where they are not installed. Accuracy by cross-validation on real mail; the time
of one message, with a model of 200,000 words, against that of starting Python; the time to learn,
and to filter many messages at once.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from naively.wings.mail.mailbox import read_labelled
from naively.wings.mail.message import read_message
from naively.wings.mail.score import Verdict, fit_temperature, leave_one_out_histogram, words_of
from naively.wings.mail.table import TEMPERATURE, MailTable, open_table

FOLDS = 5
WORDS = 160_000  # more, which makes 200,000 with those of the mail
SAMPLE = 2000
MANY = 1000  # messages that are filtered at once
BOGOFILTER = shutil.which("bogofilter")
SPAMASSASSIN_RULES = """\
loadplugin Mail::SpamAssassin::Plugin::Check
loadplugin Mail::SpamAssassin::Plugin::Bayes
use_bayes 1
bayes_auto_learn 0
bayes_path {path}
clear_headers
add_header all Bayes _BAYES_
report_safe 0
body BAYES_ANY eval:check_bayes('0.00', '1.00')
score BAYES_ANY 0.1
"""

Example = tuple[list[str], int]
Record = dict[str, str]


class Peer(Protocol):
    """Another filter."""

    def learn(self, database: Path, c: int, names: Sequence[str]) -> None:
        """Learn the messages of a class."""

    def score(self, database: Path, names: Sequence[str]) -> dict[str, float]:
        """Return the probability of spam of each message."""


def main() -> None:
    folder = os.environ.get("NAIVELY_DATA")
    if not folder:
        sys.exit("NAIVELY_DATA is not set: no mail to measure on")
    with tempfile.TemporaryDirectory() as scratch:
        mail = Path(scratch, "mail")
        with tarfile.open(Path(folder, "mail", "spamassassin.tar.gz")) as archive:
            archive.extractall(mail, filter="data")
        texts = Path(folder, "text", "enron_spam.jsonl.gz")
        accuracy("SpamAssassin", list(words_and_class(read_labelled(mail))))
        if BOGOFILTER:
            accuracy_of_peer("bogofilter", mail, Path(scratch, "bogofilter"), Bogofilter())
        if shutil.which("sa-learn") and shutil.which("spamassassin"):
            accuracy_of_peer("its own Bayes", mail, Path(scratch, "bayes"), SpamAssassin())
        accuracy("Enron (subject and text)", list(words_and_class(enron(texts))))
        time_of_learning(mail, Path(scratch))
        time_of_one(mail, texts, Path(scratch))
        time_of_many(mail, Path(scratch))


def accuracy(name: str, examples: list[Example]) -> None:
    """Cross-validate the filter; the temperature is fitted on a sample of what was learned."""
    random.Random(0).shuffle(examples)
    found = []
    for fold in range(FOLDS):
        train = [example for i, example in enumerate(examples) if i % FOLDS != fold]
        counts: dict[str, list[int]] = {}
        for words, c in train:
            for word in words:
                counts.setdefault(word, [0, 0])[c] += 1
        spam = sum(c for _, c in train)
        table = MailTable.empty().add(counts, (len(train) - spam, spam))
        fitted = fit_temperature(leave_one_out_histogram(table, train[:SAMPLE]), table.messages)
        table = table.with_temperature(fitted or TEMPERATURE)
        found += [(Verdict(table, words).probability, c) for words, c in examples[fold::FOLDS]]
    _print_scores(f"{name}, naively", found)


def accuracy_of_peer(name: str, mail: Path, database: Path, peer: Peer) -> None:
    """Cross-validate another filter in the same way, at the threshold of one half."""
    files = [(str(f), int(f.parent.name == "spam")) for f in sorted(mail.glob("*/*"))]
    random.Random(0).shuffle(files)
    found = []
    for fold in range(FOLDS):
        shutil.rmtree(database, ignore_errors=True)
        database.mkdir()
        train = [file for i, file in enumerate(files) if i % FOLDS != fold]
        for c in range(2):
            peer.learn(database, c, [name for name, label in train if label == c])
        test = files[fold::FOLDS]
        p = peer.score(database, [name for name, _ in test])
        found += [(p[name], c) for name, c in test]
    _print_scores(f"SpamAssassin, {name}", found)


class Bogofilter:
    """Learns and scores by bogofilter as it is installed."""

    def learn(self, database: Path, c: int, names: Sequence[str]) -> None:
        """Learn the messages of a class."""
        _bogofilter(database, [("-n", "-s")[c]], names)

    def score(self, database: Path, names: Sequence[str]) -> dict[str, float]:
        """Return the probability of spam of each message."""
        lines = _bogofilter(database, ["-T"], names).splitlines()
        return {line.split()[0]: float(line.split()[-1]) for line in lines}


class SpamAssassin:
    """Learns and scores by the Bayes of SpamAssassin, without its rules and a network."""

    def learn(self, database: Path, c: int, names: Sequence[str]) -> None:
        """Learn the messages of a class."""
        folder = database / "site"
        folder.mkdir(exist_ok=True)
        text = SPAMASSASSIN_RULES.format(path=database / "bayes")
        (folder / "bayes.cf").write_text(text)
        listed = database / "listed"
        listed.write_text("".join(f"{name}\n" for name in names))
        self._run("sa-learn", database, [("--ham", "--spam")[c], "-f", str(listed)])

    def score(self, database: Path, names: Sequence[str]) -> dict[str, float]:
        """Return the probability of spam of each message, which come back in any order."""
        mails = []
        for i, name in enumerate(names):
            lines = Path(name).read_bytes().splitlines()
            kept = [b">" + line if line.startswith(b"From ") else line for line in lines]
            head = b"From x@example.org Thu Jan  1 00:00:00 2026\nX-Bench: %d\n" % i
            mails.append(head + b"\n".join(kept[lines[:1] != kept[:1] :]) + b"\n\n")
        out = self._run("spamassassin", database, ["--mbox"], b"".join(mails))
        found = re.findall(
            rb"^X-Spam-Bayes: ([\d.]+)$(?:.|\n)*?^X-Bench: (\d+)$", out, re.MULTILINE
        )
        p = {names[int(i)]: float(p) for p, i in found}
        return {name: p.get(name, 0.5) for name in names}

    def _run(self, program: str, database: Path, options: list[str], mail: bytes = b"") -> bytes:
        where = ["--siteconfigpath", database / "site", "--configpath", database / "site"]
        command = [program, "-L", *where, "-p", database / "site" / "bayes.cf", *options]
        return subprocess.run(command, input=mail, capture_output=True, check=False).stdout


def time_of_learning(mail: Path, scratch: Path) -> None:
    """Learn all mail in one go, and one message more."""
    model = scratch / "learned.naively"
    one = next(mail.glob("spam/*"))
    size = sum(f.stat().st_size for f in mail.glob("*/*")) / 1e6
    begin = time.perf_counter()
    subprocess.run([*_naively("learn"), model, mail], check=True)
    print(f"learn {size:.1f} MB of mail: {time.perf_counter() - begin:.1f} s")
    again = [*_naively("learn"), model, "--as", "spam", one]
    seconds = _times({"learn": again}, b"", rounds=5)
    words = len(open_table(str(model)))
    print(f"learn one message more ({words:,} words): {_shown(seconds['learn'])}")


def time_of_one(mail: Path, texts: Path, scratch: Path) -> None:
    """Filter one message of median size, interleaved with starting Python, and bogofilter."""
    model = scratch / "large.naively"
    table = open_table(str(scratch / "learned.naively"))
    counts: dict[str, list[int]] = {}
    messages = [0, 0]
    for words, c in words_and_class(enron(texts)):
        messages[c] += 1
        for word in words:
            counts.setdefault(word, [0, 0])[c] += 1
        if len(counts) > WORDS:
            break
    model.write_bytes(table.add(counts, messages).to_bytes())
    print(f"model of {len(open_table(str(model))):,} words, {model.stat().st_size / 1e6:.1f} MB")
    by_kind: dict[bool, list[Path]] = {False: [], True: []}
    for file in mail.glob("spam/*"):
        by_kind[b"text/html" in file.read_bytes().lower()].append(file)
    for is_html, files in by_kind.items():
        files.sort(key=lambda file: file.stat().st_size)
        raw = files[len(files) // 2].read_bytes()
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "naively filter": [*_naively("filter"), model],
        }
        if BOGOFILTER:
            commands["bogofilter -p"] = [BOGOFILTER, "-d", scratch / "bogofilter", "-p"]
        seconds = _times(commands, raw, rounds=40)
        print(f"one message of {len(raw):,} bytes, {'HTML' if is_html else 'plain'}:")
        for name in commands:
            pairs = zip(seconds[name], seconds["python -c pass"], strict=True)
            ratio = statistics.median(ours / bare for ours, bare in pairs)
            print(f"  {name:<16} {_shown(seconds[name])}  {ratio:5.2f} times python -c pass")


def time_of_many(mail: Path, scratch: Path) -> None:
    """Filter a thousand messages at once, interleaved with bogofilter."""
    few = scratch / "few"
    few.mkdir()
    for file in random.Random(0).sample(sorted(mail.glob("*/*")), MANY):
        shutil.copy(file, few)
    commands: dict[str, list[str | Path]] = {
        "naively filter": [*_naively("filter"), scratch / "learned.naively", few]
    }
    if BOGOFILTER:
        commands["bogofilter -b"] = [BOGOFILTER, "-d", scratch / "bogofilter", "-T", "-b"]
    listed = "\n".join(map(str, few.iterdir())).encode()
    seconds = _times(commands, listed, rounds=5)
    for name in commands:
        print(f"{MANY:,} messages at once, {name}: {_shown(seconds[name])}")


def words_and_class(mails: Iterator[tuple[bytes, str]]) -> Iterator[Example]:
    return ((words_of(read_message(raw)), int(label == "spam")) for raw, label in mails)


def enron(path: Path) -> Iterator[tuple[bytes, str]]:
    """Iterate over messages made of a subject and a text."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from (as_mail(json.loads(line)) for line in lines)


def as_mail(record: Record) -> tuple[bytes, str]:
    """Return a record as a message, and its class."""
    subject = " ".join(record["subject"].split())
    return f"Subject: {subject}\n\n{record['text']}".encode(), record["label"]


def _naively(verb: str) -> list[str | Path]:
    return [Path(sys.executable).with_name("naively"), "mail", verb]


def _bogofilter(database: Path, options: Sequence[str], names: Sequence[str]) -> str:
    command = [str(BOGOFILTER), "-d", database, *options, "-b"]
    listed = "\n".join(names)
    return subprocess.run(command, input=listed, capture_output=True, text=True, check=False).stdout


def _times(
    commands: dict[str, list[str | Path]], message: bytes, rounds: int
) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for round_ in range(rounds + 1):
        for name, command in commands.items():
            begin = time.perf_counter()
            subprocess.run(command, input=message, capture_output=True, check=False)
            if round_:
                seconds[name].append(time.perf_counter() - begin)
    return seconds


def _print_scores(name: str, found: Sequence[tuple[float, int]]) -> None:
    n = len(found)
    right = sum((p > 0.5) == c for p, c in found)
    loss = -sum(math.log(max(p if c else 1 - p, 1e-15)) for p, c in found) / n
    bins: dict[int, list[float]] = {}
    for p, c in found:  # the calibration error of the class that is answered, in 15 bins
        confidence = max(p, 1 - p)
        gap = bins.setdefault(min(int(15 * confidence), 14), [0.0])
        gap[0] += confidence - ((p > 0.5) == c)
    error = sum(abs(gap[0]) for gap in bins.values()) / n
    lost = sum(p > 0.5 and not c for p, c in found) / sum(not c for _, c in found)
    print(
        f"{name:<36} {n:,} messages: accuracy {right / n:.4f}, log loss {loss:.4f}, "
        f"calibration error {error:.4f}, ham taken for spam {lost:.4f}",
        flush=True,
    )


def _shown(seconds: Sequence[float]) -> str:
    return f"{1e3 * statistics.median(seconds):6.1f} ms (least {1e3 * min(seconds):.1f})"


if __name__ == "__main__":
    main()
