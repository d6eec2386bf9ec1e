"""Faults of the way in: of columns, streams and files, and what they say."""

from tests.mutants.fault import Fault

FAULTS = [
    Fault(
        "the offset of a slice of Arrow is forgotten in its missing cells",
        "src/naively/data/arrow.py",
        "within = view.offset - 8 * first",
        "within = 0",
        ("tests/test_arrow.py",),
    ),
    Fault(
        "nanoseconds are taken for microseconds",
        "src/naively/data/arrow.py",
        "moments = values // (per_second // MICROSECONDS)",
        "moments = values",
        ("tests/test_arrow.py",),
    ),
    Fault(
        "the high words of a decimal are lost",
        "src/naively/data/arrow.py",
        "(signed[:, 1:] != signed[:, :1] >> 63).any(axis=1)",
        "np.zeros(len(signed), np.bool_)",
        ("tests/test_arrow.py",),
    ),
    Fault(
        "invalid bytes of UTF-8 are replaced without a word",
        "src/naively/data/arrow.py",
        "    if count:\n",
        "    if count > 99:\n",
        ("tests/test_arrow.py",),
    ),
    Fault(
        "a name of digits is a number",
        "src/naively/data/stream.py",
        'wrong = [none] if guess == "any number" else [none, name]',
        "wrong = [none]",
        ("tests/test_files.py", "tests/test_tables.py"),
    ),
    Fault(
        "what was counted before rows are counted again stays",
        "src/naively/engines/stream.py",
        "return _learn(table, event_models, settings, sample.empty(), known)",
        "return _learn(table, event_models, settings, sample, known)",
        ("tests/test_streams.py",),
    ),
    Fault(
        "the weights of a batch are those of the first rows",
        "src/naively/engines/stream.py",
        "return of[done:end]",
        "return of[: len(table)]",
        ("tests/test_streams.py",),
    ),
    Fault(
        "rows that a file has lost are not missed",
        "src/naively/data/files/tables.py",
        "                _check_rows(self._source, self._scan, read)",
        "                pass",
        ("tests/test_tables.py",),
    ),
    Fault(
        "the rows of a second file are named as those of the first",
        "src/naively/data/files/reader.py",
        'np.searchsorted(self._begins, row, side="right")) - 1',
        'np.searchsorted(self._begins, row, side="right")) * 0',
        ("tests/test_several_files.py",),
    ),
    Fault(
        "a missing category of pandas is the last one",
        "src/naively/data/pandas.py",
        "codes = np.asarray(array.codes, np.int64)",
        "codes = np.maximum(np.asarray(array.codes, np.int64), 0)",
        ("tests/test_rows.py", "tests/test_looked_at_first.py"),
    ),
]
