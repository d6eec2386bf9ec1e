"""Texts counted and scored by a vocabulary and the kernels that take what it has encoded."""

import numpy as np

from naively.kernels import dispatch
from naively.kernels.double_double import Sums
from naively.kernels.sparse_sums import SparseSums


def count(vocabulary, texts, y, w, k, presence):
    """Return the weighted counts of tokens by class, (tokens, classes); the vocabulary grows.

    They are a pair of high and low parts, and the low parts None where the counts are exact.
    """
    indptr, number, times = vocabulary.encode(texts, presence, True)
    size = len(vocabulary)
    first, classes, high, low = dispatch.tally_sparse(indptr, number, times, y, w, k, size)
    table = SparseSums(first, classes, Sums(high, low), k)
    return table.high, None if low is None else table.low


def score(vocabulary, texts, slope, start, presence, finish, log_prior):
    """Return start + Σ of the slopes of the known tokens of each text, finished."""
    indptr, number, times = vocabulary.encode(texts, presence)
    times = np.ones(len(number)) if times is None else times
    return dispatch.score_csr(indptr, number, times, slope, start, finish, log_prior)


def lengths(vocabulary, texts, presence):
    """Return how many known tokens each text has, of shape (texts,)."""
    indptr, number, times = vocabulary.encode(texts, presence)
    times = np.ones(len(number)) if times is None else times
    return np.diff(np.append(0, np.cumsum(times))[indptr]).astype(np.int64)


def dense(csr, shape):
    """Return the array of what a vocabulary has encoded, whose types are checked."""
    indptr, indices, data = csr
    assert indptr.dtype == np.int64
    assert indices.dtype == np.int32
    data = np.ones(len(indices)) if data is None else data
    assert data.dtype == np.float64
    out = np.zeros(shape)
    for i in range(shape[0]):
        row = slice(indptr[i], indptr[i + 1])
        assert len(set(indices[row].tolist())) == len(indices[row])
        out[i, indices[row]] = data[row]
    return out
