"""Faults of what is shown: results, curves, evidence, and the report."""

from tests.mutants.fault import Fault

FAULTS = [
    Fault(
        "the page's evidence of a column holds the class prior too",
        "src/naively/report/scorer.py",
        "joint[:-1] - joint[-1]",
        "joint[:-1] - joint[-1] + model.start",
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
        "src/naively/report/page.py",
        'return text.replace("<", "\\\\u003c")',
        "return text",
        ("tests/test_report.py",),
    ),
    Fault(
        "the rows that were most wrong are the least wrong",
        "src/naively/report/rows.py",
        '("most wrong", rows[~hit], of_right)',
        '("most wrong", rows[~hit], -of_right)',
        ("tests/test_report.py",),
    ),
    Fault(
        "a learning curve counts the first rows again at each size",
        "src/naively/evaluation/learning_curve.py",
        "count_batch(learned.take(np.arange(done, size)), model.counted)",
        "count_batch(learned.take(np.arange(0, size)), model.counted)",
        ("tests/test_learning_curve.py",),
    ),
    Fault(
        "the class prior of a smoothing curve knows the row that is left out",
        "src/naively/evaluation/smoothing_curve.py",
        "count = model.tally.class_count - labels.one_hot()",
        "count = model.tally.class_count - 0 * labels.one_hot()",
        ("tests/test_smoothing_curve.py",),
    ),
    Fault(
        "the evidence of a class takes its prior from the class alone",
        "src/naively/model/evidence.py",
        "fixed = replace(event, prior=prior)",
        "fixed = replace(event)",
        ("tests/test_log_evidence.py",),
    ),
    Fault(
        "the likelihood of labelled rows leaves their labels out",
        "src/naively/model/likelihood.py",
        "of_row = model.class_log_prior[codes] + class_log_likelihoods(model, rows)[at]",
        "of_row = class_log_likelihoods(model, rows)[at]",
        ("tests/test_likelihood.py",),
    ),
    Fault(
        "dependence is not that given the class",
        "src/naively/evaluation/dependence.py",
        "information += of_both - of_one - of_one.T + n_log_n(total)",
        "information += of_both - of_one - of_one.T",
        ("tests/test_dependence.py",),
    ),
    Fault(
        "two interactions' evidence is moved as if it were one column's",
        "src/naively/report/scorer.py",
        "moved = moved + sum(pair.of_rows() for pair in pairs)",
        "moved = moved + 0.0",
        ("tests/test_report.py",),
    ),
]
