"""What two machines compute alike: ``python tools/same_bits.py bits.npz`` on both, with one file.

The first run writes what was learned from fixed rows, and what is predicted of them; a run that
finds the file compares. It says of each model whether its counts, its fitted weights and its
probabilities are the same to the bit, or by how much they are apart, and ends with status 1 if
counts differ.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load as tensors_of

import naively
from naively import NaiveBayes

ROWS = 3000
DROP_INS = ("GaussianNB", "MultinomialNB", "BernoulliNB", "ComplementNB", "CategoricalNB")
PURE = ("gaussian", "histogram", "density", "categorical")
FITTED = ("weights", "bias", "linear")


def learned() -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Make each model and yield its arrays, and its probabilities, by name."""
    i = np.arange(ROWS)
    y = i % 3
    numbers = (i[:, None] * np.array([7, 11, 13, 17]) % 1009 - 500) / 64 + y[:, None] * np.arange(4)
    for name in DROP_INS:
        X = numbers if name == "GaussianNB" else np.abs(numbers.round()).astype(int)
        yield f"{name}: probabilities", getattr(naively, name)().fit(X, y).predict_proba(X)
    table = {
        "letter": np.array(list("xyz"))[(i * i + y) % 3].tolist(),
        "size": [None if k % 7 == 0 else x for k, x in enumerate(numbers[:, 1].tolist())],
        "true": (numbers[:, 2] > 1).tolist(),
    }
    texts = [
        " ".join(f"word{(k * k + 7 * j) % (50 + 90 * (k % 3))}" for j in range(20))
        for k in range(ROWS)
    ]
    made = {f"pure {of}": (NaiveBayes(event_models=of, weights=None), numbers, y) for of in PURE}
    made["default, numbers"] = NaiveBayes(), numbers, y
    made["default, a mixed table"] = NaiveBayes(), table, y
    made["pure, texts"] = NaiveBayes(weights=None), texts, y
    made["default, texts"] = NaiveBayes(), texts, y
    for name, (nb, rows, labels) in made.items():
        nb.fit(rows, labels)
        nb.save(file := io.BytesIO())
        for part, array in tensors_of(file.getvalue()).items():
            yield f"{name}: {'' if part.startswith(FITTED) else 'counts '}{part}", array
        yield f"{name}: probabilities", nb.predict_proba(rows)


def main() -> int:
    """Write the file that is named, or compare with it."""
    path = Path(sys.argv[1])
    here = dict(learned())
    if not path.exists():
        np.savez(path, **here)
        print(f"Written to {path}. Run this with the same file on another machine.")
        return 0
    other = np.load(path)
    wrong = 0
    for name, array in here.items():
        was = other[name]
        if array.tobytes() == was.tobytes():
            print(f"{name}: the same bits")
        elif "counts" in name or array.shape != was.shape:
            wrong = 1
            print(f"{name}: differ")
        else:
            apart = np.abs(array - was).max() / np.abs(was).max()
            print(f"{name}: apart by at most {apart:.1e} of the largest")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
