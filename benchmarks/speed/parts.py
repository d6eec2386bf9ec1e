"""The table of what is measured: the parts, each with its rows' file and what its page says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from benchmarks.speed.beside import Row
from benchmarks.speed.setting import Setting

if TYPE_CHECKING:
    from benchmarks.speed.curves import Curve

LESS, MULTIPLE, SHARE = "times less", "multiple", "share"


@dataclass(frozen=True)
class Part:
    """Rows that are measured together.

    Parameters
    ----------
    title : str
        Heads the part of the page.
    about : str
        What is measured, for the page.
    module : str
        The file whose ``measure`` returns the rows.
    data : bool
        Whether it needs the folder NAIVELY_DATA.
    usual : bool
        Whether it is measured when no part is named.
    ratio : str
        What the ratio of the rows is.
    """

    title: str
    about: str
    module: str
    data: bool = True
    usual: bool = True
    ratio: str = LESS

    def load(self) -> Callable[[Setting], Sequence[Row | Curve]]:
        """Import the file, and return what measures its rows (or curves) and prints them."""
        measure: Callable[[Setting], Sequence[Row | Curve]] = import_module(
            f"benchmarks.speed.{self.module}"
        ).measure
        return measure


PARTS = {
    "newsgroups": Part(
        "20 Newsgroups",
        "`NaiveBayes()` with its defaults (words, word bigrams; calibrated) on the messages of 20 "
        "Newsgroups, beside CountVectorizer and MultinomialNB (words). A first prediction is that "
        "of a process which does nothing else: it starts Python, imports, loads and predicts one "
        "text. Peak memory is what a fit needs beyond the texts.",
        "newsgroups",
    ),
    "texts": Part(
        "Other texts",
        "`NaiveBayes()` on Enron (mail) and SMS, beside CountVectorizer and MultinomialNB (words).",
        "texts",
    ),
    "words": Part(
        "Words alone",
        "The same model on both sides, with the same predictions: "
        "`NaiveBayes(Text(...), weights=None, smoothing=1)` beside CountVectorizer and "
        "MultinomialNB.",
        "words",
        usual=False,
    ),
    "learners": Part(
        "Other learners of texts",
        "Each with its own defaults, on four fifths of Enron; its accuracy is that on the other "
        "fifth. Those that learn text by text in Python learn from 4,000. All run once.",
        "learners",
        usual=False,
    ),
    "tables": Part(
        "Tables",
        "`NaiveBayes()` with its defaults, beside what people would use instead with the encoders "
        "that they would write, all on one thread. LightGBM and HistGradientBoosting make 100 "
        "trees (letter: 2,600).",
        "tables",
    ),
    "numbers": Part(
        "Numbers",
        "`NaiveBayes()` with its defaults on 500,000 rows of 50 numbers in 10 classes.",
        "numbers",
        data=False,
    ),
    "drop-ins": Part(
        "The drop-ins",
        "The same model as scikit-learn's class of the same name. The sparse matrix has 200,000 "
        "rows of about 55 of 100,000 words, which are as frequent as words are (Zipf).",
        "drop_ins",
        data=False,
    ),
    "elsewhere": Part(
        "Naive Bayes of other libraries",
        "GaussianNB and CategoricalNB beside river, which learns row by row from dictionaries, and "
        "wnb, which is written with pandas.",
        "elsewhere",
        data=False,
    ),
    "assess": Part(
        "Assessing",
        "`assess()` cross-validates the model on rows that it has in memory. The ratio is how many "
        "times as long as the fit it takes.",
        "assessed",
        ratio=MULTIPLE,
    ),
    "bandwidth": Part(
        "Beside the memory's bandwidth",
        "Bytes of the matrix that are read a second, and the share that they are of the bandwidth: "
        "the larger of NumPy's `sum` and `max` of 400 MB, in turn with them.",
        "bandwidth",
        data=False,
        ratio=SHARE,
    ),
    "pure": Part(
        "Pure models of arrays",
        "`NaiveBayes(..., weights=None)` beside the class of scikit-learn that is the same model.",
        "pure",
        data=False,
    ),
    "strings": Part(
        "Strings, numbers and times that are read",
        "What tables are made of before they are counted, beside PyArrow, NumPy and Python.",
        "strings",
        data=False,
    ),
    "large": Part(
        "A gigabyte of JSON lines",
        "Enron, repeated with other words in each copy, with the default blocks, in a process of "
        "its own; beside scikit-learn in batches: HashingVectorizer and partial_fit (words).",
        "large",
        usual=False,
    ),
    "curves": Part("Curves", "", "curves", data=False, usual=False),
}
