"""A result as a tidy table: each row is one fact, each column one variable.

Wickham, Tidy data (2014). A class says its columns, and has from here what it prints, a frame of
the library that the user has loaded, and JSON.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, cast, get_args

from naively.doors import wing
from naively.frozen import Frozen
from naively.messages import Shown, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 20  # rows that are printed
Library: TypeAlias = Literal["pandas", "polars", "pyarrow"]
LIBRARIES: tuple[Library, ...] = get_args(Library)


class Tabular(Shown, Frozen):
    """A result that is a table; a dataclass of this kind needs ``repr=False``."""

    TABLE: ClassVar[tuple[str, ...]] = ()  # the fields that are its columns, where these are all

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns by name, all of them of one length."""
        fields = {name: getattr(self, name) for name in self.TABLE}
        return {
            name: of.tolist() if hasattr(of, "tolist") else [*of] for name, of in fields.items()
        }

    def to_frame(self, library: Library | None = None) -> Any:
        """Return the table as a frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Whose frame; by default the first of these that has been imported.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            A column that holds values of several types holds them as strings.

        Raises
        ------
        ValueError
            If no library is named and none is imported, or one is named that is not known.
        """
        loaded = [name for name in LIBRARIES if name in sys.modules]
        if library is None and not loaded:
            raise ValueError(
                "No library of frames is imported; import pandas, polars or pyarrow, or name one: "
                "to_frame('pandas')."
            )
        chosen = library or loaded[0]
        if chosen not in LIBRARIES:
            raise ValueError(f"library must be one of {', '.join(LIBRARIES)}, got {library!r}.")
        import narwhals

        columns = {name: _of_one_type(values) for name, values in self.to_dict().items()}
        return narwhals.from_dict(columns, backend=chosen).to_native()

    def to_json(self) -> str:
        """Return the table as a JSON array of records; NaN is null, and infinity a string."""
        columns = self.to_dict()
        records = [
            dict(zip(columns, map(json_value, row), strict=True))
            for row in zip(*columns.values(), strict=True)
        ]
        return json.dumps(records, ensure_ascii=False, default=str)

    def to_latex(self) -> str:
        """Return the table as LaTeX, an ``array`` that both slides and notebooks can show."""
        columns = self.to_dict()
        right = ["r" if are_numbers(of) else "l" for of in columns.values()]
        cells = [[latex_text(name), *map(_latex_cell, of)] for name, of in columns.items()]
        head, *rows = (" & ".join(line) for line in zip(*cells, strict=True))
        lines = [rf"{head} \\ \hline", *(rf"{row} \\" for row in rows)]
        return "\n".join([rf"\begin{{array}}{{{''.join(right)}}}", *lines, r"\end{array}"])

    def __str__(self) -> str:
        """Return the names and the first rows, column under column."""
        return as_text(self.to_dict())


class Drawn(Tabular):
    """A result that is a table, and has a picture."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the result on Axes, or on new ones, and return them."""
        return picture(self, ax)


def crossed(
    axes: Sequence[Mapping[str, Sequence[object]]], tables: Mapping[str, Any]
) -> dict[str, list[object]]:
    """Return a row for each cell of arrays of one shape, beside the columns of their axes."""
    sizes, found = [len(next(iter(axis.values()))) for axis in axes], dict[str, list[object]]()
    for i, axis in enumerate(axes):
        outer, inner = math.prod(sizes[:i]), math.prod(sizes[i + 1 :])
        for name, each in axis.items():
            found[name] = [value for value in each for _ in range(inner)] * outer
    return found | {name: table.ravel().tolist() for name, table in tables.items()}


def picture(result: object, ax: Axes | None, which: str = "", **options: object) -> Axes:
    """Draw one of the pictures of a result."""
    return cast("Axes", wing("picture")(result, ax, which, **options))


def as_text(columns: Mapping[str, Sequence[Any]], rows: int | None = None) -> str:
    """Return a table's names and first rows, column under column."""
    # rows: how many there are, if the columns hold only the first of them
    rows = len(next(iter(columns.values()), [])) if rows is None else rows
    shown = [[name, *map(_cell, of[:SHOWN])] for name, of in columns.items()]
    width = [max(map(len, cells)) for cells in shown]
    numeric = [are_numbers(of) for of in columns.values()]
    lines = [
        "  ".join(
            cell.rjust(w) if right else cell.ljust(w)
            for cell, w, right in zip(line, width, numeric, strict=True)
        ).rstrip()
        for line in zip(*shown, strict=True)
    ]
    return "\n".join([*lines, f"... and {rows - SHOWN:,} more rows"] if rows > SHOWN else lines)


def are_numbers(values: Iterable[object]) -> bool:
    """Whether all values are numbers or truths."""
    return all(isinstance(value, int | float) for value in values)


SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def latex_text(value: object) -> str:
    """Return words as LaTeX's formulas show them."""
    escaped = "".join(SPECIAL.get(sign, sign) for sign in visible(str(value)))
    return rf"\text{{{escaped}}}"


def latex_number(text: str) -> str:
    """Return a number that is written, such as 2.5e-12, as LaTeX."""
    if text in ("inf", "-inf"):
        return text.replace("inf", r"\infty")
    digits, _, power = text.partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits


def _latex_cell(value: object) -> str:
    """Write one value as a formula shows it."""
    match value:
        case None:
            return ""
        case bool():
            pass
        case int() | float() if value == value:  # noqa: PLR0124
            return latex_number(f"{value:.6g}")
    return latex_text(_cell(value))


def _cell(value: object) -> str:
    """Write one value as a table shows it: six digits of a number, nothing for None."""
    match value:
        case None:
            return ""
        case float():
            return "undefined" if math.isnan(value) else f"{value:.6g}"
    return visible(str(value))


def json_value(value: object) -> object:
    """Return a value that JSON can hold: infinity is a string, and NaN is null."""
    value = value.item() if hasattr(value, "item") else value  # NumPy's
    match value:
        case list() | tuple():
            return [json_value(part) for part in value]
        case float() if not math.isfinite(value):
            return None if math.isnan(value) else str(value)
    return value


def _of_one_type(values: list[Any]) -> list[Any]:
    """Return values that one column of a frame can hold: of several types, all as strings."""
    kinds = {bool if isinstance(v, bool) else type(v) for v in values if v is not None}
    if kinds <= {int, float} or len(kinds) <= 1:
        return values
    return [None if v is None else str(v) for v in values]
