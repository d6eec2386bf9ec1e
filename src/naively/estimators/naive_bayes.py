"""NaiveBayes: naive Bayes for any rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from naively.assess.decisions import held_out_of
from naively.counting.axis import Analyser
from naively.counting.block import Batch
from naively.counting.labels import (
    Beside,
    Label,
    Labels,
    RowWeight,
    Target,
    encode_labels,
    union_classes,
)
from naively.data.columns import Rows
from naively.data.frames import TEXT, Table, as_rows, elsewhere, with_one_row
from naively.data.reading import TIME_OF_ROWS, ReadAs, read_strings
from naively.data.stream import Stream, as_stream
from naively.doors import wing
from naively.estimators.classifier import Classifier, faded_by
from naively.estimators.fading import FadedRows, HalfLife
from naively.estimators.learned import (
    NO_TARGET,
    Learned,
    TargetColumn,
    asking,
    check_is_fitted,
    exclusive,
)
from naively.events import EVENT_MODELS, Beta, Categorical, Dirichlet, Estimate, JointTable
from naively.events.prior import Seed
from naively.file import store
from naively.file.parts import SampledRows
from naively.fitting.learn import (
    InMemory,
    Labelled,
    LabelledStream,
    Recipe,
    check_classification,
    check_columns,
    check_some_weight,
    columns_taken,
    count,
    encoded,
    read_labelled,
    weighed,
)
from naively.fitting.limits import Limits
from naively.fitting.reservoir import Reservoir, sample_of_all
from naively.fitting.sample import add_interactions, notes_of
from naively.fitting.semi_supervised import learn_unlabelled
from naively.messages import warn
from naively.model.class_prior import check_class_prior
from naively.model.counted import Counted
from naively.model.given import model_of
from naively.model.model import History, Model, Sought
from naively.options import (
    DECLARED,
    WEIGHTINGS,
    Asked,
    How,
    Weighting,
    check_options,
    duration_of,
    without_class_weight,
)
from naively.schema.choose import EventModels, given_as_objects, read_as_given
from naively.schema.diagnose import leaks, warn_of_marked_numbers, warn_of_no_tokens
from naively.schema.schema import Schema, list_names
from naively.schema.settings import ClassPrior, Settings

if TYPE_CHECKING:
    from naively.wings.databases.databases import Table as TableName


class NaiveBayes(Classifier):
    """Naive Bayes for any rows: numbers, categories, booleans, times, texts, missing cells.

    It learns in one pass by counting, and can merge, forget and decay what it has learned.

    Parameters
    ----------
    event_models : "auto", str, EventModel or mapping, default "auto"
        How columns are generated, given the class. "auto" chooses by column, from all counted rows:
        numbers are histograms, booleans and columns of 0 and 1 Bernoulli, strings categorical or
        texts, and texts multinomial. Strings are texts if the different ones have four words or
        more on average, and are half of the rows or more than 1,000; or if nearly every row has its
        own. Counts in a sparse matrix (whole, never negative, mostly 0, and not all of them 0 and
        1) are multinomial; ``notes_`` says which. Strings are read as most of the column is
        (``naively.columns`` shows it): numbers in any notation, dates, times of day in seconds,
        truths. Times are seconds since 1970, UTC, with hour, weekday and month as categories if
        their cycles repeat. A name ("gaussian", "bernoulli", "categorical", "multinomial", "text")
        or an event model is for all columns. A mapping is from columns, tuples of columns or kinds
        ("number", "boolean", "string", "time") to either, or to what strings are: "number", "time",
        "clock", "truth", "levels" or "text". ``print(nb.schema_)`` says what was chosen, and why.
    class_prior : "data", "uniform", sequence, mapping, Beta or Dirichlet, default "data"
        Probability of each class before anything is seen: as counted (if weights are fitted, with
        one row more of each class), all equal, given in the order of the sorted classes or by
        label, or estimated under a prior. Beta(a, b) is the prior of the second of two classes (a
        pretend rows of it, and b of the first), Dirichlet has one count for all classes or one for
        each. Weights are always fitted under the frequencies of the rows, so another class prior
        only shifts the log odds.
    estimate : {"mean", "map", "mle", "predictive"}, default "mean"
        How parameters are estimated, in event models without an ``estimate`` of their own and in a
        class prior that is a Beta or Dirichlet: posterior mean, posterior mode, maximum likelihood,
        or integrated out.
    smoothing : "auto", "laplace", "jeffreys" or float, default "auto"
        The pseudo-count of each outcome (a level, true and false, a word, a bin of a histogram) in
        each class, of event models that are not given as objects: 1 is Laplace's rule, 1/2
        Jeffreys's. For event models without a finite number of outcomes it is the number of pretend
        rows in each class, with the column's mean (and variance). "auto" chooses it by
        leave-one-out, from the counts alone, for each column of categories (as the m of an
        m-estimate), for all columns of truths together, and for counts. Other event models have
        their own defaults, and words that count once in a text have 1/2.
    weights : {"loo", "temperature"} or None, default "loo"
        How much the evidence of each column counts. Weights calibrate the probabilities where
        columns are correlated: one weight for each column, or one for all, fitted to the
        leave-one-out evidence of at most 10,000 rows. "loo" also adds a linear part of numbers and
        common levels, if held-out rows gain. None is pure naive Bayes. With weights a class of one
        row may never be predicted.
    interactions : "auto", mapping or None, default None
        Evidence of columns together: products of two, and rules of up to three, if held-out rows
        gain. Rules are decision tables of at most four conditions; ``explain`` and
        ``inspect.rules`` write them in words. A mapping limits them: ``{"rules": 20, "without":
        ["id"], "monotone": {"age": 1}, "given": ["age < 30 and pay > 5"]}``. "rules" is the largest
        number of rules, by default 200. "without" names columns that they may not use. "monotone"
        names columns whose steps and rules may only raise (1) or lower (-1) the odds of the second
        of two classes, as ``monotonic_cst`` of scikit-learn. "given" lists rules of your own, which
        are weighted like the others.
    derived : "auto", list of str or None, default "auto"
        Evidence made of columns of numbers or times, with ``weights="loo"``. "auto" tries three
        kinds on held-out rows: sums, differences and ratios of two, whose steps are added if they
        gain 6 nats in all; numbers that are names, as of persons or shops, whose values count each
        by itself if they gain 3; and rows or texts that were seen before. It assumes that new rows
        are of the same persons, unless ``groups=`` is given. A list has everything that is allowed,
        such as ``["debt / income", "closed - opened", "age + 4 * years"]``, where a factor is a
        power of two. None makes nothing. Columns that are "without" or "monotone" in
        ``interactions`` are not used.
    text : {"auto", "words"}, default "auto"
        What is counted in columns of texts that are not named in ``event_models``. "auto" counts
        words, word bigrams, and character n-grams (n from 2 to 5) of the first 500 characters, each
        kind with weights of its own. "words" counts only words, and is the fastest. Without
        ``weights="loo"``, and with ``estimate`` "mle" or "predictive", how often each word comes is
        counted.
    random_state : int, Generator or None, default None
        Chooses the rows that weights are fitted to; None is a fixed choice.
    semi_supervised : bool, default False
        Whether to learn also from rows without a label (None, NaN or NaT; or the whole number -1 if
        there is none of these): by EM, which counts each of them for every class by its posterior.
        The leave-one-out log loss of the labelled rows chooses the weight of such a row, which is 0
        unless cross-validation confirms it.
    presence : {"auto", "ignore"}, default "auto"
        Whether missing cells are evidence. With "auto" they are, in each column that has some, with
        a weight of its own that is shrunk to 0. With "ignore" a missing cell only has a side of
        each step or rule. Without ``weights="loo"`` it is no evidence.
    missing_values : sequence of str, or mapping from columns to one, optional
        Strings that stand for missing cells, in all columns or by column. By default a string in a
        column of numbers or times, such as NA, is a missing cell whose word is evidence; in a
        column of categories it is a category. In a column of numbers NaN is missing already.
    decimal : {".", ","}, or mapping from columns to one, optional
        The decimal mark of numbers that are strings. By default the cells with only one reading
        decide, or else the other columns of the table; 1,234 follows them.
    day_first : bool, or mapping from columns to bool, optional
        Whether 03/04/2024 is the third of April. By default the dates with only one reading decide,
        or else the other columns of the table; else the month is first, which ``schema_`` notes.
    half_life : str, timedelta or float, optional
        The time after which a row counts half, if ``fit`` and ``partial_fit`` get its ``time``: a
        duration ("30d", "12h", "90min", "10s", "2w", or a timedelta), or a number if times are
        numbers. By default rows never fade.

    Attributes
    ----------
    classes_ : ndarray of shape (classes,)
        The class labels.
    class_count_ : ndarray of shape (classes,)
        Rows (total weight) of each class.
    class_log_prior_ : ndarray of shape (classes,)
        Log probability of each class.
    tally_ : Tally
        What was counted.
    schema_ : Schema
        Which columns go to which event model, and why; printed, one line a column.
    model_ : Model
        The frozen model: schema, tally and settings.
    n_features_in_ : int
        Number of columns.
    unlabelled_weight_ : float
        How much a row without a label counts; 0 where there was none.
    why_no_interactions_ : str
        Why ``interactions="auto"`` chose none, or "".
    notes_ : tuple of str
        What ``interactions="auto"`` chose, and what it gained on held-out rows; whether rows that
        came more than once are evidence of their own; and where the rows are in memory, whether
        their weights look like frequencies.
    feature_names_in_ : ndarray of str
        Names of the columns, where the table had any.

    Notes
    -----
    An unseen category has the mass that its prior reserves for it; an unseen word is left out. A
    warning names a column that determines the label in 100 rows or more without exception;
    ``schema_`` notes columns that are constant, missing throughout, or like an identifier.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> texts = ["cheap pills, buy now", "lunch at noon?", "buy cheap watches", "see you at lunch"]
    >>> nb = NaiveBayes().fit(texts, ["spam", "ham", "spam", "ham"])
    >>> nb.predict(["cheap lunch, buy one get one"])
    array(['spam'], dtype='<U4')
    """

    takes = ("sparse", "allow_nan", "string", "categorical")

    @without_class_weight
    def __init__(  # noqa: PLR0917  (options)
        self,
        event_models: EventModels = "auto",
        class_prior: ClassPrior = "data",
        estimate: How = "mean",
        smoothing: float | str = "auto",
        weights: Weighting | None = "loo",
        interactions: Literal["auto"] | Asked | None = None,
        derived: Literal["auto"] | Sequence[str] | None = "auto",
        random_state: Seed = None,
        semi_supervised: bool = False,
        text: Literal["auto", "words"] = "auto",
        presence: Literal["auto", "ignore"] = "auto",
        missing_values: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
        decimal: str | Mapping[str, str] | None = None,
        day_first: bool | Mapping[str, bool] | None = None,
        half_life: HalfLife = None,
    ) -> None:
        self.event_models = event_models
        self.class_prior = class_prior
        self.estimate = estimate
        self.smoothing = smoothing
        self.weights = weights
        self.interactions = interactions
        self.derived = derived
        self.random_state = random_state
        self.semi_supervised = semi_supervised
        self.text = text
        self.presence = presence
        self.missing_values = missing_values
        self.decimal = decimal
        self.day_first = day_first
        self.half_life = half_life

    @without_class_weight
    @exclusive
    def fit(
        self,
        X: Table,
        y: Target,
        sample_weight: RowWeight = None,
        *,
        frequencies: Target = None,
        groups: Target = None,
        time: Target = None,
    ) -> Self:
        """Learn from labelled rows, forgetting what was learned before.

        Parameters
        ----------
        X : table of rows, or list of texts
            NumPy array (structured too), SciPy sparse matrix, pandas, Polars, PyArrow, Spark or
            other frame, mapping of columns, list of records, list of lists; or a table that is read
            in batches: a DuckDB relation, lazy frame, dataset, reader or iterator of tables. Lists
            of strings are the rows of a table if all have the same length, and otherwise the words
            of texts. ``{"text": X}`` or ``event_models=Text()`` says that they are words, and a
            mapping of columns that they are not. Later calls follow what was learned.
        y : array-like of shape (rows,), or str
            The labels, or the name of their column in ``X``.
        sample_weight : array-like of shape (rows,) or str, optional
            What each row weighs, finite and at least 0, or the name of that column. A row of weight
            2 is counted like two equal rows. But it is one row, which is left out as a whole where
            weights are fitted, so multiplying all weights by a number has no effect.
        frequencies : array-like of shape (rows,) or str, optional
            How many equal rows each row stands for, whole numbers: a table of counts is learned
            like its rows.
        groups : array-like of shape (rows,) or str, optional
            Rows that belong together, as those of a customer, a patient or a document. They are
            left out together where weights are fitted and the model is assessed, because new rows
            will be of other groups. "copies" are equal rows, whatever their labels. By default each
            row is left out alone.
        time : array-like of shape (rows,) or str, optional
            With ``half_life``, the time of each row: a column of ``X``, which is not learned, or
            numbers, dates or strings that are dates. The newest row counts 1.

        Returns
        -------
        self : NaiveBayes
            Fitted.

        Raises
        ------
        ValueError
            If a table, label, weight or option is wrong; it says which, and what to do. A
            ``class_prior`` must be for the classes that the labels have.
        """
        beside = Beside(sample_weight, frequencies, groups)
        target = TargetColumn.of(y, beside, time)
        fading = self._fading(X, y, sample_weight, time)
        if fading is not None:
            X, beside = fading.rows, replace(beside, sample_weight=fading.weight)
        self._learned = self._first(X, y, beside, target, fading)
        return self

    @exclusive
    def fit_sql(
        self, connection: Any, table: TableName, target: str, sample_weight: str | None = None
    ) -> Self:
        """Learn from a table in a database; what was learned before is forgotten.

        Parameters
        ----------
        connection : DB-API or ADBC connection
            To DuckDB (``duckdb``), SQLite (``sqlite3``) or PostgreSQL (``psycopg``). It only reads,
            and stays open.
        table : str or tuple of two str
            The table or view: one name, or the names of a schema and of a table in it; or a query
            ("SELECT ..."), which is a temporary view of the connection as long as it is counted.
        target : str
            The column of labels, none of which may be missing.
        sample_weight : str, optional
            A column of weights, finite and at least 0.

        Returns
        -------
        self : NaiveBayes
            Fitted, as by ``fit`` on the same rows: what was counted is equal, and so is the sample
            that weights are fitted to, unless a server chose it from more than 20,000 rows.

        Raises
        ------
        TypeError
            If the connection is to another database.
        ValueError
            If the table or a column does not exist or cannot be learned, an option is wrong, an
            event model needs the rows that a server keeps, or the database fails; it says which.
            Nothing is learned then.

        Notes
        -----
        DuckDB and SQLite are in this process: their rows are read in batches, as ``fit`` reads any
        stream. PostgreSQL is a server, where the rows of a table of more than 20,000 stay; one
        query, which sqlglot writes, counts them. Numbers travel as
        counts of cells, sums are exact, and the different strings of each column travel once: texts
        that differ all travel. With the counts comes a sample of some 10,000 rows, for weights and
        scores, as many of each class, chosen by a seeded hash in the query. Weights are counted to
        2^-61 of the largest there.

        Examples
        --------
        >>> import duckdb
        >>> from naively import NaiveBayes
        >>> shop = duckdb.connect()
        >>> _ = shop.execute("CREATE TABLE visits (seconds DOUBLE, colour TEXT, bought BOOLEAN)")
        >>> rows = "(20, 'red', true), (30, 'red', true), (3, 'blue', false), (4, 'blue', false)"
        >>> _ = shop.execute(f"INSERT INTO visits VALUES {rows}")
        >>> nb = NaiveBayes().fit_sql(shop, "visits", "bought")
        >>> nb.predict({"seconds": [25.0], "colour": ["red"]})
        array([ True])
        """
        if self.half_life is not None:
            raise ValueError("half_life needs rows in memory, with their time; use fit.")
        if self.semi_supervised:
            raise ValueError(
                "semi_supervised=True needs all rows at once; read the table and use fit."
            )
        with wing("table of a database")(connection, table, target, sample_weight) as found:
            self._learned = self._learn(found, self._settings(), TargetColumn(target))
        return self

    def _first(
        self,
        X: Table,
        y: Target,
        beside: Beside,
        target: TargetColumn,
        fading: FadedRows | None = None,
        classes: Target = None,
        *,
        more: bool = False,
    ) -> Learned:
        """Return what labelled rows teach; there may be more of them, of other classes."""
        settings = self._settings()  # a wrong option is named before any row is read
        texts, some = means_texts(self.event_models), self.semi_supervised
        learned = self._learn(
            self._read(X, y, beside, texts, some=some), settings, target, classes, more=more
        )
        return learned if fading is None else fading.kept_in(learned)

    def _learn(
        self,
        found: Labelled,
        settings: Settings,
        target: TargetColumn,
        classes: Target = None,
        *,
        more: bool = False,
    ) -> Learned:
        """Read, choose, encode, count, settle, sample; then leave out, weigh and seek terms."""
        empty = Reservoir.chosen_by(self.random_state, grows=self.interactions is not None)
        how = Recipe(self.event_models, settings, empty)
        counted, sample = count(found, how)
        if counted is None:
            raise ValueError(found.nothing)
        if not found.in_memory:
            check_classification(found.names, sample.seen, counted.tally.classes)
            check_some_weight(counted.tally.class_count)
        model = Model.of(counted)
        sample = sample.for_model(model)
        if classes is not None:
            model = model.with_classes(encode_labels(classes).classes)
        check_effect(self, model.counted.schema)
        prior = how.settings.class_prior
        if not (isinstance(prior, str) and prior == "data"):
            more = more and classes is None
            check_class_prior(prior, how.settings.estimate, model.classes, more=more)
        for said in leaks(model.view.schema, model.view.tally):
            warn(said)
        warn_of_no_tokens(model.view.schema, model.view.tally)
        if self.missing_values is not None:
            marks_of = ReadAs(options=how.settings).marks_of
            warn_of_marked_numbers(model.view.schema, model.view.tally, marks_of)
        unlabelled = None if found.is_labelled else found
        del found, counted  # what was read takes memory, of which weights need some too
        if unlabelled is not None:
            model = learn_unlabelled(unlabelled, model, sample, self.event_models, self.weights)
        elif self.weights is not None:
            model = weighed(model, sample, self.weights, seeks=self.interactions is not None)
        return Learned(model, sample, target=target).recorded("train", model.counted.rows)

    @exclusive
    def partial_fit(
        self,
        X: Table,
        y: Target,
        classes: Target = None,
        sample_weight: RowWeight = None,
        *,
        frequencies: Target = None,
        groups: Target = None,
        decay: float | None = None,
        time: Target = None,
    ) -> Self:
        """Learn from more rows; what is counted is the same as from all rows at once.

        The same holds for the kind of a column without a given event model: a column of 0 and 1
        becomes a histogram with the first 2. Only cells that cannot be counted again are an error
        (strings after numbers, a word among times), and a column with more than 1,000 different
        texts stays a text. New classes, categories, words and columns may appear at any time; a new
        column counts as missing in earlier rows. Weights are fitted again once the new rows are a
        tenth of those before, and by ``calibrate()``; then they too are the same as from all rows
        at once (``weights_.rows`` says how many rows they are fitted to).

        Parameters
        ----------
        X, y, sample_weight, frequencies, groups
            As for ``fit``.
        classes : array-like, optional
            All classes that will ever come. Not needed, because new classes may come at any time;
            those that are said have a place from the first batch on, and a ``class_prior`` may be
            for them.
        decay : float, optional
            What counts are multiplied by that were learned before, as by ``decay`` just before:
            0.5 halves them. Weights stay then, as there is no sample of faded rows. With the first
            rows it has nothing to fade. ``curve.decay`` shows which is best.
        time : array-like of shape (rows,) or str, optional
            As for ``fit``. What was learned before fades by the time that has passed between its
            newest row and that of these, and so does the sample that weights are fitted to.
        """
        known = self.__sklearn_is_fitted__()
        target = TargetColumn.of(y, Beside(sample_weight, frequencies, groups), time)
        newest = self.model_.counted.newest if known else None
        fading = self._fading(X, y, sample_weight, time, newest)
        if fading is not None:
            X, sample_weight = fading.rows, fading.weight
        beside = Beside(sample_weight, frequencies, groups)
        gone = known and fading is not None and not fading.factor
        if gone or not known:
            learned = self._first(X, y, beside, target, fading, classes, more=True)
            if gone:
                history = self.history_.add("decay", self._total, 0.0, "0")
                learned = replace(learned, history=history)
                learned = learned.recorded("update", learned.model.counted.rows)
            self._learned = learned
            return self
        found = self._read(X, y, beside, self._learned_texts, some=self.semi_supervised)
        before = self._learned.beside(target.beside)
        if decay is not None:
            before = before.left(faded_by(before.model, decay))
        if fading is not None:
            before = fading.kept_in(before.faded(fading.factor))
        faded = self._total - before.model.counted.rows
        if faded:
            by = f"{1 - faded / self._total:g}"
            history = before.history.add("decay", faded, self._total - faded, by)
            before = replace(before, history=history)
        self._learned = self._learn_more(before, found, classes)
        return self

    def _learn_more(self, before: Learned, found: Labelled, classes: Target) -> Learned:
        """Return what more rows teach; weights are fitted again if they are of too few rows."""
        kept = before.sample
        seeks = self.interactions is not None
        fresh = Reservoir.chosen_by(self.random_state, grows=seeks)
        empty = fresh if kept is None else kept.empty()
        how = Recipe(self.event_models, before.model.settings, empty)
        counted, new = count(found, how, before.model.counted)
        model, sample = before.model, kept
        if counted is not None:
            model = Model.of(before.model.counted + counted, before.model.weights)
            sample = None if kept is None else kept.merged(new, model)
        known = model.classes
        if classes is not None:
            known = union_classes(known, encode_labels(classes).classes)
        prior, estimate = how.settings.class_prior, how.settings.estimate
        check_class_prior(prior, estimate, known, more=classes is None)
        odds = before.model.counted.held_out
        if not found.is_labelled:
            rows = new.for_model(model) if sample is None else sample
            model = learn_unlabelled(found, model, rows, self.event_models, self.weights)
        elif sample is not None and weights_are_stale(self.model_, model):
            model = self._weighed(model, sample)
        elif odds is not None:  # it holds still: the model has become no worse
            model = model.with_held_out(odds.among(model.classes))
        learned = replace(before, model=model, sample=sample)
        return learned.recorded("update", model.counted.rows - before.model.counted.rows)

    @exclusive
    def calibrate(self, X: Table = None, y: Target = None, sample_weight: RowWeight = None) -> Self:
        """Fit the weights and the linear part again; what was counted stays.

        Parameters
        ----------
        X, y, sample_weight
            Labelled rows that were not learned; all are used. By default the sample of the
            learned rows that is in memory after ``fit``, ``partial_fit`` and ``load`` of a file
            that holds it is used, each row left out in turn.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes().fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
        >>> nb.calibrate([[1.5], [7.5]], ["a", "b"]).predict([[2.5]])
        array(['a'], dtype='<U1')
        """
        check_is_fitted(self)
        kind = self.weights or "loo"
        if X is None:
            kept = self._learned.rows
            sample, learned = kept.of(self.model_, larger=self._interacts), True
            used = float(len(sample))
        else:
            rows, labels = self._labelled(X, y, sample_weight)
            check_some_weight(labels.weights)
            batch = self.model_.counted.schema.encode(rows, labels)
            batch = replace(batch, labels=batch.labels.among(self.model_.classes))
            sample, learned = sample_of_all(batch, self.model_), False
            used = float(labels.weights.sum())
        held_out, interacts = None, self._interacts and kind == "loo"
        if not learned and used > 1:
            held_out = held_out_of(self.model_, sample, kind, interactions=interacts)
        if interacts:
            model = add_interactions(self.model_, sample, learned=learned)
        else:
            found = sample.weighed(self.model_, kind, learned=learned)
            model = self.model_.weighed(found.weights)
        model = model.with_held_out(held_out)
        self._learned = replace(self._learned, model=model).recorded("calibrate", used)
        return self

    def _settings(self) -> Settings:
        """Return the options that the model keeps, or raise a ValueError that names a wrong one."""
        check_options(self, DECLARED)
        if self.interactions is not None:
            Limits.of(self.interactions)  # what is wrong in it is said before any row is read
        if self.interactions and self.weights != "loo":
            raise ValueError(
                f"interactions needs weights='loo', got {self.weights!r}: they are fitted "
                "beside the weights of the columns."
            )
        if isinstance(self.derived, list | tuple) and self.derived and self.weights != "loo":
            raise ValueError(
                f"derived={list(self.derived)!r} needs weights='loo', got {self.weights!r}: what "
                "is made of columns is fitted beside their weights."
            )
        given = {of.name: getattr(self, of.name) for of in fields(Settings) if of.init}
        seconds = duration_of(self.half_life)
        if seconds is not None and not isinstance(self.half_life, str):  # as a file keeps it
            given["half_life"] = f"{seconds:.15g}s"
        return Settings(**given)

    @property
    def _read_as(self) -> ReadAs:
        return ReadAs(options=self._settings())

    def _fading(
        self, X: Table, y: Target, weight: RowWeight, time: Target, before: float | None = None
    ) -> FadedRows | None:
        """Return rows with what they weigh by their age, if rows fade."""
        if self.half_life is None:
            if time is None:
                return None
            raise ValueError(
                "time has no effect without half_life=: say after how long a row counts half, as "
                "half_life='30d'."
            )
        self._settings()  # a wrong option is named before any row is read
        texts = self._learned_texts if before is not None else means_texts(self.event_models)
        counted = () if before is None else self.model_.counted.grouped

        def read_rows(rows: Rows) -> Rows:
            if TIME_OF_ROWS in rows.names:
                before = counted[0].readings if counted else {}
                return read_strings(rows, self._read_as, before)
            target = y if isinstance(y, str) else None
            learned = rows.select([name for name in rows.names if name != target])
            return read_as_given(learned, self.event_models, self._settings(), *counted)

        return FadedRows.of(X, texts, weight, time, self.half_life, read_rows, before)

    @classmethod
    def textbook(
        cls,
        event_models: EventModels = "auto",
        smoothing: float | str = 0.0,
        class_prior: ClassPrior = "data",
    ) -> Self:
        """Return naive Bayes as a lecture has it: maximum likelihood, or Laplace's rule.

        No weights are fitted, no row is pretended, a missing cell is left out, and a text is the
        sequence of its words. So the joint likelihood is a product of relative frequencies and
        densities, and it is the evidence (``score_samples``) times the posterior.

        Parameters
        ----------
        event_models : "auto", str, EventModel or mapping, default "auto"
            As for ``NaiveBayes``: "gaussian", "bernoulli", "categorical", ...; with "auto" numbers
            are histograms.
        smoothing : float, "laplace" or "jeffreys", default 0.0
            What is added to the count of each level, truth and word; means, variances and rates
            stay those of maximum likelihood.
        class_prior : default "data"
            As for ``NaiveBayes``: the relative frequencies of the classes, or others.

        Returns
        -------
        nb : NaiveBayes
            Not fitted.

        Raises
        ------
        ValueError
            If there is a ``smoothing`` and no column has counts to add it to.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes.textbook("gaussian").fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
        >>> nb.inspect.parameters(column="x0").to_dict()["value"]
        [1.5, 8.5, 0.25, 0.25]
        """
        adds = smoothing != 0
        if isinstance(event_models, Mapping):
            event_models = {of: _of_lectures(one, adds) for of, one in event_models.items()}
        elif adds and not isinstance(_of_lectures(event_models, adds), type(event_models)):
            raise ValueError(
                f"{event_models} has no counts that smoothing={smoothing!r} could be added to; "
                "leave it out."
            )
        return cls(
            event_models,
            class_prior=class_prior,
            estimate="mean" if adds else "mle",
            smoothing=smoothing,
            weights=None,
            text="words",
            presence="ignore",
        )

    @classmethod
    def of(
        cls, class_prior: Mapping[Label, float], columns: Mapping[str, Mapping[Label, Estimate]]
    ) -> Self:
        """Return the model with given parameters, which were not learned.

        Parameters
        ----------
        class_prior : mapping of label to float
            The probability of each class.
        columns : mapping of str to mapping of label to Estimate
            Of each column, the distribution in each class: ``Bernoulli.of(p=0.3)``,
            ``Gaussian.of(mean=0, variance=1)``, and so on; a column of ``Multinomial.of`` with
            named words is a text.

        Returns
        -------
        nb : NaiveBayes
            Fitted, without weights and without smoothing: one pretend row of each class was
            counted.

        Raises
        ------
        ValueError
            If the class prior is no distribution, or a column lacks a class or has different
            event models by class.

        Examples
        --------
        >>> from naively import Bernoulli, NaiveBayes
        >>> cheap = {"spam": Bernoulli.of(p=0.3), "ham": Bernoulli.of(p=0.01)}
        >>> nb = NaiveBayes.of(class_prior={"spam": 0.4, "ham": 0.6}, columns={"cheap": cheap})
        >>> nb.predict_proba({"cheap": [True]}).round(3)
        array([[0.048, 0.952]])
        """
        return cls._of_model(model_of(class_prior, columns))

    @classmethod
    def _of_model(
        cls,
        model: Model,
        sample: SampledRows | None = None,
        history: History | None = None,
        target: TargetColumn = NO_TARGET,
    ) -> Self:
        """Return an estimator of a model, whose options learn more rows as it has its own."""
        options = {of.name: getattr(model.settings, of.name) for of in fields(Settings) if of.init}
        options["weights"] = None if model.weights is None else model.weights.how
        asked = model.settings.interactions or "auto"
        options["interactions"] = asked if model.seeks_interactions else None
        event_models = model.view.schema.event_models
        if given_as_objects(event_models, model.view.schema):
            options["smoothing"] = "auto"  # they have their own, and any other would have no effect
        nb = cls(event_models, **options)
        rows = None if sample is None else Reservoir.restored(sample, model)
        nb._learned = Learned(model, rows, history or History(), target)
        return nb

    def _learner(self, model: Model) -> Self:
        return self._of_model(model)

    def _weighed(self, model: Model, sample: Reservoir) -> Model:
        return weighed(model, sample, self.weights, seeks=self._interacts)

    def _learn_as(self, kinds: Collection[Weighting | None], interacts: bool, model: Model) -> None:
        self.weights = next((how for how in WEIGHTINGS if how in kinds), None)
        self.interactions = (model.settings.interactions or "auto") if interacts else None
        if self.weights == "loo":
            self.presence = model.settings.presence

    @property
    def n_features_in_(self) -> int:
        """How many columns were learned."""
        return self._fitted.counted.schema.width

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Their names; an attribute that is not there if they have none."""
        names = self._fitted.counted.schema.names
        if not names or names == [TEXT]:
            raise AttributeError("The columns that were learned have no names.")
        return np.array(names, object)

    @property
    def _sought(self) -> Sought:
        """What came of looking for interactions."""
        weights = self._checked.weights
        return (None if weights is None else weights.sought) or Sought()

    @property
    def why_no_interactions_(self) -> str:
        """Why ``interactions="auto"`` chose none, or ""."""
        return self._sought.why_none

    @property
    @asking
    def notes_(self) -> tuple[str, ...]:
        """What is to be said of what was learned: interactions, counts, whole weights."""
        schema = self._checked.view.schema
        sought = (
            *self._sought.notes,
            *([] if self.model_.seen is None else [self.model_.seen.note]),
            *(
                f"Column {list_names(group.columns)}: {note}. "
                "event_models='histogram' takes all columns for numbers."
                for group in schema.groups
                if (note := schema.notes.get(group.columns[0], "")).startswith("counts: ")
            ),
        )
        rows = self._learned.rows_or_none
        if rows is None:
            return sought
        sample = rows.of(self.model_, larger=self._interacts)
        return (*sought, *notes_of((), sample.batches))

    @property
    def _kind(self) -> Weighting | None:  # type: ignore[override]  # read-only
        return self.weights

    @property
    def _interacts(self) -> bool:  # type: ignore[override]  # read-only
        return self.interactions is not None

    def _read_rows(self, X: Table) -> Rows:
        schema = self._checked.view.schema
        rows = as_rows(with_one_row(X, schema.order), self._learned_texts)
        if schema.names and schema.by_place(rows):
            warn(
                f"X does not have valid feature names, but {type(self).__name__} was fitted with "
                "feature names: its columns are taken in the order of those learned."
            )
        return rows

    def _stream(self, X: Table) -> Stream | None:
        return None if elsewhere(X) is None else as_stream(X)

    @property
    def _learned_texts(self) -> bool:
        """Whether texts alone were learned, so that lists of strings are words and no table."""
        model = self._checked
        if model.counted.schema.names != [TEXT]:
            return False
        return model.columns().kinds.get(TEXT) == "text"

    def _read(
        self, X: Table, y: Target, beside: Beside, texts: bool | None, *, some: bool = False
    ) -> Labelled:
        """Read rows to learn from, of which only some may have labels if that is wanted."""
        if elsewhere(X) is None:
            rows, y = read_labelled(X, y, texts)
            if beside.given:
                rows, beside = columns_taken(rows, beside)
            found = InMemory.partly(rows, y, beside) if some else InMemory(rows, beside.encode(y))
            if self.interactions and not found.is_labelled:
                raise ValueError(
                    "interactions needs all labels: the class of a row without one depends on the "
                    "labels of all others, so no row can be left out to fit them."
                )
            return found
        stream = as_stream(X)
        names = X.columns if stream is None else stream.names
        check_columns(names, y, beside, semi_supervised=some)
        if stream is not None:
            return LabelledStream(stream, y, beside)
        return cast("Labelled", wing("frame of a cluster").of(X, y, beside))

    def _labelled(self, X: Table, y: Target, sample_weight: RowWeight) -> tuple[Rows, Labels]:
        rows, y = read_labelled(X, y, self._learned_texts)
        return rows, encode_labels(y, sample_weight)

    def _counted_of(
        self, X: Table, y: Target, sample_weight: RowWeight
    ) -> tuple[Counted, Reservoir]:
        found = self._read(X, y, Beside(sample_weight), self._learned_texts)
        how = Recipe(self.event_models, self.model_.settings)
        counted, sample = count(found, how, self.model_.counted)
        if counted is None:
            raise ValueError(found.nothing)
        return counted, sample

    def _count(self, X: Table, y: Target, *, weighted: bool) -> tuple[Batch, Model]:
        settings = self._settings()
        found = self._read(X, y, Beside(), means_texts(self.event_models))
        how = Recipe(self.event_models, settings if weighted else settings.unweighted)
        return encoded(found, how)

    def _read_whole(self, X: Table, y: Target, sample_weight: RowWeight) -> tuple[Rows, Labels]:
        rows, y = read_labelled(X, y, means_texts(self.event_models))
        return rows, encode_labels(y, sample_weight)

    def _learn_anew(self, rows: Rows, labels: Labels) -> Model:
        right = labels.classes[labels.codes]
        beside = Beside(labels.weight, None, labels.group)  # rows that are judged do not fade
        return self._unfitted()._first(rows, right, beside, NO_TARGET).model  # noqa: SLF001

    def _encoded(self, rows: Rows, labels: Labels) -> Batch:
        how = Recipe(self.event_models, self._settings())
        return encoded(InMemory(rows, labels), how)[0]


def load(
    path: store.Source, functions: Mapping[str, Callable[[str], Any]] | None = None
) -> NaiveBayes:
    """Read a model file that ``NaiveBayes.save`` or the command line wrote.

    If the file has a sample of the rows, the sample is in memory afterwards.

    Parameters
    ----------
    path : str or Path, a file of bytes that is open for reading, or bytes
        The file, or what it holds: of an upload, say, or of an object store.
    functions : mapping of str to function, optional
        The functions that the texts of the model need (``Text(tokenizer=...)`` and others), by
        their names, because a file holds no code.

    Returns
    -------
    nb : NaiveBayes
        Fitted.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If the file is no model, damaged, or of a version of naively that cannot be read: a newer
        one, or, of a few settings that have changed, an older one; or if a function is not given.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.naively"
    >>> NaiveBayes().fit([[1.0], [3.0]], ["a", "b"]).save(path)
    >>> load(path).predict([[1.2]])
    array(['a'], dtype='<U1')
    >>> load(path.read_bytes()).predict([[2.8]])
    array(['b'], dtype='<U1')
    """
    content = store.load_all(path, functions)
    said = {name: of for name, of in content.provenance.items() if isinstance(of, str)}
    beside = {name: of for name, of in said.items() if name in BESIDE}
    target = TargetColumn(said.get("target", ""), beside)
    return NaiveBayes._of_model(content.model, content.sample, content.history, target)  # noqa: SLF001


STALE = 1 / 1.1  # weights fitted to this share of the rows, or less, are fitted again
BESIDE = ("sample_weight", "frequencies", "groups", "time")  # what may be columns beside labels


def _of_lectures(event: Any, adds: bool) -> Any:
    """Return a named event model of numbers by maximum likelihood, where counts are smoothed."""
    if not adds or not isinstance(event, str) or event not in EVENT_MODELS:
        return event
    of = EVENT_MODELS[event]
    of_counts = of.shares or of.joined or of.layout != "numbers"
    return event if of_counts else of(estimate="mle")  # type: ignore[call-arg]  # every subclass has it


def check_effect(nb: NaiveBayes, schema: Schema) -> None:
    """Raise a ValueError if an option has no effect, as event models have options of their own."""
    estimates_prior = isinstance(nb.class_prior, Beta | Dirichlet)
    asked = any(group.event.estimate == nb.estimate for group in schema.groups)
    idle = [] if nb.estimate == "mean" or estimates_prior or asked else ["estimate"]
    idle += [] if nb.smoothing == "auto" else ["smoothing"]
    if idle and given_as_objects(nb.event_models, schema):
        event = schema.groups[0].event
        raise ValueError(
            f"{idle[0]}={getattr(nb, idle[0])!r} has no effect: every event model is given as an "
            f"object, which has options of its own. Give them to it, as in "
            f"{type(event).__name__}(...), or name the event model, {event.name!r}."
        )


def weights_are_stale(before: Model, model: Model) -> bool:
    """Whether weights are of too few of a model's rows, or of fewer columns than it now has."""
    if model.weights is None:
        return True
    fresh = model.weights.fresh(float(model.view.rows.sum()))
    return fresh <= STALE or not before.columns().is_part_of(model.columns())


def means_texts(event_models: EventModels) -> bool | None:
    """Whether lists of strings are texts or a table; None where event models do not say it."""
    if isinstance(event_models, Mapping):
        return True if TEXT in event_models else None
    one = event_models[0] if isinstance(event_models, list | tuple) else event_models
    if one == "text" or isinstance(one, Analyser):
        return True
    of_levels = isinstance(one, Categorical | JointTable)
    return False if of_levels or one in (Categorical.name, JointTable.name) else None
