"""The parts that are measured, how much of each, and a row of the results: naively and one peer."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.timing import ratios, take_turns

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.speed.curves import Curve


# --- How much is measured: all of it, tiny sizes (for tests), or what takes many minutes too -----


FEW = 300  # rows or texts of a data set where sizes are tiny


@dataclass(frozen=True)
class Setting:
    """How much is measured, and on which data.

    Parameters
    ----------
    data : Path, optional
        The folder that NAIVELY_DATA names.
    rounds : int
        How often each side runs.
    small : bool
        Tiny sizes, to see whether all of it runs.
    large : bool
        What takes minutes and gigabytes too.
    """

    data: Path | None = None
    rounds: int = 5
    small: bool = False
    large: bool = False

    def size(self, full: int, tiny: int) -> int:
        """Return a number of rows, columns, classes or words."""
        return tiny if self.small else full

    def texts(self, *names: str) -> tuple[list[str], np.ndarray]:
        """Read the texts and the labels of sets in JSON lines, one after another."""
        assert self.data is not None
        return read_texts(self.data, names, small=self.small)

    def table(self, name: str, target: str) -> tuple[pd.DataFrame, np.ndarray]:
        """Read a CSV file: its columns, and the labels."""
        import pandas as pd

        table = pd.read_csv(self.path(name))
        if self.small:
            table = table.sample(min(FEW, len(table)), random_state=0).reset_index(drop=True)
        y = table.pop(target).to_numpy()
        return table, y

    def path(self, name: str) -> Path:
        """Return where the table of this name is."""
        assert self.data is not None
        return self.data / "tables" / f"{name}.csv"


def read_texts(
    data: Path, names: tuple[str, ...], *, small: bool = False
) -> tuple[list[str], np.ndarray]:
    """Read the texts and the labels of sets in JSON lines, a few of each if sizes are tiny."""
    texts, labels = [], []
    for name in names:
        with gzip.open(data / "text" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        if small:
            chosen = np.random.default_rng(0).permutation(len(records))[:FEW]
            records = [records[i] for i in chosen.tolist()]
        texts += [record["text"] or "" for record in records]
        labels += [record["label"] for record in records]
    return texts, np.array(labels)


def numbers(n: int, d: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a matrix of normal numbers whose means differ a little by class, and its classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    y[: min(k, n)] = np.arange(min(k, n))  # none is lacking
    X = rng.normal(size=(n, d))
    X += (y % 10)[:, None] * 0.1
    return X, y


# --- One row of the results: naively and one peer, measured in turn ------------------------------
#
# ``beside`` runs naively and any number of peers in the same rounds, and makes a row for each
# peer. The ratio is how many times faster (or smaller) naively is, or, of a ``multiple``, how many
# times the other side's figure naively's is: the median over the rounds, with the range.


OURS = "naively"
WIDTH = 66
Run = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """Figures of naively and of what is beside it.

    Parameters
    ----------
    name : str
        Of the work.
    peer : str
        Of what is beside naively; empty where nothing is.
    ours, theirs : sequence of float
        By round; empty where they were not measured.
    unit : str
        "s", "MB" or "GB/s".
    clock : str
        "CPU" or "wall" for seconds, else empty.
    threads : int
        That naively could use.
    multiple : bool
        Whether the ratio is ours by theirs.
    note : str
        What else is said: why it was not measured, or how accurate the peer was.
    """

    name: str
    peer: str = ""
    ours: Sequence[float] = ()
    theirs: Sequence[float] = ()
    unit: str = "s"
    clock: str = "CPU"
    threads: int = 1
    multiple: bool = False
    note: str = ""

    def ratios(self) -> list[float]:
        """Return the ratio of each round."""
        if not self.ours or not self.theirs:
            return []
        sides = (self.ours, self.theirs) if self.multiple else (self.theirs, self.ours)
        return ratios(*sides)

    def to_dict(self) -> dict[str, Any]:
        """Return what is written to JSON."""
        found = asdict(self)
        found["ours"] = [_short(x) for x in self.ours]
        found["theirs"] = [_short(x) for x in self.theirs]
        by_round = self.ratios()
        if by_round:
            found["ratio"] = _short(median(by_round))
            found["range"] = [_short(min(by_round)), _short(max(by_round))]
        return found

    def __str__(self) -> str:
        name = self.name + (f", {self.threads} threads" if self.threads > 1 else "")
        line = f"{name:<{WIDTH}} {self._figure(self.ours):>10}"
        if self.peer:
            line += f"  {self.peer:<38} {self._figure(self.theirs):>10}"
        by_round = self.ratios()
        if by_round:
            low, high = shown(min(by_round)), shown(max(by_round))
            line += f"  {shown(median(by_round)):>7}  ({low} to {high})"
        return f"{line}  {self.note}".rstrip()

    def _figure(self, figures: Sequence[float]) -> str:
        return f"{shown(median(figures))} {self.unit}" if figures else ""


def shown(number: float) -> str:
    """Return a number with three digits, and no more before the point than it has."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def _short(number: float) -> float:
    return float(f"{number:.5g}")


def beside(
    name: str,
    ours: Run,
    peers: Mapping[str, Run | str] | None = None,
    *,
    rounds: int,
    repeat: int = 1,
    threads: int = 1,
    multiple: bool = False,
) -> list[Row]:
    """Run naively and its peers in turn, print the medians, and return a row for each peer.

    Parameters
    ----------
    name : str
        Of the work.
    ours : callable
        Naively's side.
    peers : mapping from str to callable or str
        The other sides; a string says why one is not measured.
    rounds, repeat : int
        As in ``take_turns``.
    threads : int
        That naively may use; on one thread the time is that of the processor.
    multiple : bool
        Whether the ratio is ours by theirs.
    """
    sides = {peer: run for peer, run in (peers or {}).items() if not isinstance(run, str)}
    clock = time.process_time if threads == 1 else time.perf_counter
    seconds = take_turns({**sides, OURS: ours}, rounds, repeat, clock)
    how = {"clock": "CPU" if threads == 1 else "wall", "threads": threads, "multiple": multiple}
    rows = []
    for peer, run in (peers or {"": ""}).items():
        note = f"not measured: {run}" if isinstance(run, str) and run else ""
        theirs = seconds.get(peer, []) if peer else []
        rows.append(say(Row(name, peer, seconds[OURS], theirs, note=note, **how)))
    return rows


def say(row: Row) -> Row:
    """Print a row as soon as it is measured."""
    print(row, flush=True)
    return row


# --- The table of what is measured: the parts, each with its rows' file and what its page says ---


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
    measure : str
        The file, and its function that returns the rows.
    data : bool
        Whether it needs the folder NAIVELY_DATA.
    usual : bool
        Whether it is measured when no part is named.
    ratio : str
        What the ratio of the rows is.
    """

    title: str
    about: str
    measure: str
    data: bool = True
    usual: bool = True
    ratio: str = LESS

    def load(self) -> Callable[[Setting], Sequence[Row | Curve]]:
        """Import the file, and return what measures its rows (or curves) and prints them."""
        file, function = self.measure.split(".")
        found: Callable[[Setting], Sequence[Row | Curve]] = getattr(
            import_module(f"benchmarks.speed.{file}"), function
        )
        return found


PARTS = {
    "newsgroups": Part(
        "20 Newsgroups",
        "`NaiveBayes()` with its defaults (words, word bigrams; calibrated) on the messages of 20 "
        "Newsgroups, beside CountVectorizer and MultinomialNB (words). A first prediction is that "
        "of a process which does nothing else: it starts Python, imports, loads and predicts one "
        "text. Peak memory is what a fit needs beyond the texts.",
        "texts.measure_newsgroups",
    ),
    "texts": Part(
        "Other texts",
        "`NaiveBayes()` on Enron (mail) and SMS, beside CountVectorizer and MultinomialNB (words).",
        "texts.measure_texts",
    ),
    "words": Part(
        "Words alone",
        "The same model on both sides, but for what a word is (here of one letter too, and of any "
        "language): `NaiveBayes(Text(...), weights=None, smoothing=1)` beside CountVectorizer and "
        "MultinomialNB.",
        "texts.measure_words",
        usual=False,
    ),
    "learners": Part(
        "Other learners of texts",
        "Each with its own defaults, on four fifths of Enron; its accuracy is that on the other "
        "fifth. Those that learn text by text in Python learn from 4,000. All run once.",
        "texts.measure_learners",
        usual=False,
    ),
    "tables": Part(
        "Tables",
        "`NaiveBayes()` with its defaults, beside what people would use instead with the encoders "
        "that they would write, all on one thread. LightGBM and HistGradientBoosting make 100 "
        "trees (letter: 2,600).",
        "tables.measure_tables",
    ),
    "numbers": Part(
        "Numbers",
        "`NaiveBayes()` with its defaults on 500,000 rows of 50 numbers in 10 classes.",
        "tables.measure_numbers",
        data=False,
    ),
    "drop-ins": Part(
        "The drop-ins",
        "The same model as scikit-learn's class of the same name. The sparse matrix has 200,000 "
        "rows of about 55 of 100,000 words, which are as frequent as words are (Zipf).",
        "drop_ins.measure_drop_ins",
        data=False,
    ),
    "elsewhere": Part(
        "Naive Bayes of other libraries",
        "GaussianNB and CategoricalNB beside river, which learns row by row from dictionaries, and "
        "wnb, which is written with pandas.",
        "drop_ins.measure_elsewhere",
        data=False,
    ),
    "assess": Part(
        "Assessing",
        "`assess()` cross-validates the model on rows that it has in memory. The ratio is how many "
        "times as long as the fit alone both take.",
        "tables.measure_assessing",
        ratio=MULTIPLE,
    ),
    "bandwidth": Part(
        "Beside the memory's bandwidth",
        "Bytes of the matrix that are read a second, and the share that they are of the bandwidth: "
        "the larger of NumPy's `sum` and `max` of 400 MB, in turn with them.",
        "drop_ins.measure_bandwidth",
        data=False,
        ratio=SHARE,
    ),
    "pure": Part(
        "Pure models of arrays",
        "`NaiveBayes(..., weights=None)` beside the class of scikit-learn that is the same model.",
        "drop_ins.measure_pure",
        data=False,
    ),
    "strings": Part(
        "Strings, numbers and times that are read",
        "What tables are made of before they are counted, beside PyArrow, NumPy and Python.",
        "tables.measure_strings",
        data=False,
    ),
    "large": Part(
        "A gigabyte of JSON lines",
        "Enron, repeated with other words in each copy, with the default blocks, in a process of "
        "its own; beside scikit-learn in batches: HashingVectorizer and partial_fit (words).",
        "texts.measure_large",
        usual=False,
    ),
    "growth": Part(
        "Growth",
        "`naively train`, with its assessment, in a process on one thread, as a file grows along "
        "one axis; beside it DuckDB reads the file. Seconds of the processor above, peak memory "
        "below; a line as steep as the dotted one grows in proportion.",
        "growth.measure",
        data=False,
        usual=False,
    ),
    "curves": Part(
        "A cell of the drop-ins",
        "The time of one cell or count as a table grows along one axis and stays as it is along "
        "the others; a flat line is time in proportion to what is read.",
        "curves.measure",
        data=False,
        usual=False,
    ),
}
