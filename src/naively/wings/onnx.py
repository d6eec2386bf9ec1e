"""A model as an ONNX model, and rows as its inputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Level, title
from naively.counting.labels import LabelArray, is_missing
from naively.data.columns import NAMES, Cells, Cycle, Rows, as_floats
from naively.file.parts import write_classes
from naively.frozen import Frozen
from naively.inspect.scorecard import Plain, Scorecard
from naively.kernels.reference import FAR, Floats
from naively.kernels.strings import Row, Strings
from naively.kernels.tokens import splitter
from naively.terms import views
from naively.terms.functions import Above, Line, OneOf, Step

if TYPE_CHECKING:
    from onnx import ModelProto

DOUBLE, STRING, INT64, BOOL = 11, 8, 7, 9  # as ONNX numbers the types of tensors
TYPES = {"number": DOUBLE, "string": STRING, "tokens": STRING, "missing": BOOL}


def onnx_of(card: Scorecard) -> ModelProto:
    """Return a scorecard as an ONNX model, whose scores are those of the scorecard in doubles."""
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "ONNX models are written by the package onnx; install it with: "
            "pip install 'naively[onnx]'."
        ) from error
    inputs, graph = inputs_of(card), Graph()
    label, kind = _outputs(graph, card, Scored(graph, inputs).all(card))
    for of in inputs.values():
        if of.optional:
            graph.default(of.name, np.zeros((1, 1), bool))
    metadata = {
        "inputs": json.dumps([of.to_dict() for of in inputs.values()], ensure_ascii=False),
        "classes": json.dumps(write_classes(card.classes)["labels"], ensure_ascii=False),
    }
    takes = [(of.name, TYPES[of.what], of.shape) for of in inputs.values()]
    gives: list[Value] = [
        (label, kind, ["n"]), ("probabilities", DOUBLE, ["n", len(card.classes)])
    ]  # fmt: skip
    return cast("ModelProto", graph.model(takes, gives, metadata))


def _outputs(graph: Graph, card: Scorecard, added: list[Tensor]) -> tuple[Tensor, int]:
    """Add what follows from the scores; return the name and the type of the label."""
    op, of = graph.op, graph.constant
    total = of([card.start])
    for each in added:
        total = op("Add", total, each)
    # What is impossible by one term is so by all, though another is infinite the other way.
    never = of([[-np.inf]])
    total = op("Where", op("IsNaN", total), never, total)
    most = op("ReduceMax", total, axes=[1], keepdims=1)
    joint = op("Where", op("Equal", most, never), of([card.log_prior]), total)
    most = op("ReduceMax", joint, axes=[1], keepdims=1)
    odds = op("Exp", op("Sub", joint, most))
    op("Div", odds, op("ReduceSum", odds, graph.whole([1]), keepdims=1), out="probabilities")
    classes, kind = _classes(graph, card.classes)
    best = op("ArgMax", joint, axis=1, keepdims=0)
    return op("Gather", classes, best, out="label"), kind


def _classes(graph: Graph, classes: LabelArray) -> tuple[Tensor, int]:
    """Return the classes as a constant, and its type: whole numbers, or strings."""
    labels: list[Any] = write_classes(classes)["labels"]
    if all(type(label) is int for label in labels) and max(map(abs, labels)) < 2**63:
        return graph.whole(labels), INT64
    return graph.constant([str(label) for label in labels], object), STRING


# --- A graph of ONNX that is written operator by operator; a tensor is known by its name ---------


Tensor: TypeAlias = str
OPSET, ML_OPSET, IR = 17, 3, 8  # of 2022, so that runtimes that are older than models read them
LARGEST = 2**31 - 2**16  # bytes of a file: protocol buffers hold 2 GB
Value: TypeAlias = tuple[Tensor, int, Sequence["str | int"]]  # its name, type and shape


class Graph:
    """Nodes and constants; names with a dot are its own, and no input has one."""

    def __init__(self) -> None:
        from onnx import helper

        self._helper: Any = helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._known: dict[tuple[Any, ...], Tensor] = {}
        self._bytes = 0

    def constant(self, value: Any, dtype: Any = np.float64) -> Tensor:
        """Return a constant tensor; equal small ones of numbers are one."""
        array = np.ascontiguousarray(np.asarray(value, dtype))
        is_small = array.size < 64 and array.dtype != object
        key = (array.dtype.str, array.shape, array.tobytes()) if is_small else ()
        if key and key in self._known:
            return self._known[key]
        name = f"c.{len(self.constants)}"
        self.default(name, array)
        if key:
            self._known[key] = name
        return name

    def default(self, name: str, array: Any) -> None:
        """Give a tensor a value: a constant, or an input that may be left out."""
        from onnx import numpy_helper

        self._bytes += array.nbytes
        if self._bytes > LARGEST:
            raise ValueError(
                "The model is too large for a file of ONNX, which holds 2 GB; learn fewer tokens, "
                "as by Text(max_features=...)."
            )
        self.constants.append(numpy_helper.from_array(array, name))

    def op(self, kind: str, *inputs: Tensor, out: str = "", **attributes: Any) -> Tensor:
        """Add an operator, and return its output; the same operator of the same tensors is one."""
        key = (kind, inputs, repr(sorted(attributes.items())))
        if not out and key in self._known:
            return self._known[key]
        name = out or f"t.{len(self.nodes)}"
        domain = "ai.onnx.ml" if kind == "LabelEncoder" else ""
        self.nodes.append(self._helper.make_node(kind, inputs, [name], domain=domain, **attributes))
        self._known.setdefault(key, name)
        return name

    def whole(self, value: Any) -> Tensor:
        """Return a constant of whole numbers."""
        return self.constant(value, np.int64)

    def number_of(self, strings: Tensor, keys: Sequence[str]) -> Tensor:
        """Return the place of each string among the keys; of others, how many keys there are."""
        # Attributes must not be empty; a key of the default changes nothing.
        named = dict.fromkeys([""], len(keys)) | {key: i for i, key in enumerate(keys)}
        return self.op(
            "LabelEncoder",
            strings,
            keys_strings=list(named),
            values_int64s=list(named.values()),
            default_int64=len(keys),
        )

    def reached(self, x: Tensor, edges: Floats) -> Tensor:
        """Return how many of the ascending edges each number reaches, by halving; NaN none."""
        steps = [2**i for i in reversed(range(len(edges).bit_length()))]
        padded = self.constant([*edges, *[np.nan] * (sum(steps) - len(edges))])
        at = self.whole([[0]])
        for step in steps:
            edge = self.op("Gather", padded, self.op("Add", at, self.whole(step - 1)))
            up = self.op("Cast", self.op("GreaterOrEqual", x, edge), to=INT64)
            at = self.op("Add", at, self.op("Mul", up, self.whole(step)))
        # Without edges nothing has the shape of x yet.
        return at if steps else self.op("Mul", self.op("Cast", x, to=INT64), self.whole(0))

    def sorted(self, whole: Tensor, wide: Tensor) -> Tensor:
        """Return whole numbers (n, m) in ascending order along each row, which has ``wide``."""
        names = [f"t.{len(self.nodes)}", f"i.{len(self.nodes)}"]
        node = self._helper.make_node("TopK", [whole, wide], names, axis=1, largest=0, sorted=1)
        self.nodes.append(node)
        return names[0]

    def rows_of(self, table: Floats, at: Tensor) -> Tensor:
        """Return the rows of a table at places of shape (n, 1)."""
        return self.op("Gather", self.constant(table), self.op("Squeeze", at, self.whole([1])))

    def model(
        self, inputs: Sequence[Value], outputs: Sequence[Value], metadata: Mapping[str, str]
    ) -> Any:
        """Return the model of these inputs and outputs."""
        of, value = self._helper, self._helper.make_tensor_value_info
        ins, outs = ([value(*each) for each in some] for some in (inputs, outputs))
        graph = of.make_graph(self.nodes, "naively", ins, outs, self.constants)
        sets = [of.make_opsetid("", OPSET), of.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = of.make_model(graph, opset_imports=sets, ir_version=IR, producer_name="naively")
        of.set_model_props(model, dict(metadata))
        return model


# --- The inputs of an ONNX graph: their names, and rows as their tensors --------------------------


NUMBERS = ("number", "boolean", "time")
OUTPUTS = ("label", "probabilities")
What = Literal["number", "string", "tokens", "missing"]
Key = tuple[str, What, str]


class Input(Frozen, eq=True):
    """An input of a graph."""

    name: str  # its name in the graph, of letters, digits and underscores of ASCII
    column: str  # the column of the table
    what: What  # doubles (n, 1), strings (n, 1), strings (n, m) or truths (n, 1)
    split: Plain = None  # how tokens are split, as the keyword arguments of `Text`
    optional: bool = False  # whether it may be left out: then no cell is missing

    @property
    def shape(self) -> list[str | int]:
        """How many rows and columns it has, by name where that is not known."""
        if self.what == "tokens":
            return ["n", f"tokens of {self.name}"]
        return [f"n or 1 of {self.name}" if self.optional else "n", 1]

    def to_dict(self) -> dict[str, Plain]:
        """Return what the metadata of the graph say of it."""
        some = {} if self.split is None else {"split": self.split}
        plain = {"name": self.name, "column": self.column, "what": self.what}
        return {**plain, **some, "optional": self.optional}


def inputs_of(card: Scorecard) -> dict[Key, Input]:
    """Return the inputs that the terms of a scorecard read, in the order of the columns."""
    needed: dict[str, dict[Key, Input]] = {name: {} for name in card.columns}
    for term in card.terms:
        for each in _read(term):
            key = key_of(each.column, each.what, each.split)
            needed[each.column].setdefault(key, each)
    if not needed:
        raise ValueError("The model reads no column, so that there is nothing to score by ONNX.")
    taken: set[str] = {*OUTPUTS}
    found: dict[Key, Input] = {}
    for of_column in needed.values():
        alone = len(of_column) == 1
        for key, each in of_column.items():
            name = _unique(each, taken)
            optional = each.what == "missing" and not alone
            found[key] = Input(name, each.column, each.what, each.split, optional)
    return found


def key_of(column: str, what: What, split: Plain = None) -> Key:
    """Return what an input is known by."""
    return column, what, "" if split is None else repr(sorted(split.items()))


def _read(term: views.AnyTerm) -> Iterator[Input]:
    """Yield what a term reads."""
    of_levels: list[
        views.Cell
    ] = []  # of which it reads the level, rather than whether they are there
    match term:
        case views.TokensTerm():
            column = term.cell.column
            yield Input("", column, "tokens", dict(term.split))
            if term.there.any():
                yield Input("", column, "missing")
            return
        case views.LevelsTerm():
            of_levels = [term.cell]
        case views.ProductTerm():
            of_levels = _by_level((term.a, term.b))
        case views.RuleTerm():
            of_levels = _by_level(term.conditions)
    for cell in views.cells_of(term):
        if cell.kind in NUMBERS:
            yield from (Input("", name, "number") for name in cell.columns)
            continue
        if cell in of_levels:
            yield Input("", cell.column, "string")
        yield Input("", cell.column, "missing")


def _by_level(functions: Sequence[views.OfCell[Line | Step | Above | OneOf]]) -> list[views.Cell]:
    """Return the cells of which functions read the level."""
    return [of.cell for of in functions if isinstance(of.function, Step | OneOf)]


def _unique(of: Input, taken: set[str]) -> str:
    """Return a name of ASCII letters, digits and underscores that is not taken, and take it."""
    clean = re.sub(r"\W", "_", of.column, flags=re.ASCII) or "column"
    clean = f"_{clean}" if clean[0].isdigit() else clean
    if of.what == "missing":
        clean += "_missing"
    elif of.what == "tokens":
        low, high = of.split["ngram_range"]
        clean += f"_{of.split['analyzer']}_{low}_{high}"
    name, i = clean, 1
    while name in taken:
        i += 1
        name = f"{clean}_{i}"
    taken.add(name)
    return name


def tensors_of(card: Scorecard, rows: Rows) -> dict[str, NDArray[Any]]:
    """Return rows, matched with the schema, as the tensors of the inputs, by name."""
    place = {title(name): name for name in rows.names}
    found: dict[str, NDArray[Any]] = {}
    read: dict[str, list[Any]] = {}
    for of in inputs_of(card).values():
        cells = rows.cells(place[of.column])
        if of.what == "number":
            found[of.name] = np.asarray(as_floats(cells), np.float64)[:, None]
            continue
        if of.column not in read:
            read[of.column] = _values(cells)
        values = read[of.column]
        if of.what == "missing":
            found[of.name] = np.array([value is None for value in values], bool)[:, None]
        elif of.what == "string":
            known = [value if isinstance(value, str) else "" for value in values]
            found[of.name] = np.array(known, object)[:, None]
        else:
            found[of.name] = _tokens(of, values)
    return found


def _values(cells: Cells) -> list[Any]:
    """Return strings, or lists of words; None where a cell is missing."""
    if isinstance(cells, Strings):
        return list(cells)
    words = (list, tuple, np.ndarray)
    objects = np.asarray(cells, object).tolist()
    return [of if isinstance(of, words) or not is_missing(of) else None for of in objects]


def _tokens(of: Input, texts: Sequence[Row]) -> NDArray[Any]:
    """Return the tokens of texts as an array of strings, padded with the empty string."""
    split = splitter(**{**of.split, "ngram_range": tuple(of.split["ngram_range"])})
    joined = of.split["analyzer"] != "word"
    split_texts = []
    for text in texts:
        whole = " ".join(map(str, text)) if joined and isinstance(text, list | tuple) else text
        split_texts.append([] if whole is None else split(whole))
    wide = max(map(len, split_texts), default=0)
    array = np.full((len(split_texts), max(wide, 1)), "", object)
    for row, tokens in zip(array, split_texts, strict=True):
        row[: len(tokens)] = tokens
    return array


# --- The terms of a scorecard as operators of ONNX -----------------------------------------------


AT_ONCE = 16  # rules that are added up together
DAY, HOUR = 86_400_000_000, 3_600_000_000  # in microseconds
FARTHEST_TIME = 9e12  # seconds, which are a count of microseconds still


@final
class Scored:
    """What terms add to the scores: tensors of shape (n, classes), and one product of matrices."""

    def __init__(self, graph: Graph, inputs: Mapping[Key, Input]) -> None:
        self.graph = graph
        self.inputs = inputs
        self.added: list[Tensor] = []
        self.lines: list[Tensor] = []
        self.slopes: list[Floats] = []
        self.presence: dict[str, views.PresenceTerm] = {}

    def all(self, card: Scorecard) -> list[Tensor]:
        """Return what all terms add."""
        # What a cell adds as it is there is in its bins' numbers, if it has some.
        self.presence = {of.cell.column: of for of in card.every(views.PresenceTerm)}
        for term in card.terms:
            self._add(term)
        rules = card.every(views.RuleTerm)
        for i in range(0, len(rules), AT_ONCE):
            self._add_rules(rules[i : i + AT_ONCE])
        for of in self.presence.values():
            there = self.graph.op("Cast", self._missing(of.cell), to=INT64)
            self.added.append(self.graph.rows_of(np.stack([of.there, of.missing]), there))
        if self.lines:
            lines = self.graph.op("Concat", *self.lines, axis=1)
            slopes = self.graph.constant(np.stack(self.slopes))
            self.added.append(self.graph.op("MatMul", lines, slopes))
        return self.added

    def _add(self, term: views.AnyTerm) -> None:
        """Add a term, unless it is one of those that are added last, presence and rules."""
        op, of = self.graph.op, self.graph.constant
        match term:
            case views.BinsTerm():
                at = self.graph.reached(self._number(term.cell), term.edges)
                self._add_row(term.cell, at, term.points)
            case views.LevelsTerm():
                self._add_row(term.cell, self._place(term.cell, term.levels), term.points)
            case views.LineTerm():
                x, missing = self._number(term.cell), self._missing(term.cell)
                line = self._line(x, missing, term.low, term.high, term.centre)
                self._add_slope(line, term.slope)
            case views.ParabolaTerm():
                far = self._clipped(op("Sub", self._number(term.cell), of([term.mean])), -FAR, FAR)
                added = op("Mul", op("Mul", far, far), of([-term.half_precision]))
                nothing = self._missing(term.cell)
                self.added.append(op("Where", nothing, of([[0.0]]), added))
            case views.TokensTerm():
                self._add_tokens(term)
            case views.ProductTerm():
                both = op("Mul", self._factor(term.a), self._factor(term.b))
                both = op("Div", both, of([[term.scale]]))
                self._add_slope(self._clipped(both, -term.most, term.most), term.slope)

    def _add_row(self, cell: views.Cell, at: Tensor, points: Floats) -> None:
        """Add the row of a table, and none where the cell is missing."""
        missing = np.zeros(points.shape[1])
        is_plain = not (cell.log or cell.combined)
        if is_plain and (of := self.presence.pop(cell.column, None)) is not None:
            points, missing = points + of.there, of.missing
        # Where is several times slower in onnxruntime.
        none = self.graph.op("Cast", self._missing(cell), to=INT64)
        none = self.graph.op("Mul", none, self.graph.whole([[len(points)]]))
        place = self.graph.op("Max", at, none)
        self.added.append(self.graph.rows_of(np.vstack([points, missing]), place))

    def _add_slope(self, line: Tensor, slope: Floats) -> None:
        if np.isfinite(slope).all():
            self.lines.append(line)
            self.slopes.append(slope)
            return
        op, zero = self.graph.op, self.graph.constant([[0.0]])
        product = op("Mul", line, self.graph.constant([slope]))
        self.added.append(op("Where", op("Equal", line, zero), zero, product))

    def _input(self, cell: views.Cell, what: What, split: Plain = None) -> Tensor:
        return self.inputs[key_of(cell.column, what, split)].name

    def _number(self, cell: views.Cell) -> Tensor:
        x, op = self._input(cell, "number"), self.graph.op
        if cell.combined is None:
            return op("Log", x) if cell.log else x
        y = self._number(replace(cell, column=cell.combined.column, combined=None))
        if cell.combined.operator == "/":
            zero, none = (self.graph.constant([[of]]) for of in (0.0, np.nan))
            return op("Div", x, op("Where", op("Equal", y, zero), none, y))
        y = op("Mul", y, self.graph.constant([[cell.combined.times]]))
        return op("Add" if cell.combined.operator == "+" else "Sub", x, y)

    def _missing(self, cell: views.Cell) -> Tensor:
        if cell.kind in NUMBERS:
            return self.graph.op("IsNaN", self._number(cell))
        return self._input(cell, "missing")

    def _place(self, cell: views.Cell, levels: Sequence[Level]) -> Tensor:
        """Return the place of a cell's level, of shape (n, 1); after the last if it is unknown."""
        op, whole = self.graph.op, self.graph.whole
        if cell.part is not None:
            place = {level: i for i, level in enumerate(levels)}
            of_part = [place.get(name, len(levels)) for name in NAMES[cell.part]]
            return op("Gather", whole(of_part), self._part(cell, cell.part))
        if cell.kind not in NUMBERS:
            places = {level: i for i, level in enumerate(levels) if isinstance(level, str)}
            at = self.graph.number_of(self._input(cell, "string"), [*places])
            return op("Gather", whole([*places.values(), len(levels)]), at)
        numbers = {float(x): i for i, x in enumerate(levels) if isinstance(x, int | float)}
        ascending, x = np.array(sorted(numbers), np.float64), self._number(cell)
        at = self.graph.reached(x, ascending)
        found = op("Gather", self.graph.constant([np.nan, *ascending]), at)
        of_level = op("Gather", whole([len(levels), *(numbers[x] for x in ascending)]), at)
        return op("Where", op("Equal", found, x), of_level, whole([[len(levels)]]))

    def _part(self, cell: views.Cell, part: Cycle) -> Tensor:
        """Return the hour from 0, the weekday from Monday, or the month from 0, of shape (n, 1)."""
        op, whole, of = self.graph.op, self.graph.whole, self.graph.constant
        x = self._number(cell)
        there = op("Where", op("IsNaN", x), of([[0.0]]), x)
        near = self._clipped(there, -FARTHEST_TIME, FARTHEST_TIME)
        micro = op("Cast", op("Round", op("Mul", near, of([[1e6]]))), to=INT64)
        if part == "hour":
            return self._whole_division(op("Mod", micro, whole([[DAY]])), HOUR)
        day = self._whole_division(micro, DAY)
        if part == "weekday":
            return op("Mod", op("Add", day, whole([[3]])), whole([[7]]))  # 1970 began on a Thursday
        # Days since 1 March of year 0, in cycles of 400 years; years begin in March, so that a leap
        # day is the last (Hinnant, chrono-compatible low-level date algorithms, 2013).
        of_era = op("Mod", op("Add", day, whole([[719_468]])), whole([[146_097]]))
        leap = op("Sub", of_era, self._whole_division(of_era, 1_460))
        leap = op("Add", leap, self._whole_division(of_era, 36_524))
        leap = op("Sub", leap, self._whole_division(of_era, 146_096))
        year = self._whole_division(leap, 365)
        days = op("Mul", year, whole([[365]]))
        days = op("Add", days, self._whole_division(year, 4))
        days = op("Sub", days, self._whole_division(year, 100))
        of_year = op("Sub", of_era, days)
        five = op("Add", op("Mul", of_year, whole([[5]])), whole([[2]]))
        march = self._whole_division(five, 153)
        return op("Mod", op("Add", march, whole([[2]])), whole([[12]]))

    def _whole_division(self, x: Tensor, by: int) -> Tensor:
        """Divide whole numbers, downwards below 0 too."""
        op, divisor = self.graph.op, self.graph.whole([[by]])
        return op("Div", op("Sub", x, op("Mod", x, divisor)), divisor)

    def _clipped(self, x: Tensor, low: float, high: float) -> Tensor:
        op, of = self.graph.op, self.graph.constant
        return op("Min", op("Max", x, of([[low]])), of([[high]]))

    def _line(self, x: Tensor, missing: Tensor, low: float, high: float, centre: float) -> Tensor:
        op, of = self.graph.op, self.graph.constant
        distance = op("Sub", self._clipped(x, low, high), of([[centre]]))
        return op("Where", missing, of([[0.0]]), distance)

    def _factor(self, of: views.OfCell[Line | Step]) -> Tensor:
        op, constant = self.graph.op, self.graph.constant
        missing, function = self._missing(of.cell), of.function
        match function:
            case Step(level, centre, among=among):
                others = [one for one in among if one != level]
                values = np.array([1.0, *[0.0] * len(others), centre * bool(among)])
                at = self._place(of.cell, [level, *others])
                x = op("Gather", constant(values - centre), at)
                x = op("Where", missing, constant([[0.0]]), x)
            case Line(low, high, centre):
                x = self._number(of.cell)
                if of.cell.above is not None:
                    x = op("Cast", op("Greater", x, constant([[of.cell.above]])), to=DOUBLE)
                x = self._line(x, missing, low, high, centre)
        return op("Div", x, constant([[function.scale]]))

    def _add_rules(self, rules: Sequence[views.RuleTerm]) -> None:
        """Add what some rules say: tensors of shape (n, conditions), then (n, rules)."""
        op, whole = self.graph.op, self.graph.whole
        every = list(dict.fromkeys(of for rule in rules for of in rule.conditions))
        place = {of: i for i, of in enumerate(every)}
        # The strides of a rule that has fewer conditions than another are 0 at last.
        shape = max(len(rule.conditions) for rule in rules), len(rules)
        at, strides = np.zeros((2, *shape), np.int64)
        for j, rule in enumerate(rules):
            for i, (of, stride) in enumerate(rule.strided):
                at[i, j], strides[i, j] = place[of], stride
        sides = op("Concat", *map(self._side, every), axis=1)
        sides = op("Mul", op("Gather", sides, whole(at), axis=1), whole([strides]))
        cell = op("ReduceSum", sides, whole([1]), keepdims=0)
        first = np.cumsum([0, *(len(rule.points) for rule in rules[:-1])])
        table = self.graph.constant(np.vstack([rule.points for rule in rules]))
        points = op("Gather", table, op("Add", cell, whole([first])))
        self.added.append(op("ReduceSum", points, whole([1]), keepdims=0))

    def _side(self, of: views.OfCell[Above | OneOf]) -> Tensor:
        """Return the side of each cell: 1 where a condition holds, 0 or 2 where not, (n, 1)."""
        op, whole = self.graph.op, self.graph.whole
        match of.function:
            case OneOf() as test:
                levels = [level for level in (*test.levels, *test.others) if level is not None]
                sides = [*map(test.sides.get, levels), test.elsewhere]
                side = op("Gather", whole(sides), self._place(of.cell, levels))
            case Above(edge):
                reached = op("GreaterOrEqual", self._number(of.cell), self.graph.constant([[edge]]))
                side = op("Cast", reached, to=INT64)
        return op("Where", self._missing(of.cell), whole([[of.missing]]), side)

    def _add_tokens(self, term: views.TokensTerm) -> None:
        op, of, whole = self.graph.op, self.graph.constant, self.graph.whole
        unknown = len(term.tokens)
        at = self.graph.number_of(self._input(term.cell, "tokens", dict(term.split)), term.tokens)
        if term.binary:  # sorted, so that a token that comes again follows itself
            wide = op("Slice", op("Shape", at), whole([1]), whole([2]))
            at = self.graph.sorted(at, wide)
            before = op("Pad", at, whole([0, 1, 0, -1]), whole(-1))
            at = op("Where", op("Equal", at, before), whole([[unknown]]), at)
        points = np.vstack([term.points, np.zeros(term.points.shape[1])])
        added = op("ReduceSum", op("Gather", of(points), at), whole([1]), keepdims=0)
        if term.length_power:
            known = op("Cast", op("Less", at, whole([[unknown]])), to=DOUBLE)
            count = op("ReduceSum", known, whole([1]), keepdims=1)
            length = op("Pow", op("Max", count, of([[1.0]])), of(term.length_power))
            added = op("Div", added, length)
        if term.there.any():
            missing = self._input(term.cell, "missing")
            added = op("Add", added, op("Where", missing, of([[0.0]]), of([term.there])))
        self.added.append(added)
