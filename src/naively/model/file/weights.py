"""The weights of a model in a file: which parts they are of is in the header, they are arrays."""

from __future__ import annotations

import numpy as np

from naively.counting.labels import Label, LabelArray
from naively.counting.parts import Part
from naively.model.file.container import Arrays, UnreadArrays
from naively.model.file.declared import Saved, at
from naively.model.file.formats import Columnar, SavedWeights
from naively.model.file.keys import read_key, write_key
from naively.model.file.linear import read_linear, terms_of, write_linear
from naively.model.weights import NOTHING, Weights

LARGEST = 1e12  # of a weight, or a bias in nats
BANDS = 1100  # of document frequency, by powers of two; a float counts no further


def write_weights(weights: Weights, classes: list[Label], arrays: Arrays) -> Saved:
    """Return what the header says of weights, and add their arrays.

    The arrays are ``weights`` of shape (parts, classes), ``bias`` of shape (classes,), without the
    intercept of the linear part, and those of the linear part.
    """
    parts, places = list(weights.of), weights.places(classes)
    arrays["weights"] = weights.table(parts, classes)
    arrays["bias"] = np.array([*weights.bias, 0.0])[places]
    keys = [*(part.group for part in parts), *(term.group for term in terms_of(weights.linear))]
    place = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return {
        "groups": [write_key(key) for key in place],
        "of": [[place[part.group], part.column, part.band] for part in parts],
        "usual": weights.usual,
        "rows": weights.rows,
        "how": weights.how,
        "linear": write_linear(weights.linear, place, places, arrays),
    }


def read_weights(
    saved: SavedWeights,
    unread: UnreadArrays,
    classes: LabelArray,
    order: Columnar,
) -> Weights:
    """Return the weights that were written, or raise a ValueError.

    Parameters
    ----------
    saved : SavedWeights
        What the header says of them.
    unread : UnreadArrays
        The arrays of the file.
    classes : ndarray of shape (classes,)
        The labels.
    order : range or tuple
        The columns of the table.
    """
    weight, bias = unread.take("weights"), unread.take("bias")
    if weight.shape != (len(saved.of), len(classes)) or bias.shape != classes.shape:
        raise ValueError("weights have the wrong shape")
    in_range = ((weight >= 0) & (weight <= LARGEST)).all() and (np.abs(bias) <= LARGEST).all()
    if not (in_range and 0 <= saved.usual <= LARGEST and saved.rows >= 0):
        raise ValueError("weights must be finite and at least 0")
    keys = []
    for i, key in enumerate(saved.groups):
        with at(f"weights.groups[{i}]"):
            keys.append(read_key(key))
    parts = []
    for group, column, band in saved.of:
        if not 0 <= group < len(keys):
            raise ValueError("there are weights of columns that there are not")
        if band is not None and not 0 <= band < BANDS:
            raise ValueError(f"there are no words of band {band}")
        parts.append(Part(keys[group], column, band))
    of = dict(zip(parts, map(tuple, weight.tolist()), strict=True))
    if len(of) < len(parts):
        raise ValueError("there are two weights of one part")
    linear = NOTHING
    if saved.linear is not None:
        with at("weights.linear"):
            linear = read_linear(saved.linear, unread, len(classes), keys, order)
    usual, rows = float(saved.usual), float(saved.rows)
    return Weights(
        tuple(classes.tolist()), of, tuple(bias.tolist()), usual, rows, saved.how, linear
    )
