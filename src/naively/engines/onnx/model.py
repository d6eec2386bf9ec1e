"""A scorecard as an ONNX model: labels and probabilities from the cells of a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.counting.labels import LabelArray
from naively.engines.onnx.graph import Graph, Tensor, Value
from naively.engines.onnx.inputs import Input, inputs_of
from naively.engines.onnx.terms import Scored
from naively.file.parts import write_classes
from naively.model.scorecard.scorecard import Scorecard

if TYPE_CHECKING:
    from onnx import ModelProto

DOUBLE, STRING, INT64, BOOL = 11, 8, 7, 9  # as ONNX numbers the types of tensors
TYPES = {"number": DOUBLE, "string": STRING, "tokens": STRING, "missing": BOOL}


def onnx_of(card: Scorecard) -> ModelProto:
    """Return a scorecard as an ONNX model, whose scores are those of the scorecard in doubles.

    Parameters
    ----------
    card : Scorecard
        What is added up.

    Returns
    -------
    model : ModelProto
        Its inputs are tensors with a row for each row, and its outputs are "label" (n,) and
        "probabilities" (n, classes), as doubles. Its metadata say which input is of which column
        ("inputs"), and the classes ("classes"), both as JSON.

    Raises
    ------
    ImportError
        If the package onnx is not installed.
    ValueError
        If the model reads no column, or is larger than 2 GB.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> X = {"legs": [2.0, 4.0, 4.0, 2.0]}
    >>> nb = NaiveBayes("gaussian").fit(X, ["bird", "cat", "cat", "bird"])
    >>> model = onnx_of(Scorecard.of(nb.model_))
    >>> [each.name for each in model.graph.input], [each.name for each in model.graph.output]
    (['legs'], ['label', 'probabilities'])
    """
    _check_onnx()
    inputs, graph = inputs_of(card), Graph()
    added = Scored(graph, inputs).all(card.terms)
    label, kind = _outputs(graph, card, added)
    for of in inputs.values():
        if of.optional:
            graph.default(of.name, np.zeros((1, 1), bool))
    metadata = {
        "inputs": json.dumps([of.to_dict() for of in inputs.values()], ensure_ascii=False),
        "classes": json.dumps(write_classes(card.classes)["labels"], ensure_ascii=False),
    }
    takes = [Value(of.name, TYPES[of.what], _shape(of)) for of in inputs.values()]
    gives = [
        Value(label, kind, ["n"]),
        Value("probabilities", DOUBLE, ["n", len(card.classes)]),
    ]
    model: ModelProto = graph.model(takes, gives, metadata)
    return model


def _check_onnx() -> None:
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "ONNX models are written by the package onnx; install it with: "
            "pip install 'naively[onnx]'."
        ) from error


def _shape(of: Input) -> list[str | int]:
    if of.what == "tokens":
        return ["n", f"tokens of {of.name}"]
    return [f"n or 1 of {of.name}" if of.optional else "n", 1]


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
    return graph.strings([str(label) for label in labels]), STRING
