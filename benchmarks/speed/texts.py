"""Speed on texts: the defaults, words alone, other learners, and a gigabyte of them."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

import naively
from benchmarks.process import Cost
from benchmarks.speed.alone import alone, memory
from benchmarks.speed.beside import Row, Setting, beside, say
from naively import NaiveBayes, Text

# --- Enron and SMS with the defaults, beside CountVectorizer and MultinomialNB -------------------


PEER = "CountVectorizer, MultinomialNB"


class Fits:
    """Fits both sides and holds the last model of each, to predict with."""

    def __init__(self) -> None:
        self._of: dict[str, Any] = {}

    def ours(self, texts: list[str], y: Any) -> None:
        self._of["ours"] = NaiveBayes().fit(texts, y)

    def theirs(self, texts: list[str], y: Any) -> None:
        self._of["theirs"] = make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, y)

    @property
    def held(self) -> tuple[Any, Any]:
        """Return our model and theirs."""
        return self._of["ours"], self._of["theirs"]


def measure_texts(setting: Setting) -> Sequence[Row]:
    return [
        *_side_by_side("Enron", "enron_spam", setting, min(3, setting.rounds)),
        memory("Enron: peak memory of the fit", "enron", PEER, setting),
        *_side_by_side("SMS", "sms_spam", setting, setting.rounds),
    ]


def _side_by_side(name: str, of: str, setting: Setting, rounds: int) -> list[Row]:
    texts, y = setting.texts(of)
    fits, size = Fits(), sum(map(len, texts)) / 1e6
    rows = beside(
        f"{name}: fit ({len(texts):,} texts, {size:.1f} MB)",
        lambda: fits.ours(texts, y),
        {PEER: lambda: fits.theirs(texts, y)},
        rounds=rounds,
    )
    ours, theirs = fits.held
    return rows + beside(
        f"{name}: predict",
        lambda: ours.predict(texts),
        {PEER: lambda: theirs.predict(texts)},
        rounds=rounds,
    )


# --- Raw texts to words to a pure model: the same model as CountVectorizer + MultinomialNB -------
#
# Words, words and bigrams, another alphabet, character n-grams; both sides predict the same
# classes, which is checked before anything is measured.


CYRILLIC = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "абцдефгхижклмнопярстувщхызАБЦДЕФГХИЖКЛМНОПЯРСТУВЩХЫЗ",
)
SPLITS: list[dict[str, Any]] = [{}, {"ngram_range": (1, 2)}]


def measure_words(setting: Setting) -> Sequence[Row]:
    rounds = min(3, setting.rounds)
    rows: list[Row] = []
    for name, of in (("SMS", "sms_spam"), ("Enron", "enron_spam")):
        texts, y = setting.texts(of)
        for split in SPLITS:
            rows += side_by_side(name, texts, y, split, rounds)
    other = [text.translate(CYRILLIC) for text in texts[::4]]
    rows += side_by_side("Enron in Cyrillic letters", other, y[::4], {}, rounds)
    step = setting.size(20, 2)
    for analyzer in ("char", "char_wb"):
        split = {"analyzer": analyzer, "ngram_range": (2, 5)}
        rows += side_by_side("a 20th of Enron", texts[::step], y[::step], split, rounds)
    rows.append(memory("Enron: peak memory of the fit", "words", PEER, setting))
    return rows


ALIKE = 0.98  # the share of predictions that are the same


def side_by_side(
    name: str, texts: list[str], y: np.ndarray, split: dict[str, Any], rounds: int
) -> list[Row]:
    """Fit and predict as scikit-learn does, with nearly the same predictions: words differ."""
    size = sum(map(len, texts)) / 1e6
    name += "".join(f", {value}" for value in split.values())
    fresh = partial(make_pipeline, CountVectorizer(**split), MultinomialNB())
    ours, theirs = _fit(texts, y, split), fresh().fit(texts, y)
    assert np.mean(theirs.predict(texts) == ours.predict(texts)) > ALIKE
    works = (
        (
            f"{name}: text to a model ({size:.1f} MB)",
            lambda: _fit(texts, y, split),
            lambda: fresh().fit(texts, y),
            1,
        ),
        (f"{name}: predict", lambda: ours.predict(texts), lambda: theirs.predict(texts), 1),
        (
            f"{name}: predict one text",
            lambda: ours.predict(texts[:1]),
            lambda: theirs.predict(texts[:1]),
            20,
        ),
    )
    return [
        row
        for work, a, b, repeat in works
        for row in beside(work, a, {PEER: b}, rounds=rounds, repeat=repeat)
    ]


def _fit(texts: list[str], y: np.ndarray, split: dict[str, Any]) -> NaiveBayes:
    nb = NaiveBayes(Text(**split), weights=None, smoothing=1.0).fit(texts, y)
    _ = nb.model_.terms  # as scikit-learn derives them in fit
    return nb


# --- 20 Newsgroups from the texts to a model, a file and a first prediction, and its memory ------


FIRST = "import sys, naively; naively.load(sys.argv[1]).predict([sys.argv[2]])"
FIRST_OF_PICKLE = (
    "import pickle, sys; file = open(sys.argv[1], 'rb'); pickle.load(file).predict([sys.argv[2]])"
)
TEXT = "The orbit of the shuttle was changed twice before it landed."


def measure_newsgroups(setting: Setting) -> Sequence[Row]:
    train, y = setting.texts("newsgroups20_train")
    test, _ = setting.texts("newsgroups20_test")
    fits, every = Fits(), train + test
    size = sum(map(len, train)) / 1e6
    rows = beside(
        f"fit ({len(train):,} texts, {size:.1f} MB)",
        lambda: fits.ours(train, y),
        {PEER: lambda: fits.theirs(train, y)},
        rounds=min(3, setting.rounds),
    )
    ours, theirs = fits.held
    rows += beside(
        f"predict ({len(every):,} texts, {sum(map(len, every)) / 1e6:.1f} MB)",
        lambda: ours.predict(every),
        {PEER: lambda: theirs.predict(every)},
        rounds=min(3, setting.rounds),
    )
    with tempfile.TemporaryDirectory() as folder:
        rows += _of_files(ours, theirs, Path(folder), setting)
    rows.append(memory("peak memory of the fit", "newsgroups", PEER, setting))
    return rows


def _of_files(ours: Any, theirs: Any, folder: Path, setting: Setting) -> list[Row]:
    """Measure the model file, loading it, and a first prediction."""
    model, pickled = folder / "model.naively", folder / "model.pickle"
    small, their_small = folder / "model.naively.gz", folder / "model.pickle.gz"
    ours.save(model)
    ours.save(small)
    pickled.write_bytes(pickle.dumps(theirs))
    their_small.write_bytes(gzip.compress(pickled.read_bytes(), 6))
    rows = []
    for what, files in {
        "the model's file": (model, pickled),
        "the model's file, compressed": (small, their_small),
    }.items():
        sizes = [[path.stat().st_size / 1e6] for path in files]
        rows.append(say(Row(what, f"{PEER}, pickled", *sizes, unit="MB", clock="")))
    rows += beside(
        "load",
        lambda: naively.load(model),
        {f"{PEER}, pickled": lambda: pickle.loads(pickled.read_bytes())},  # noqa: S301  # written above
        rounds=setting.rounds,
    )
    seconds: tuple[list[float], list[float]] = ([], [])
    alone("-c", FIRST, model, TEXT)  # Python has no bytecode of what was edited since
    for _ in range(min(3, setting.rounds)):
        seconds[0].append(alone("-c", FIRST, model, TEXT).cpu)
        seconds[1].append(alone("-c", FIRST_OF_PICKLE, pickled, TEXT).cpu)
    rows.append(say(Row("start, load and predict one text", f"{PEER}, pickled", *seconds)))
    return rows


# --- Large ---------------------------------------------------------------------------------------
#
# About a gigabyte of JSON lines, learned with the default blocks, beside scikit-learn in batches.
#
# The file repeats Enron, and in each copy every seventh word is another one, so that the
# vocabulary grows as it does in real text. It is written where TMPDIR says, and removed.


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


def measure_large(setting: Setting) -> Sequence[Row]:
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


# --- Other software that learns from text, each with its own defaults; measured where installed ---
#
# All learn four fifths of Enron and predict the rest once, one after another.


Run = Callable[[list[str], list[str], list[str]], tuple[float, float, Sequence[Any]]]
SLOW = 4_000  # texts that the slow peers learn


@dataclass(frozen=True)
class Peer:
    """A name, what must be installed, and how texts are learned and others predicted."""

    name: str
    run: Run
    module: str | None = None
    program: str | None = None
    slow: bool = False

    def lacking(self) -> str | None:
        """Say what is not installed."""
        if self.module is not None and find_spec(self.module) is None:
            return f"no module {self.module}"
        if self.program is not None and shutil.which(self.program) is None:
            return f"no program {self.program}"
        return None


def timed(fit: Callable[[], Any], predict: Callable[[Any], Any]) -> tuple[float, float, Any]:
    """CPU seconds of this process."""
    begin = time.process_time()
    model = fit()
    between = time.process_time()
    found = predict(model)
    return between - begin, time.process_time() - between, found


def of_scikit_learn(make: Callable[[], Any]) -> Run:
    return lambda texts, y, rest: timed(
        lambda: make().fit(texts, y), lambda model: model.predict(rest)
    )


def fast_text(texts: list[str], y: list[str], rest: list[str]) -> tuple[float, float, Any]:
    import fasttext

    fasttext.FastText.eprint = lambda *_: None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train")
        lines = (
            f"__label__{label} {' '.join(text.split())}"
            for text, label in zip(texts, y, strict=True)
        )
        path.write_text("\n".join(lines))
        flat = [" ".join(text.split()) for text in rest]
        fit, predict, found = timed(
            lambda: fasttext.train_supervised(str(path), thread=1, verbose=0),
            lambda model: model.f.multilinePredict(
                [text + "\n" for text in flat], 1, 0.0, "strict"
            ),
        )
    (labels,) = [one for one in found if isinstance(one[0][0], str)]  # which comes first differs
    return fit, predict, [label[0].removeprefix("__label__") for label in labels]


def vowpal_wabbit(texts: list[str], y: list[str], rest: list[str]) -> tuple[float, float, Any]:
    from vowpalwabbit import Workspace

    names = sorted(set(y))
    sign = {names[0]: -1, names[1]: 1}

    def line(text: str) -> str:
        return "|t " + text.replace(":", " ").replace("|", " ").replace("\n", " ")

    def fit() -> Any:
        workspace = Workspace("--loss_function logistic -b 22 --quiet")
        for text, label in zip(texts, y, strict=True):
            workspace.learn(f"{sign[label]} {line(text)}")
        return workspace

    fit_s, predict_s, scores = timed(fit, lambda model: [model.predict(line(t)) for t in rest])
    return fit_s, predict_s, [names[score > 0] for score in scores]


def river(texts: list[str], y: list[str], rest: list[str]) -> tuple[float, float, Any]:
    from river import feature_extraction, naive_bayes

    def fit() -> Any:
        model = feature_extraction.BagOfWords() | naive_bayes.MultinomialNB()
        for text, label in zip(texts, y, strict=True):
            model.learn_one(text, label)
        return model

    return timed(fit, lambda model: [model.predict_one(text) for text in rest])


def nltk(texts: list[str], y: list[str], rest: list[str]) -> tuple[float, float, Any]:
    from nltk import NaiveBayesClassifier

    split = CountVectorizer().build_analyzer()

    def held(text: str) -> dict[str, bool]:
        return dict.fromkeys(split(text), True)

    return timed(
        lambda: NaiveBayesClassifier.train(
            [(held(text), label) for text, label in zip(texts, y, strict=True)]
        ),
        lambda model: model.classify_many([held(text) for text in rest]),
    )


def bogofilter(texts: list[str], y: list[str], rest: list[str]) -> tuple[float, float, Any]:
    import resource

    program = shutil.which("bogofilter")
    assert program is not None

    def children() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def call(given: Sequence[str], *options: str) -> str:
        paths = []
        for i, text in enumerate(given):
            path = Path(folder, "mail", f"{len(options)}-{options[0]}-{i}")
            path.write_text(f"\n{text}\n")
            paths.append(str(path))
        return subprocess.run(
            [program, "-d", folder, *options, "-b"],
            input="\n".join(paths) + "\n",
            text=True,
            check=False,
            capture_output=True,
        ).stdout

    spam = max(sorted(set(y)), key=lambda label: "spam" in label)
    (ham,) = set(y) - {spam}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "mail").mkdir()
        begin = children()
        for label, option in ((spam, "-s"), (ham, "-n")):
            call([t for t, of in zip(texts, y, strict=True) if of == label], option)
        between = children()
        lines = call(rest, "-T", "-v").splitlines()
        scores = [float(line.split()[-1]) for line in lines]
    found = [spam if score > 0.5 else ham for score in scores]
    return between - begin, children() - between, found


PEERS = [
    Peer("naively", of_scikit_learn(NaiveBayes)),
    Peer('naively, text="words"', of_scikit_learn(lambda: NaiveBayes(text="words"))),
    Peer(
        "naively, pure, words",
        of_scikit_learn(lambda: NaiveBayes("text", weights=None, smoothing=1.0)),
    ),
    Peer(
        "naively, pure, words and pairs in one",
        of_scikit_learn(lambda: NaiveBayes(Text(ngram_range=(1, 2)), weights=None, smoothing=1.0)),
    ),
    Peer(
        "naively, 2**22 hashes of both",
        of_scikit_learn(
            lambda: NaiveBayes(
                Text(ngram_range=(1, 2), features=2**22), weights=None, smoothing=1.0
            )
        ),
    ),
    Peer(
        "scikit-learn, words",
        of_scikit_learn(lambda: make_pipeline(CountVectorizer(), MultinomialNB())),
    ),
    Peer(
        "scikit-learn, hashed words",
        of_scikit_learn(
            lambda: make_pipeline(
                HashingVectorizer(alternate_sign=False, norm=None), MultinomialNB()
            )
        ),
    ),
    Peer(
        "scikit-learn, tf-idf, complement",
        of_scikit_learn(lambda: make_pipeline(TfidfVectorizer(), ComplementNB())),
    ),
    Peer(
        "scikit-learn, tf-idf of both, logistic",
        of_scikit_learn(
            lambda: make_pipeline(
                TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
                LogisticRegression(C=10, max_iter=1000),
            )
        ),
    ),
    Peer("fastText, 1 thread", fast_text, module="fasttext"),
    Peer("Vowpal Wabbit, logistic", vowpal_wabbit, module="vowpalwabbit"),
    Peer("river, multinomial", river, module="river", slow=True),
    Peer("NLTK", nltk, module="nltk", slow=True),
    Peer("bogofilter", bogofilter, program="bogofilter"),
]


def measure_learners(setting: Setting) -> Sequence[Row]:
    """Train on four fifths and predict the rest; naively's defaults come first."""
    texts, y = setting.texts("enron_spam")
    order = np.random.default_rng(0).permutation(len(texts))
    cut = len(texts) * 4 // 5
    rest = [texts[i] for i in order[cut:]]
    found: list[tuple[str, Row]] = []
    ours: dict[int, tuple[float, float, str]] = {}  # by number of texts learned

    def add(works: Sequence[str], peer: str, note: str, *sides: Sequence[float]) -> None:
        for at, work in enumerate(works):
            found.append((work, say(Row(work, peer, *([side[at]] for side in sides), note=note))))

    for peer in PEERS:
        size = min(cut, SLOW) if peer.slow else cut
        works = (f"fit ({size:,} texts)", f"predict ({len(rest):,} texts, {size:,} learned)")
        if (lacking := peer.lacking()) is not None:
            add(works, peer.name, f"not measured: {lacking}")
            continue
        train = order[:cut][:size]
        learned, labels, truth = [texts[i] for i in train], y[train].tolist(), y[order[cut:]]
        if size not in ours:
            ours[size] = _run(PEERS[0], learned, labels, rest, truth)
            add(works, "", f"naively: accuracy {ours[size][2]}", ours[size][:2])
        if peer is not PEERS[0]:
            of_peer = _run(peer, learned, labels, rest, truth)
            add(works, peer.name, f"accuracy {of_peer[2]}", ours[size][:2], of_peer[:2])
    order_of = {work: at for at, work in enumerate(dict.fromkeys(work for work, _ in found))}
    return [row for _, row in sorted(found, key=lambda pair: order_of[pair[0]])]


def _run(
    peer: Peer, learned: list[str], labels: list[str], rest: list[str], truth: np.ndarray
) -> tuple[float, float, str]:
    """Return seconds to fit and to predict, and the accuracy."""
    fit, predict, found = peer.run(learned, labels, rest)
    return fit, predict, f"{np.mean(np.array(found) == truth):.4f}"
