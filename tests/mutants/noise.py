"""Faults of the noise in counts that leave, each of which would show rows."""

from tests.mutants.fault import Fault

LAWS = ("tests/test_noise.py", "tests/test_privacy.py")

FAULTS = [
    Fault(
        "noise hides one count where a row changes several",
        "src/naively/counting/noise.py",
        "return cls(added / Fraction(epsilon))",
        "return cls(1 / Fraction(epsilon))",
        LAWS,
    ),
    Fault(
        "the noise is half as wide as it must be",
        "src/naively/counting/noise.py",
        "squared / (2 * math.exp(low))",
        "squared / (8 * math.exp(low))",
        LAWS,
    ),
    Fault(
        "class counts are not accounted for",
        "src/naively/model/privacy.py",
        "Sensitivity(1, 1, 0), *changes",
        "Change(0, 0, 0), *changes",
        LAWS,
    ),
    Fault(
        "a word that comes often in a text counts as one",
        "src/naively/model/privacy.py",
        "most if once else most**2",
        "most",
        LAWS,
    ),
    Fault(
        "the threshold is for one class",
        "src/naively/model/privacy.py",
        "each = change.new * classes",
        "each = change.new",
        LAWS,
    ),
    Fault(
        "class counts leave without noise",
        "src/naively/model/privacy.py",
        "np.maximum(adding.to(model.counted.tally.weight.high), 1.0)",
        "np.maximum(model.counted.tally.weight.high, 1.0)",
        LAWS,
    ),
    Fault(
        "the order of words says which came first",
        "src/naively/model/privacy.py",
        "            kept.sort(key=words.__getitem__)",
        "            kept.sort()",
        LAWS,
    ),
    Fault(
        "cells are as narrow as the rows allow",
        "src/naively/model/privacy.py",
        "block.axis.coarsened(MANTISSA - resolution)",
        "block.axis.coarsened(max(block.axis.shifts))",
        LAWS,
    ),
    Fault(
        "weights that were fitted to rows leave",
        "src/naively/model/privacy.py",
        "        None,\n        (*model.noise, said)",
        "        model.weights,\n        (*model.noise, said)",
        LAWS,
    ),
    Fault(
        "a merged model forgets the other's noise",
        "src/naively/model/model.py",
        "            noise += model.noise\n",
        "",
        LAWS,
    ),
    Fault(
        "a text is counted whole",
        "src/naively/schema/text.py",
        "else first[:most]",
        "else first",
        LAWS,
    ),
]
