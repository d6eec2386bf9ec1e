"""A scorecard: a model as terms whose numbers are added up, equal to the model's own scores.

What other programs score rows by (SQL, JavaScript, ONNX) is written from it, so that none of them
knows an event model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from os import PathLike
from pathlib import Path

from naively import saving
from naively.counting.axis import Levels as LevelAxis
from naively.counting.axis import title
from naively.counting.labels import LabelArray
from naively.data.columns import EXACT, Kind
from naively.file.parts import write_classes
from naively.kernels.reference import Floats
from naively.messages import Shown
from naively.model.model import Model
from naively.model.scorecard.build import terms_of
from naively.model.scorecard.terms import (
    Plain,
    Term,
    cells_of,
    plain_floats,
)

VERSION = 1


@dataclass(frozen=True, eq=False, repr=False)
class Scorecard(Shown):
    """A model as numbers to be added up: the score of each class is the sum over all terms.

    Where the score of every class is -inf, the prior decides.

    Parameters
    ----------
    classes : ndarray of shape (classes,)
        The class labels.
    log_prior : ndarray of shape (classes,)
        The log probability of each class before anything is seen.
    start : ndarray of shape (classes,)
        What scores start from, in nats: the log prior and the biases of the weights.
    terms : tuple of Term
        What is added, each by the cells of one column or two.
    kinds : mapping of str to str
        What each column of the table held in training, by its name, in the table's order.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> nb = NaiveBayes("bernoulli", weights=None).fit({"wet": [1, 1, 0]}, ["rain", "rain", "sun"])
    >>> print(Scorecard.of(nb.model_))
    2 classes, 1 column: 1 bins
    """

    classes: LabelArray
    log_prior: Floats
    start: Floats
    terms: tuple[Term, ...]
    kinds: Mapping[str, Kind]

    @classmethod
    def of(cls, model: Model) -> Scorecard:
        """Return the scorecard of a model.

        Raises
        ------
        ValueError
            If what a column says is no sum of given numbers (a kernel density, an integral, all
            columns as one event), or its tokens are made by a program, or a category is a whole
            number that is no float of its own; it names the column.
        """
        _check_levels(model)
        kinds = {title(name): kind for name, kind in model.schema.kinds.items()}
        return cls(model.classes, model.class_log_prior, model.start, tuple(terms_of(model)), kinds)

    @cached_property
    def columns(self) -> list[str]:
        """The columns that the terms read, in the table's order."""
        read = {cell.column for term in self.terms for cell in cells_of(term)}
        return [name for name in self.kinds if name in read]

    def to_dict(self) -> dict[str, Plain]:
        """Return the scorecard as JSON holds it (see docs/reference/scorecard)."""
        return {
            "naively": "scorecard",
            "version": VERSION,
            "classes": write_classes(self.classes)["labels"],
            "log_prior": plain_floats(self.log_prior),
            "start": plain_floats(self.start),
            "columns": [{"name": name, "kind": self.kinds[name]} for name in self.columns],
            "terms": [term.to_dict() for term in self.terms],
        }

    def to_json(self) -> str:
        """Return the scorecard as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))

    def to_script(self) -> str:
        """Return a script in JavaScript that scores rows: ``naively.model.posterior(row)``.

        It runs in a browser and in Node.js, and needs nothing else.

        Raises
        ------
        ValueError
            If a class is a whole number that JavaScript would round.
        """
        for label in self.classes.tolist():
            if isinstance(label, int) and abs(label) > EXACT:
                raise ValueError(
                    f"JavaScript would round the class {label}, which is beyond 2^53; learn with "
                    "labels that are strings."
                )
        card = self.to_json().replace("<", "\\u003c")  # so that a page may hold it
        return f"{scorer()}globalThis.naively.model = naively.scorer({card});\n"

    def save(self, path: str | PathLike[str]) -> None:
        """Write a file: a script if its name ends in ".js", and else JSON.

        On any failure an existing file stays as it was.
        """
        is_script = Path(path).suffix == ".js"
        saving.save(path, in_bytes(self.to_script() if is_script else self.to_json()))

    def __str__(self) -> str:
        kinds = [term.kind for term in self.terms]
        said = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        columns = f"{len(self.columns):,} column{'s' * (len(self.columns) != 1)}"
        return f"{len(self.classes):,} classes, {columns}: {said}"


def _check_levels(model: Model) -> None:
    """Raise a ValueError if a category is a whole number that others read as another one."""
    for tally in model.counts.values():
        if not isinstance(tally.axis, LevelAxis):
            continue
        for name, levels in zip(tally.axis.columns, tally.axis.levels, strict=True):
            for level in levels:
                if isinstance(level, int) and abs(level) > EXACT:
                    raise ValueError(
                        f"Column {title(name)!r} has the category {level}, which is beyond 2^53, "
                        "so that other programs compare it with its neighbours; learn it as a "
                        "string."
                    )


def scorer() -> str:
    """Return the script that scores rows by a scorecard, ``naively.scorer(card)``."""
    return files("naively.model.scorecard").joinpath("scorer.js").read_text("utf-8")


def in_bytes(written: str) -> bytes:
    r"""Return JSON, or a script, as UTF-8; half a character, which UTF-8 lacks, is escaped.

    >>> in_bytes('["\ud800"]')
    b'["\\ud800"]'
    """
    return written.encode("utf-8", "backslashreplace")
