"""Rows are scored: the evidence of their blocks is added up, and finished."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from naively.counting.block import Batch, Block
from naively.kernels import dispatch
from naively.kernels.reference import Finish, Finished
from naively.schema.group import GroupKey

if TYPE_CHECKING:
    from naively.model.model import Model

AT_ONCE = 1 << 24  # scores, a row and a class each, that are added up together


def score(model: Model, batch: Batch, finish: Finish) -> Finished:
    """Add up the evidence of encoded rows, and finish it (see ``Finish`` in the kernels).

    Labels, as numbers of classes, are of shape (rows,), all else of shape (rows, classes).
    """
    found = [_score(model, piece, finish) for piece in batch.pieces()]
    return found[0] if len(found) == 1 else np.concatenate(found)


def _score(model: Model, batch: Batch, finish: Finish) -> Finished:
    """Score rows whose texts are split at once."""
    blocks = model.blocks(batch)
    n = len(batch) * len(model.classes) // AT_ONCE + 1
    if finish != "label" or n == 1 or len(blocks) == 1:
        return _finished(model, blocks, len(batch), finish)
    # Between two blocks there is a number for each row and class.
    found = []
    for rows in np.array_split(np.arange(len(batch)), n):
        some = {key: block.select(rows) for key, block in blocks.items()}
        found.append(_finished(model, some, len(rows), finish))
    return np.concatenate(found)


def _finished(model: Model, of_group: Mapping[GroupKey, Block], n: int, finish: Finish) -> Finished:
    """Add up the evidence of n rows' blocks, and finish it."""
    log_prior, blocks = model.class_log_prior, list(of_group.items())
    out: Finished = model.start
    for _, added in model.products(of_group):
        out = out + added
    for i, (name, block) in enumerate(blocks):
        last = finish if i == len(blocks) - 1 else "joint"
        out = model.likelihoods[name].log_prob(block, out, last, log_prior)
    if not blocks:
        out = dispatch.finish_rows(np.tile(model.start, (n, 1)), finish, log_prior)
    return out
