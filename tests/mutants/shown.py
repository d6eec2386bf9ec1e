"""Faults of what is shown: results, curves, evidence, and the report."""

from tests.mutants.fault import Fault

FAULTS = [
    Fault(
        "a number that is missing is 0 in the rows that the page moves",
        "src/naively/report/scorer.py",
        "None if np.isnan(x) else of",
        "0.0 if np.isnan(x) else of",
        ("tests/test_report.py",),
    ),
    Fault(
        "a time in the rows that the page moves loses its fraction of a second",
        "src/naively/report/scorer.py",
        'str(time).removesuffix(".000000")',
        "str(time)[:19]",
        ("tests/test_report.py",),
    ),
    Fault(
        "the page moves the columns that are worth least",
        "src/naively/report/scorer.py",
        "moved = names[:MOVABLE]",
        "moved = names[-MOVABLE:]",
        ("tests/test_report.py",),
    ),
    Fault(
        "a slider ends before the greatest number of its column",
        "src/naively/report/scorer.py",
        '"high": math.ceil(high / step) * step',
        '"high": math.floor(high / step) * step',
        ("tests/test_report.py",),
    ),
    Fault(
        "a label or a cell is markup on the page",
        "src/naively/report/html.py",
        'return f"<bdi>{html.escape(text, quote=True)}</bdi>"',
        'return f"<bdi>{text}</bdi>"',
        ("tests/test_report.py",),
    ),
    Fault(
        "a label can end the element that the page's program reads",
        "src/naively/report/scorer.py",
        'return "\\\\u003c"',
        "return of",
        ("tests/test_report.py",),
    ),
    Fault(
        "the rows that were most wrong are the least wrong",
        "src/naively/report/subject.py",
        '("most wrong", rows[~hit], of_right)',
        '("most wrong", rows[~hit], -of_right)',
        ("tests/test_report.py",),
    ),
    Fault(
        "a learning curve counts the first rows again at each size",
        "src/naively/assess/curves.py",
        "count_batch(learned.take(np.arange(done, size)), model.counted.schema)",
        "count_batch(learned.take(np.arange(0, size)), model.counted.schema)",
        ("tests/test_learning_curve.py",),
    ),
    Fault(
        "the class prior of a smoothing curve knows the row that is left out",
        "src/naively/assess/curves.py",
        "count = model.counted.tally.class_count - labels.one_hot()",
        "count = model.counted.tally.class_count - 0 * labels.one_hot()",
        ("tests/test_smoothing_curve.py",),
    ),
    Fault(
        "the evidence of a class takes its prior from the class alone",
        "src/naively/inspect/likelihood.py",
        "fixed = replace(event, prior=prior)",
        "fixed = replace(event)",
        ("tests/test_log_evidence.py",),
    ),
    Fault(
        "the likelihood of labelled rows leaves their labels out",
        "src/naively/inspect/likelihood.py",
        "of_row = model.pure.class_log_prior[codes] + class_log_likelihoods(model, rows)[at]",
        "of_row = class_log_likelihoods(model, rows)[at]",
        ("tests/test_likelihood.py",),
    ),
    Fault(
        "dependence is not that given the class",
        "src/naively/assess/dependence.py",
        "information += of_both - of_one - of_one.T + n_log_n(total)",
        "information += of_both - of_one - of_one.T",
        ("tests/test_dependence.py",),
    ),
    Fault(
        "a report's rows: those that were learned are not looked up",
        "src/naively/fitting/sample.py",
        "return float(np.isin(keys, kept).mean())",
        "return float(np.isin(keys, kept[:0]).mean())",
        ("tests/test_report.py",),
    ),
    Fault(
        "a report's rows: of a sample all are looked up",
        "src/naively/fitting/sample.py",
        "        keys = keys[keys <= _by_label(highest, seen.labels)]",
        "        pass",
        ("tests/test_report.py",),
    ),
]
