"""The likelihood of rows under each class, and of labelled rows under the model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Label, LabelArray, Labels
from naively.data.rows import Rows
from naively.kernels.reference import Floats
from naively.model.count import check_rows
from naively.model.model import Model


def class_log_likelihoods(model: Model, rows: Rows) -> Floats:
    """Return log p(row | class), of shape (rows, classes), by the event models without weights.

    The base measure is in it. Interactions have no part in it: with them probabilities would not
    sum to 1.
    """
    plain = generative(model)
    batch, none = plain.encode(rows), np.zeros(len(model.classes))
    total = np.zeros((len(batch), len(model.classes)))
    for key, block in plain.blocks(batch).items():
        likelihood = plain.unweighted_likelihoods[key]
        total = likelihood.log_prob(block, total, "joint", none)
        total += likelihood.log_base(block)[:, None]
    return total


def generative(model: Model) -> Model:
    """Return the model without weights and interactions: what says how rows are generated.

    Raises
    ------
    ValueError
        If an event model is of no distribution of rows.
    """
    for group in model.schema.groups:
        group.event.check_density()
    return model.pure


def log_likelihoods(model: Model, rows: Rows, label: Label | LabelArray) -> Floats:
    """Return log p(row | label), (rows,), for one label or a label of each row, (rows,)."""
    every = np.empty(len(rows), object)
    every[:] = label.tolist() if isinstance(label, np.ndarray) else [label] * len(rows)
    codes = places(model, every)
    found: Floats = class_log_likelihoods(model, rows)[np.arange(len(rows)), codes]
    return found


def log_likelihood(model: Model, rows: Rows, labels: Labels) -> float:
    """Return log p(rows, labels), in nats: the sum over rows, each times its weight.

    Raises
    ------
    ValueError
        If a row has a label that the model does not know.
    """
    check_rows(rows, labels)
    codes = places(model, labels.classes[labels.codes])
    at = np.arange(len(codes)), codes
    of_row = model.class_log_prior[codes] + class_log_likelihoods(model, rows)[at]
    weight = labels.weights
    return float(of_row[weight > 0] @ weight[weight > 0])  # what weighs nothing is not impossible


def places(model: Model, labels: LabelArray) -> NDArray[np.int64]:
    """Return the number of the class of each label, (rows,).

    Raises
    ------
    ValueError
        If a label is no class of the model; it names the first row of one.
    """
    codes = class_codes(model, labels)
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        raise ValueError(
            f"Row {row} has the label {labels.tolist()[row]!r}, which the model does not know; its "
            f"classes are {model.classes.tolist()}."
        )
    return codes


def class_codes(model: Model, labels: LabelArray) -> NDArray[np.int64]:
    """Return the number of the class of each label, (rows,); -1 where it is no class."""
    place = {label: c for c, label in enumerate(model.classes.tolist())}
    return np.array([place.get(label, -1) for label in labels.tolist()], np.int64)
