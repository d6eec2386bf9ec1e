"""Other software that learns from text, each with its own defaults; measured where installed.

All learn four fifths of Enron and predict the rest once, one after another.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

from benchmarks.speed.beside import Row, say
from benchmarks.speed.setting import Setting
from naively import NaiveBayes, Text

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


def measure(setting: Setting) -> Sequence[Row]:
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
