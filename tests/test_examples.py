"""The example data: plentiful, the same each time, with no answer left in the question."""

import os
import re
import subprocess
import sys

import pytest

from naively import datasets

NAME = re.compile(
    r"numpy|scipy|sklearn|scikit|https?:"
    r"|(?<![a-z])(?:np|npt|npy|npz|sp)(?![a-z])",
    re.IGNORECASE,
)
DIGEST = """
import hashlib
from naively.datasets import docstrings
print(hashlib.sha256(repr(docstrings()).encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def documents():
    return datasets.docstrings()


@pytest.mark.slow
def test_thousands_of_texts_of_three_libraries(documents):
    texts, labels = documents
    assert len(texts) == len(labels) > 2000
    assert set(labels) == {"numpy", "scipy", "scikit-learn"}
    assert min(labels.count(label) for label in set(labels)) > 400


@pytest.mark.slow
def test_no_text_names_a_library(documents):
    texts, _ = documents
    assert [
        text[m.start() - 30 : m.end() + 30] for text in texts for m in NAME.finditer(text)
    ] == []


def test_each_text_once_and_long_enough(documents):
    texts, _ = documents
    assert len(set(texts)) == len(texts)
    assert min(len(text.split()) for text in texts) >= datasets.SHORTEST


@pytest.mark.slow
def test_same_texts_in_every_process():
    # Not compared with this process: what it has imported may have edited a docstring.
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (">>> import numpy as np\n>>> np.linalg.norm([3, 4])", "norm([3, 4])"),
        ("from scipy import (stats,\n    special)\nthe end", "the end"),
        (
            "See :func:`~numpy.linalg.norm` or :ref:`lines <sp_lines>`.",
            "See norm or lines.",
        ),
        ("`~.linalg.norm` of ``np.ndarray``", "norm of ndarray"),
        (".. versionadded:: 1.17\nUse SciPy's own.", "Use 's own."),
        ("scikit-learn, Scikit Learn, scikits.image, npy_intp", ", , image,"),
        ("a simple sample, completely implemented", "a simple sample, completely implemented"),
        ("Parameters\n----------\nx : `array`", "Parameters x : array"),
    ],
)
def test_names_imports_and_markup_are_taken_out(before, after):
    assert datasets._anonymous(before) == after


@pytest.mark.parametrize("load", [datasets.digits, datasets.wine, datasets.breast_cancer])
def test_tables_are_complete(load):
    X, y, columns, classes = load()
    assert X.shape == (len(y), len(columns))
    assert sorted(set(y.tolist())) == list(range(len(classes)))
    assert all(type(name) is str for name in columns + classes)
