"""Faults of what is added to the columns: missing cells, the linear part, and interactions."""

from tests.mutants.fault import Fault

FAULTS = [
    Fault(
        "all cells of a column count as missing",
        "src/naively/schema/settle.py",
        "        lacking -= there\n",
        "",
        ("tests/test_missingness.py",),
    ),
    Fault(
        "a missing cell is as far from the mean as one unit of its column",
        "src/naively/likelihoods/numbers.py",
        "line[np.isnan(line)] = 0.0",
        "line[np.isnan(line)] = 1.0",
        ("tests/test_sloped.py",),
    ),
    Fault(
        "the intercept of the linear part is left out",
        "src/naively/model/weights.py",
        " + self.linear.intercept_of(places)",
        "",
        ("tests/test_linear_part.py", "tests/test_interactions.py"),
    ),
    Fault(
        "of two linear parts the intercepts are those of the first",
        "src/naively/model/linear_part.py",
        "intercept += (1 - share) * other.intercept_of(places[1])",
        "intercept += (1 - share) * self.intercept_of(places[0])",
        ("tests/test_linear_part_kept.py",),
    ),
    Fault(
        "the weight of a missing cell is not shrunk more where rows are few",
        "src/naively/fitting/weights.py",
        "OF_MISSING * many * (1 + FEW / rows)",
        "OF_MISSING",
        ("tests/test_missingness.py", "tests/test_fitted_weights.py"),
    ),
    Fault(
        "of what products and rules add to the same columns only the last counts",
        "src/naively/fitting/leave_one_out.py",
        "of_batch[name] + added if name in of_batch else added",
        "added",
        ("tests/test_interactions.py",),
    ),
    Fault(
        "a sample of a table in a database claims to have all rows of low keys",
        "src/naively/fitting/sample.py",
        "            self._grows = False  # of a larger sample there are too few rows\n",
        "",
        ("tests/test_fit_sql.py",),
    ),
    Fault(
        "the folds of an assessment choose interactions by all rows",
        "src/naively/assess/folds.py",
        "add_interactions(rest, others)",
        "add_interactions(rest, sample)",
        ("tests/test_interactions.py",),
    ),
    Fault(
        "the rows of a table that is added to others stand where they stood in it",
        "src/naively/counting/tally.py",
        "parts.append((rows, other.sums[statistic]))",
        "parts.append((None, other.sums[statistic]))",
        ("tests/test_sums.py", "tests/test_merge_rule.py"),
    ),
    Fault(
        "the folds of an assessment are rounded down",
        "src/naively/assess/folds.py",
        "math.ceil(FOLDS * share)",
        "int(FOLDS * share)",
        ("tests/test_honesty.py",),
    ),
    Fault(
        "an order of rows in which those that have the same cells stand as their names have it",
        "src/naively/fitting/leave_one_out.py",
        "return [np.lexsort(of) for of in zip(then, first, strict=True)]",
        'return [np.argsort(of, kind="stable") for of in first]',
        ("tests/test_names.py",),
    ),
    Fault(
        "classes are dealt out in the order of their names",
        "src/naively/fitting/leave_one_out.py",
        'order[np.argsort(first[number], kind="stable")]',
        'order[np.argsort(number, kind="stable")]',
        ("tests/test_names.py",),
    ),
    Fault(
        "a sum that goes on with the words of what was added to it adds words to that too",
        "src/naively/counting/tally.py",
        "other.axis.vocabulary, False",
        "other.axis.vocabulary, True",
        ("tests/test_merge_rule.py",),
    ),
    Fault(
        "tables of words wait to be added up as long as they are small beside a computer's memory",
        "src/naively/counting/tally.py",
        "WAITING = 1 << 24",
        "WAITING = 1 << 30",
        ("tests/test_streams.py",),
    ),
]
