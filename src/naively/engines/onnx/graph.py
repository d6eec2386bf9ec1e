"""A graph of ONNX that is written operator by operator; a tensor is known by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from naively.kernels.reference import Floats

Tensor: TypeAlias = str

OPSET, ML_OPSET, IR = 17, 3, 8  # of 2022, so that runtimes that are older than models read them
LARGEST = 2**31 - 2**16  # bytes of a file: protocol buffers hold 2 GB


class Value(NamedTuple):
    """An input or an output: its name, its type as ONNX numbers it, and its shape."""

    name: Tensor
    type: int
    shape: Sequence[str | int]


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
        """Return a constant tensor; equal small ones are one."""
        array = np.ascontiguousarray(np.asarray(value, dtype))
        key = (array.dtype.str, array.shape, array.tobytes()) if array.size < 64 else ()
        if key and key in self._known:
            return self._known[key]
        name = f"c.{len(self.constants)}"
        self.default(name, array)
        if key:
            self._known[key] = name
        return name

    def strings(self, values: Sequence[str]) -> Tensor:
        """Return a constant tensor of strings."""
        name = f"c.{len(self.constants)}"
        of = self._helper.make_tensor(name, 8, [len(values)], [v.encode() for v in values])
        self.constants.append(of)
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
            up = self.op("Cast", self.op("GreaterOrEqual", x, edge), to=7)
            at = self.op("Add", at, self.op("Mul", up, self.whole(step)))
        # Without edges nothing has the shape of x yet.
        return at if steps else self.op("Mul", self.op("Cast", x, to=7), self.whole(0))

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
        self,
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        metadata: Mapping[str, str],
    ) -> Any:
        """Return the model of these inputs and outputs."""
        of, value = self._helper, self._helper.make_tensor_value_info
        ins, outs = ([value(*each) for each in some] for some in (inputs, outputs))
        graph = of.make_graph(self.nodes, "naively", ins, outs, self.constants)
        sets = [of.make_opsetid("", OPSET), of.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = of.make_model(graph, opset_imports=sets, ir_version=IR, producer_name="naively")
        of.set_model_props(model, dict(metadata))
        return model
