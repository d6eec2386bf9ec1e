"""Named faults, each of which would hurt users: do the tests that guard against it notice?

Each is planted alone, in a copy of the tree.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.mutants import noise, shown, sums, way_in
from tests.mutants.copies import Copy
from tests.mutants.fault import Fault

SECONDS = 600  # for the guards of one fault


FAULTS = [
    Fault(
        "text that is hidden by what a parent has is text",
        "src/naively/wings/mail/style.py",
        "            self.gone\n            or get",
        "            get",
        ("tests/test_hidden_text.py",),
    ),
    Fault(
        "a rule that applies on some screens hides text on all",
        "src/naively/wings/mail/style.py",
        "value if certain and is_simple else UNKNOWN",
        "value",
        ("tests/test_hidden_text.py",),
    ),
    Fault(
        "the links of hidden text are links",
        "src/naively/wings/mail/html.py",
        "if name in attributes and not look.gone:",
        "if name in attributes:",
        ("tests/test_hidden_text.py",),
    ),
    Fault(
        "a format that ends out of its place goes on",
        "src/naively/wings/mail/html.py",
        "if item.is_box and (not is_format or item.name in CELLS or place == 0):",
        "if item.is_box or item.name in FORMATS:",
        ("tests/test_hidden_text.py",),
    ),
    Fault(
        "characters without a width are evidence between words too",
        "src/naively/wings/mail/message.py",
        "{NO_WIDTH}*+(?={LETTER})",
        "{NO_WIDTH}*+",
        ("tests/test_hidden_text.py",),
    ),
    Fault(
        "weights are fitted under the given class prior, and undo it",
        "src/naively/fitting/leave_one_out.py",
        'prior = _log_prior(model, "data", once, learned, PRETEND)',
        "prior = given",
        ("tests/test_given_class_prior.py",),
    ),
    Fault(
        "a pseudo-count of words that came once has no bound",
        "src/naively/counting/leave_one_out.py",
        "min(1.0 + again, MOST)",
        "MOST",
        ("tests/test_few_rows.py",),
    ),
    Fault(
        "a sparse matrix is one of counts whatever it holds",
        "src/naively/schema/choose.py",
        "    counts[column[odd]] = False\n",
        "",
        ("tests/test_estimator.py",),
    ),
    Fault(
        "of many classes each has weights of its own",
        "src/naively/fitting/leave_one_out.py",
        "[centres and len(labels.classes) < MANY_CLASSES]",
        "[centres]",
        ("tests/test_many_classes.py",),
    ),
    Fault(
        "rows of many classes are drawn class by class",
        "src/naively/fitting/sample.py",
        'np.searchsorted(np.cumsum(weight), places, side="right")',
        'np.searchsorted(np.arange(1.0, 1 + len(weight)), places, side="right")',
        ("tests/test_many_classes.py",),
    ),
    Fault(
        "beside the best class all others are nothing",
        "src/naively/inspect/odds.py",
        "np.log(np.exp(rest - most[1][:, None]).sum(axis=1)) + most[1]",
        "found[here, first]",
        ("tests/test_many_classes.py",),
    ),
    Fault(
        "an interval of rows in groups is that of rows for themselves",
        "src/naively/assess/intervals.py",
        "        if self.groups is not None:\n            parts = np.asarray(",
        "        if self.groups is parts:\n            parts = np.asarray(",
        ("tests/test_intervals.py",),
    ),
    Fault(
        "a block of a time is judged by rows of its own groups",
        "src/naively/assess/refits.py",
        "learned &= ~np.isin(self.groups, self.groups[judged])",
        "learned &= True",
        ("tests/test_refits.py",),
    ),
    Fault(
        "what a miss would cost is not known to an interval",
        "src/naively/assess/intervals.py",
        "PRETEND = 2.0",
        "PRETEND = 0.0",
        ("tests/test_intervals.py",),
    ),
    Fault(
        "what a column is worth is a term of the sum",
        "src/naively/assess/folds.py",
        "        for share in SHORTER:",
        "        for share in ():",
        ("tests/test_worth.py",),
    ),
    Fault(
        "days before 1970 have no weekday in JavaScript",
        "src/naively/inspect/scorer.mjs",
        "WEEKDAYS[(((days + 3) % 7) + 7) % 7]",
        "WEEKDAYS[(days + 3) % 7]",
        ("tests/test_scorer_js.py",),
    ),
    Fault(
        "a message that two tables of mail remember has the larger weight",
        "src/naively/wings/mail/table.py",
        "max(before[0], day), before[1] + weight",
        "max(before[0], day), max(before[1], weight)",
        ("tests/test_filter.py",),
    ),
    Fault(
        "a message that two tables of mail remember has the older day",
        "src/naively/wings/mail/table.py",
        "max(before[0], day), before[1] + weight",
        "min(before[0] or day, day), before[1] + weight",
        ("tests/test_filter.py",),
    ),
    Fault(
        "what fades by a long gap is kept as next to nothing",
        "src/naively/estimators/fading.py",
        "0.0 if factor < NOTHING_LEFT else factor",
        "max(factor, NOTHING_LEFT)",
        ("tests/test_half_life.py",),
    ),
    Fault(
        "one message that is told twice is of one run",
        "src/naively/wings/mail/learn.py",
        "key in seen or ",
        "",
        ("tests/test_serve.py",),
    ),
    Fault(
        "a model of mail that is replaced with its time and size is not read again",
        "src/naively/wings/mail/serve.py",
        "return about.st_ino, about.st_mtime_ns, about.st_size",
        "return 0, about.st_mtime_ns, about.st_size",
        ("tests/test_serve.py",),
    ),
    Fault(
        "a model that is replaced with its time and size is not loaded",
        "src/naively/wings/serve/app.py",
        "seen.st_size, seen.st_ino, seen.st_dev",
        "seen.st_size",
        ("tests/test_web_serve.py",),
    ),
    Fault(
        "a level that was never seen is on the side of those that are not named",
        "src/naively/terms/functions.py",
        "return NEITHER if self.others else 0",
        "return 0",
        ("tests/test_names.py",),
    ),
    Fault(
        "a writer changes the sample that a reader has",
        "src/naively/fitting/reservoir.py",
        "[*new, batch]",
        "new.append(batch) or new",
        ("tests/test_threads.py",),
    ),
    Fault(
        "SQLite reads the 31st of February",
        "src/naively/wings/databases/query.py",
        "OR NOT ({dated} AND {clocked})",
        "",
        ("tests/test_to_sql.py",),
    ),
    Fault(
        "SQLite numbers rows by a column that is named so",
        "src/naively/wings/databases/query.py",
        "        if name not in taken:",
        "        if name:",
        ("tests/test_to_sql.py",),
    ),
    Fault(
        "SQL forgets that a condition may hold for a missing cell",
        "src/naively/wings/databases/query.py",
        "return paren(exp.Or(this=is_null(x), expression=holds)) if of.missing == 1 else holds",
        "return holds",
        ("tests/test_to_sql.py",),
    ),
    Fault(
        "a scorecard has no steps of columns without bins",
        "src/naively/terms/kinds.py",
        "        for j, (edges, points) in self.steps.items():\n            yield BinsTerm",
        "        for j, (edges, points) in ():\n            yield BinsTerm",
        ("tests/test_scorecard.py",),
    ),
    Fault(
        "what far outliers leave when they are forgotten is rounding",
        "src/naively/counting/tally.py",
        "    if lost is not None:",
        "    if lost is not None and tally is None:",
        ("tests/test_forget_impossible.py",),
    ),
    Fault(
        "a masked label is the number below the mask",
        "src/naively/counting/labels.py",
        "            labels[masked] = None",
        "            pass",
        ("tests/test_input_traps.py",),
    ),
    Fault(
        "the offset of an Arrow struct is passed over",
        "src/naively/data/frames.py",
        "if batch.offset or array.length != batch.length:",
        "if batch is None:",
        ("tests/test_arrow.py",),
    ),
    Fault(
        "weights are fitted again when the rows have doubled",
        "src/naively/estimators/naive_bayes.py",
        "STALE = 1 / 1.1",
        "STALE = 1 / 2",
        ("tests/test_fitted_weights.py",),
    ),
    Fault(
        "a text has a multinomial coefficient",
        "src/naively/terms/words.py",
        "    if isinstance(block.axis, Words):\n        return np.zeros(rows)",
        "    if block is None:\n        return np.zeros(rows)",
        ("tests/test_likelihood.py",),
    ),
    Fault(
        "a class shares the evidence of all others alike",
        "src/naively/inspect/odds.py",
        "@ share)",
        "@ np.full(len(share), 1 / len(share)))",
        ("tests/test_strongest.py",),
    ),
    Fault(
        "a model file keeps only those rows of the sample that are in use",
        "src/naively/fitting/reservoir.py",
        "every = encoded_by(self.kept, model)",
        "every = encoded_by(self._sample(), model)",
        ("tests/test_saved_sample.py",),
    ),
    Fault(
        "rows are saved where nobody asked for it",
        "src/naively/estimators/classifier.py",
        "rows = self._sampled_rows() if keep_rows else None",
        "rows = self._sampled_rows()",
        ("tests/test_saved_sample.py",),
    ),
    Fault(
        "in a model file the bias holds the intercept of the linear part too",
        "src/naively/file/parts.py",
        "np.array([*weights.bias, 0.0])[places]",
        "weights.bias_of(classes)",
        ("tests/test_store_linear.py",),
    ),
    Fault(
        "a merged model forgets that missing cells were evidence in one of its models",
        "src/naively/schema/settings.py",
        "self.counts_missing or other.counts_missing",
        "self.counts_missing and other.counts_missing",
        ("tests/test_merge_rule.py", "tests/test_options.py"),
    ),
    Fault(
        "merged weights are averaged by the wrong shares",
        "src/naively/model/model.py",
        "share = self.rows / rows if",
        "share = other.rows / rows if",
        ("tests/test_weights.py",),
    ),
    Fault(
        "a merged model keeps the first model's weights",
        "src/naively/model/model.py",
        "reduce(mean, weights)",
        "weights[0]",
        ("tests/test_weights.py",),
    ),
    Fault(
        "precision and recall are swapped",
        "src/naively/assess/scores.py",
        "precision, recall = hits",
        "recall, precision = hits",
        ("tests/test_scores.py",),
    ),
    Fault(
        "the area under ROC of many classes is not weighted by their rows",
        "src/naively/assess/scores.py",
        "shares @ [of.roc.area for of in ranked]",
        "np.mean([of.roc.area for of in ranked])",
        ("tests/test_scores.py",),
    ),
    Fault(
        "equal rows of other labels are no copies",
        "src/naively/schema/schema.py",
        "equal = mixed(contents(batch, by_name=True) + SALT)",
        "equal = mixed(contents(batch) + batch.labels.codes.astype(np.uint64) + SALT)",
        ("tests/test_exchangeable.py::test_equal_rows_of_other_labels_are_copies_too",),
    ),
    Fault(
        "names of groups decide which are held out together",
        "src/naively/fitting/reservoir.py",
        'number = np.argsort(np.argsort(held, kind="stable"), kind="stable")',
        "number = np.arange(len(held))",
        ("tests/test_exchangeable.py::test_names_of_groups_are_no_data",),
    ),
    Fault(
        "the rest of a large group stays in the counts",
        "src/naively/fitting/sample.py",
        "whole = not self.several_groups or bool(self.holds_all(model).all())",
        "whole = True",
        ("tests/test_exchangeable.py::test_the_rest_of_a_large_group_is_left_out_too",),
    ),
    Fault(
        "weights are not rows",
        "src/naively/model/model.py",
        "            tally = tally.scaled(rows_per_weight, rounds=True)",
        "            tally = tally.scaled(1.0, rounds=True)",
        ("tests/test_one_row.py::test_that_all_weights_are_multiplied_does_not_show",),
    ),
    Fault(
        "texts that are selected twice have the words of others",
        "src/naively/counting/block.py",
        "at = rows if self.at is None else self.at[rows]",
        "at = rows",
        ("tests/test_text_memory.py::test_words_of_selected_texts_are_copied_once",),
    ),
    Fault(
        "rows without cells take those of others with them",
        "src/naively/kernels/sparse_sums.py",
        "if first[-1] == self.first[-1]:  # the rows that go have no cells",
        "if first[-1] <= self.first[-1]:",
        ("tests/test_text_memory.py::test_words_that_go_without_counts_leave_the_cells",),
    ),
    Fault(
        "the likelihoods of all words are kept by a fit",
        "src/naively/model/model.py",
        "        return key.event.terms(self.counts[key])",
        "        return self.terms[key]",
        ("tests/test_text_memory.py::test_a_fit_keeps_no_likelihoods_of_words",),
    ),
    Fault(
        "one of w is left out of a row of weight w",
        "src/naively/counting/leave_one_out.py",
        "    return replace(labels, weight=labels.weight / times)",
        "    return replace(labels, weight=np.minimum(labels.weight / times, 1.0))",
        ("tests/test_leave_one_out.py::test_leave_one_out_is_refitting",),
    ),
    Fault(
        "frequencies are not counted one by one",
        "src/naively/schema/schema.py",
        "batch = Batch(blocks, labels, labels.frequency)",
        "batch = Batch(blocks, labels)",
        ("tests/test_weights.py::test_a_row_of_frequency_2_is_the_row_twice",),
    ),
    Fault(
        "a group is split over folds",
        "src/naively/fitting/sample.py",
        "    return fold[of]\n",
        "    return np.arange(len(of)) % folds\n",
        ("tests/test_one_row.py::test_groups_stay_whole_and_neither_order_nor_batches_show",),
    ),
    Fault(
        "a group answers for itself",
        "src/naively/fitting/sample.py",
        "rest = fold.model\n                if model is not first:",
        "rest = model\n                if not fold:",
        ("tests/test_one_row.py::test_groups_are_evidence_by_models_without_their_fold",),
    ),
    Fault(
        "groups are drawn one after the other",
        "src/naively/fitting/reservoir.py",
        "rank < rows_of_each(size, most) + spare",
        "np.arange(len(order)) < most",
        ("tests/test_one_row.py::test_each_group_is_drawn_from_alike",),
    ),
    Fault(
        "what is chosen from many columns costs nothing",
        "src/naively/fitting/seek.py",
        "basis.passed_over / len(some)",
        "0.0",
        ("tests/test_few_rows.py::test_of_many_columns_what_says_nothing_is_the_class_prior",),
    ),
    Fault(
        "scores ignore sample weights",
        "src/naively/assess/folds.py",
        "scores(p, model.classes, right, labels.weight, copies, groups=number, cost=cost)",
        "scores(p, model.classes, right, cost=cost)",
        ("tests/test_honesty.py::test_it_is_cross_validation_by_learning_again",),
    ),
    Fault(
        "the calibration error does not weigh its bins by their rows",
        "src/naively/assess/scores.py",
        "sum(b.rows * abs(b.confidence - b.accuracy) for b in bins) / rows",
        "sum(abs(b.confidence - b.accuracy) for b in bins) / len(bins)",
        ("tests/test_scores.py",),
    ),
    Fault(
        "the log loss forgives what was held to be impossible",
        "src/naively/fitting/weights.py",
        "LEAST = 1e-15",
        "LEAST = 1e-3",
        ("tests/test_scores.py",),
    ),
    Fault(
        "the reservoir keeps the first rows",
        "src/naively/fitting/reservoir.py",
        "keys, labels = fingerprints(batch, seed), batch.labels",
        "keys, labels = np.arange(len(batch), dtype=np.uint64), batch.labels",
        ("tests/test_reservoir.py::test_each_row_is_in_it_as_often_as_any_other",),
    ),
    Fault(
        "a database draws all classes alike",
        "src/naively/wings/databases/tallies.py",
        "    if len(different) > ROWS:  # the",
        "    if len(different):  # the",
        ("tests/test_sql_sample.py",),
    ),
    Fault(
        "rows that a database drew stand for a share of all classes",
        "src/naively/fitting/reservoir.py",
        "keys[some] = (keys[some] * of[some])",
        "keys[some] = (keys[some] * of.mean())",
        ("tests/test_sql_sample.py",),
    ),
    Fault(
        "rows of weight 0 stay in the reservoir",
        "src/naively/fitting/reservoir.py",
        "batch = with_texts(batch.seen())",
        "batch = batch",
        ("tests/test_reservoir.py::test_a_row_of_weight_0_is_never_in_it",),
    ),
    Fault(
        "sample weights are ignored when weights are fitted",
        "src/naively/fitting/weights.py",
        "    none = (0.0,) * len(classes)\n",
        "    none = (0.0,) * len(classes)\n"
        "    plain = Labels(found.labels.codes, found.labels.classes)\n"
        "    from dataclasses import replace\n"
        "    found = replace(found, labels=plain)\n",
        (
            "tests/test_fitted_weights.py::test_weights_and_biases_have_the_least_penalised_log_loss",
        ),
    ),
    Fault(
        "assess() scores rows by the model that has learned them",
        "src/naively/assess/folds.py",
        "rest, held_out, others, place = fold",
        "_, held_out, others, place = fold\n        rest = unweighted",
        ("tests/test_honesty.py::test_it_is_cross_validation_by_learning_again",),
    ),
    Fault(
        "forget subtracts the class counts alone",
        "src/naively/counting/tally.py",
        "return self.combine(other, sub, prunes=True).pruned()",
        "return replace(self.combine(other, sub), blocks=self.blocks)",
        ("tests/test_laws.py::test_forgotten_is_never_seen",),
    ),
    Fault(
        "decay scales the class counts alone",
        "src/naively/counting/tally.py",
        "{name: b.scaled(factor, faded, rounds=rounds) for name, b in self.blocks.items()}",
        "self.blocks",
        ("tests/test_decay.py",),
    ),
    Fault(
        "sets are of as many rows as there are, and not of one more",
        "src/naively/model/held_out.py",
        "[coverage * (n + 1)]",
        "[coverage * n]",
        ("tests/test_prediction_sets.py",),
    ),
    Fault(
        "what is forgotten leaves sets as sure as before",
        "src/naively/model/held_out.py",
        "left=self.left * min(1.0, share)",
        "left=self.left",
        ("tests/test_prediction_sets.py",),
    ),
    Fault(
        "the held-out rows of merged models are numbered by the first one's classes",
        "src/naively/model/held_out.py",
        "place[held_out.cell // BINS] * BINS",
        "(held_out.cell // BINS) * BINS",
        ("tests/test_prediction_sets.py",),
    ),
    Fault(
        "a sample forgets that a class had more rows than stay",
        "src/naively/fitting/reservoir.py",
        "self.size.kept, self.limit, spare=1)",
        "self.size.kept, self.limit, spare=0)",
        ("tests/test_rare_classes.py",),
    ),
    Fault(
        "a missing cell has no cell of a rule of its own",
        "src/naively/inspect/rules.py",
        "found.setdefault(tuple(one.missing for one in of), True)",
        "pass",
        ("tests/test_rules.py",),
    ),
    Fault(
        "texts with weights are counted as if they had none",
        "src/naively/counting/block.py",
        "self.counts_straight and labels.weight is None",
        "self.counts_straight",
        ("tests/test_laws.py", "tests/test_text.py"),
    ),
    Fault(
        "two models have moved by chance",
        "src/naively/inspect/difference.py",
        "if is_p < OUTSIDE]",
        "if True]",
        ("tests/test_difference.py",),
    ),
    Fault(
        "on the curve of decay nothing fades",
        "src/naively/assess/prequential.py",
        "tally * factor + more",
        "tally + more",
        ("tests/test_decay_curve.py",),
    ),
    Fault(
        "drift scores learned rows by themselves",
        "src/naively/inspect/drift.py",
        "fold.out.posterior(fold.model.with_classes(model.classes))",
        "fold.out.posterior(model)",
        ("tests/test_drift.py",),
    ),
    Fault(
        "what was learned before does not fade when newer rows come",
        "src/naively/estimators/learned.py",
        "model=self.model * factor",
        "model=self.model",
        ("tests/test_half_life.py",),
    ),
    Fault(
        "levels of a merged model are added in the wrong order",
        "src/naively/counting/tally.py",
        "else sums.place(rows, len(axis))",
        "else sums.place(rows[::-1], len(axis))",
        ("tests/test_laws.py::test_merge_is_refit",),
    ),
    Fault(
        "leave-one-out forgets the pretend rows of categories",
        "src/naively/events/categorical.py",
        "rest, whole = np.maximum(count - own, 0.0) + m * q, total[column] - own + m",
        "rest, whole = np.maximum(count - own, 0.0), total[column] - own",
        ("tests/test_leave_one_out.py::test_leave_one_out_is_refitting",),
    ),
    Fault(
        "leave-one-out leaves nothing out of the numbers",
        "src/naively/counting/leave_one_out.py",
        "number, own = Sums(self.x[:, None]), Sums(self.labels.one_hot())",
        "number, own = Sums(self.x[:, None]), Sums(0 * self.labels.one_hot())",
        ("tests/test_leave_one_out.py::test_leave_one_out_is_refitting",),
    ),
    Fault(
        "a word of one text alone keeps its pretend count when the text is left out",
        "src/naively/counting/leave_one_out.py",
        "total - gone.reshape(n, k) - of_words[:, None],",
        "total - gone.reshape(n, k),",
        ("tests/test_leave_one_out.py::test_leave_one_out_is_refitting",),
    ),
    Fault(
        "a missing category is a level",
        "src/naively/schema/encode.py",
        "    levels_found = tuple(index)\n    index[None] = MISSING\n",
        "    index[None] = len(index)\n    levels_found = tuple(index)\n",
        ("tests/test_laws.py::test_a_missing_cell_says_nothing",),
    ),
    Fault(
        "a missing boolean is false",
        "src/naively/events/bernoulli.py",
        "truth[np.isnan(x)] = np.nan",
        "truth[np.isnan(x)] = 0.0",
        ("tests/test_laws.py::test_a_missing_cell_says_nothing",),
    ),
    Fault(
        "all classes have the variance of the column",
        "src/naively/events/normal.py",
        "variance = variance + self.added_variance(tally)",
        "variance = pooled + self.added_variance(tally) + 0 * variance",
        ("tests/test_worked.py::test_gaussian_by_hand",),
    ),
    Fault(
        "contributions omit the bias",
        "src/naively/inspect/explain.py",
        "first[INTERCEPT,] =",
        "_ =",
        ("tests/test_explained_items.py",),
    ),
    Fault(
        "explanations are against the weakest class",
        "src/naively/inspect/explain.py",
        "return max(others, key=lambda r: self.joint[r])",
        "return min(others, key=lambda r: self.joint[r])",
        ("tests/test_explained_items.py",),
    ),
    Fault(
        "a link is replaced, and not what it leads to",
        "src/naively/saving.py",
        "file = Path(os.path.realpath(path))",
        "file = Path(path)",
        ("tests/fuzz/test_outputs.py",),
    ),
    Fault(
        "a model that is changed is not locked",
        "src/naively/wings/cli/learn.py",
        "    with locked(path):\n",
        "    with nullcontext():\n",
        ("tests/test_locks.py::test_every_verb_that_changes_a_model_holds_its_lock",),
    ),
    Fault(
        "text of data reaches a terminal as it is",
        "src/naively/wings/cli/shared.py",
        "return visible(str(value))",
        "return str(value)",
        ("tests/fuzz/test_texts.py",),
    ),
    Fault(
        "a saved model has no weights",
        "src/naively/file/store.py",
        '"weights": weights and parts.write_weights(weights, model.classes.tolist(), arrays),',
        '"weights": None,',
        ("tests/test_product_laws.py::test_what_is_loaded_is_what_was_saved",),
    ),
    Fault(
        "a saved model takes its class prior from the data",
        "src/naively/file/store.py",
        '"class_prior": prior,',
        '"class_prior": "data",',
        ("tests/test_store.py",),
    ),
    Fault(
        "the table of costs is transposed",
        "src/naively/model/class_prior.py",
        "(p @ cost).argmin",
        "(p @ cost.T).argmin",
        ("tests/test_decide.py",),
    ),
    Fault(
        "predict is unsure where the model is sure",
        "src/naively/model/class_prior.py",
        "p[np.arange(len(p)), best] < reject",
        "p[np.arange(len(p)), best] > reject",
        ("tests/test_decide.py",),
    ),
    Fault(
        "another class prior is applied twice",
        "src/naively/model/class_prior.py",
        "np.where(prior > 0, other / prior, 0.0)",
        "np.where(prior > 0, (other / prior) ** 2, 0.0)",
        ("tests/test_decide.py",),
    ),
    Fault(
        "the class prior of other rows is estimated in one step",
        "src/naively/model/class_prior.py",
        "MOST_STEPS = 1000",
        "MOST_STEPS = 1",
        ("tests/test_decide.py",),
    ),
    Fault(
        "partial_fit never fits the weights again",
        "src/naively/estimators/naive_bayes.py",
        "return fresh <= STALE or not",
        "return fresh < 0 or not",
        (
            "tests/test_fitted_weights.py::test_weights_are_fitted_again_when_a_tenth_more_rows_have_come_and_not_before",
        ),
    ),
    Fault(
        "rows without a label count in full",
        "src/naively/fitting/semi_supervised.py",
        "tally + soft.pruned() * share",
        "tally + soft.pruned()",
        ("tests/test_semi_supervised.py::test_a_row_without_a_label_counts_as_its_share",),
    ),
    Fault(
        "rows are drawn of the first class, whichever is asked for",
        "src/naively/model/model.py",
        "codes = np.full(n, labels.index(label))",
        "codes = np.full(n, 0)",
        ("tests/test_sample.py",),
    ),
    Fault(
        "words: the last sigma of a word is like any other",
        "src/naively/kernels/folding.py",
        'return "ς" if OF_WORD.match(before)',
        'return "σ" if OF_WORD.match(before)',
        ("tests/test_tokens.py::test_words_of_every_language",),
    ),
    Fault(
        "words: a mark is composed over another of its class",
        "src/naively/kernels/folding.py",
        "(last >= of or last == 0)",
        "(last > of or last == 0)",
        (
            "tests/test_tokens.py::test_composition_is_nfc_without_marks_that_are_put_on",
            "tests/test_tokens.py::test_every_character_is_composed_with_what_follows_it",
        ),
    ),
    Fault(
        "words: a number goes on into a word",
        "src/naively/kernels/tokens.py",
        'rf"[0-9]+(?:[.,][0-9]+)+(?![{IN_WORD}M])",',
        'rf"[0-9]+(?:[.,][0-9]+)+",',
        ("tests/test_tokens.py::test_words_of_every_language",),
    ),
    Fault(
        "words: a script without spaces has no pairs",
        "src/naively/kernels/tokens.py",
        "pairs = [a + b for a, b in pairwise(characters)]",
        "pairs = [a for a, b in pairwise(characters)]",
        ("tests/test_tokens.py::test_words_of_every_language",),
    ),
    Fault(
        "words: parts of words stand in n-grams",
        "src/naively/kernels/tokens.py",
        "others += pairs or characters",
        "others += [*pairs, *characters]",
        ("tests/test_tokens.py::test_parts_of_words_are_in_no_ngram",),
    ),
    Fault(
        "words: all characters of a text are read",
        "src/naively/kernels/tokens.py",
        "_words(row[:max_characters], lowercase)",
        "_words(row, lowercase)",
        ("tests/test_tokens.py::test_only_the_first_characters_are_read",),
    ),
    Fault(
        "words: another version of Unicode is not warned of",
        "src/naively/file/store.py",
        "if header.unicode not in (None, here):",
        "if header.unicode is not None and header.unicode < here[:2]:",
        ("tests/test_text.py::test_another_version_of_unicode_is_warned_of",),
    ),
    Fault(
        "words: a function that a file names is the first that is given",
        "src/naively/file/parts.py",
        "    function = known[name]\n",
        "    function = next(iter(known.values()))\n",
        ("tests/test_text.py::test_a_file_holds_the_names_of_functions",),
    ),
    Fault(
        "words: JavaScript keeps apostrophes of other kinds",
        "src/naively/inspect/scorer.mjs",
        'c === "\\u2019" || c === "\\u02bc" ?',
        'c === "\\u2019" ?',
        ("tests/test_tokens.py::test_rich_texts_are_alike_everywhere",),
    ),
    Fault(
        "R: a level that was never seen is the first one",
        "packages/r/naively.R",
        "place[is.na(place)] <- nrow(points)",
        "place[is.na(place)] <- 1",
        ("tests/test_scorer_r.py::test_mixed_tables_are_scored_as_in_python",),
    ),
    Fault(
        "the schema of scorecards takes any field",
        "src/naively/inspect/scorecard.schema.json",
        '  "additionalProperties": false,\n  "properties": {\n    "naively"',
        '  "additionalProperties": true,\n  "properties": {\n    "naively"',
        ("tests/test_scorecard_schema.py::test_what_is_no_scorecard_is_not_valid",),
    ),
    Fault(
        "words: models that count other words are merged",
        "src/naively/schema/schema.py",
        "        self._check_words(other)\n",
        "",
        ("tests/test_text_blocks.py::test_short_and_long_texts_merge",),
    ),
    Fault(
        "an estimator waits for scikit-learn",
        "src/naively/estimators/scikit.py",
        "from naively.messages import shortened\n",
        "from sklearn.base import BaseEstimator  # noqa: F401\n\n"
        "from naively.messages import shortened\n",
        ("tests/test_imports.py",),
    ),
    Fault(
        "what is requested of metadata routing is forgotten",
        "src/naively/estimators/scikit.py",
        "        self._metadata_request = routing\n",
        "",
        ("tests/test_scikit_learn.py",),
    ),
    Fault(
        "mail daemon: a message that is refused is answered by an empty one",
        "src/naively/wings/mail/spamd.py",
        "{' '.join(why.split())[:500]}\\r\\n",
        "{' '.join(why.split())[:500]}\\r\\n\\r\\n",
        ("tests/test_spamd.py",),
    ),
    Fault(
        "mail daemon: the name of a user leads out of the folder of models",
        "src/naively/wings/mail/serve.py",
        "if not USER.fullmatch(user):",
        "if not user:",
        ("tests/test_serve.py",),
    ),
    Fault(
        "mail daemon: what is told is answered before it is saved",
        "src/naively/wings/mail/serve.py",
        "        return await told.done\n",
        "        return True\n",
        ("tests/test_serve.py",),
    ),
    Fault(
        "mail: the verdict that marks a message is a word of it",
        "src/naively/wings/mail/message.py",
        "    OWN, SPAM, ",
        "    OWN, ",
        ("tests/test_filter.py::test_headers_of_spamassassin_replace_all_of_theirs",),
    ),
    Fault(
        "mail: a chosen header of the verdict is a word of the message",
        "src/naively/wings/mail/message.py",
        "            values.pop(name, None)\n",
        "            pass\n",
        ("tests/test_filter.py::test_the_header_of_the_class_may_have_another_name_and_texts",),
    ),
]


EVERY = [*FAULTS, *way_in.FAULTS, *shown.FAULTS, *sums.FAULTS, *noise.FAULTS]


def main(given: list[str]) -> int:
    """Plant each fault and say whether a guard noticed; return 0 if all were noticed."""
    parser = argparse.ArgumentParser(prog="make faults ARGS=...", description=__doc__)
    parser.add_argument("words", nargs="*", help="of the names of the faults to plant; all without")
    words = parser.parse_args(given).words
    chosen = [fault for fault in EVERY if all(word in fault.name for word in words)]
    if not chosen:
        sys.exit(f"No fault has {' and '.join(map(repr, words))} in its name.")
    texts = {fault: fault.text for fault in chosen}  # that all apply is said at once
    lost = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder).resolve())
        guards = sorted({guard for fault in chosen for guard in fault.guards})
        if (failed := copy.failure(guards, SECONDS * len(guards))) is not None:
            sys.exit(f"{failed} fails before anything is changed.")
        for fault, text in texts.items():
            start = time.monotonic()
            with copy.changed(fault.file, text):
                by = copy.failure(fault.guards, SECONDS)
            lost += by is None
            took = f"{time.monotonic() - start:.0f} s"
            said = f"NOT CAUGHT {took:>5}" if by is None else f"caught {took:>9}"
            print(f"{said}  {fault.name}{f', by {by}' if by else ''}", flush=True)
        copy.close()
    print(f"{len(chosen) - lost} of {len(chosen)} faults were caught.")
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
