"""Faults of the noise in counts that leave, each of which would show rows."""

from tests.mutants.fault import Fault

LAWS = ("tests/test_noise.py", "tests/test_privacy.py")
NOISE = PRIVACY = "src/naively/wings/private.py"

FAULTS = [
    Fault(name, file, was, now, LAWS)
    for name, file, was, now in [
        ("noise hides one count where a row changes several", NOISE,
         "return cls(added / Fraction(epsilon))", "return cls(1 / Fraction(epsilon))"),
        ("the noise is half as wide as it must be", NOISE,
         "squared / (2 * math.exp(low))", "squared / (8 * math.exp(low))"),
        ("class counts are not accounted for", PRIVACY,
         "Sensitivity(1, 1, 0), *changes", "Change(0, 0, 0), *changes"),
        ("a word that comes often in a text counts as one", PRIVACY,
         "most if once else most**2", "most"),
        ("the threshold is for one class", PRIVACY,
         "each = change.new * classes", "each = change.new"),
        ("class counts leave without noise", PRIVACY,
         "np.maximum(adding.to(model.counted.tally.weight.high), 1.0)",
         "np.maximum(model.counted.tally.weight.high, 1.0)"),
        ("the order of words says which came first", PRIVACY,
         "            kept.sort(key=words.__getitem__)", "            kept.sort()"),
        ("cells are as narrow as the rows allow", PRIVACY,
         "block.axis.coarsened(MANTISSA - resolution)",
         "block.axis.coarsened(max(block.axis.shifts))"),
        ("weights that were fitted to rows leave", PRIVACY,
         "(*model.counted.noise, said),\n        )\n    )",
         "(*model.counted.noise, said),\n        ),\n        model.weights,\n    )"),
        ("a merged model forgets the other's noise", "src/naively/model/counted.py",
         "            noise += part.noise\n", ""),
        ("a text is counted whole", "src/naively/schema/text.py",
         "else first[:most]", "else first"),
    ]
]  # fmt: skip
