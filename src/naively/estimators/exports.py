"""``nb.export``: a fitted model for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Target
from naively.data.frames import Table
from naively.doors import wing
from naively.estimators.accessors import Accessor
from naively.events.prior import Seed
from naively.model.class_prior import Cost, cost_table
from naively.saving import save

if TYPE_CHECKING:
    from onnx import ModelProto

    from naively.inspect.scorecard import Scorecard
    from naively.wings.databases.databases import Table as TableName
    from naively.wings.databases.query import Query, Where
    from naively.wings.report.page import Report
    from naively.wings.report.subject import Subject


class Export(Accessor):
    """A fitted model for other programs: SQL, ONNX, JavaScript, a page, noisy counts."""

    _name = "export"

    def scorecard(self, *, sets: bool = False) -> Scorecard:
        """Return the model as numbers to be added up, by which any program can score rows.

        All that a model says by default is in it: weights, biases, missing cells, the linear part,
        interactions, texts and their lengths. Nothing can be learned with it, nor forgotten.

        Parameters
        ----------
        sets : bool, default False
            Whether it is to know sets of classes even if they have not been calibrated yet, which
            takes as long as ``assess()``.

        Returns
        -------
        scorecard : Scorecard
            ``scorecard.save("model.json")`` writes it as JSON, and ``scorecard.save("model.js")``
            as a script that scores rows, explains them, and needs nothing else.

        Raises
        ------
        ValueError
            If what a column says is no sum of given numbers, as of a kernel density; it names the
            column.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("bernoulli").fit({"wet": [1, 1, 0]}, ["rain", "rain", "sun"])
        >>> card = nb.export.scorecard()
        >>> card.to_dict()["classes"], card.columns
        (['rain', 'sun'], ['wet'])
        """
        from naively.inspect.scorecard import Scorecard

        return Scorecard.of(self._estimator._calibrated() if sets else self._model)

    def sql(
        self,
        table: TableName,
        dialect: str = "duckdb",
        *,
        probabilities: bool = False,
        keep: Sequence[str] | None = None,
        weights: Where = "auto",
        weights_table: TableName = "naively_weights",
        tokens: TableName | None = None,
        row_id: str | None = None,
        coverage: float | None = None,
        cost: Cost = None,
    ) -> Query:
        """Write a query that scores the rows of a table in its database.

        Parameters
        ----------
        table : str or tuple of two str
            The table or view that holds the rows: one name, or the names of a schema and of a table
            in it. In DuckDB it can be the path of a file, such as "visits.parquet".
        dialect : str, default "duckdb"
            "duckdb", "sqlite" or "postgres"; or any other that sqlglot knows, such as "bigquery",
            "snowflake" or "spark": such a query says in its first line that it was not run there.
        probabilities : bool, default False
            Whether to return the probability of each class, "p(label)", instead of that of the
            prediction, "probability".
        keep : sequence of str, optional
            The columns to return before the prediction; by default all columns of the table. In
            SQLite a view has no numbers of rows, which all columns are found by: name them.
        weights : {"auto", "inline", "table"}, default "auto"
            Whether the numbers of strings and tokens are in the query, or in a table that
            ``setup`` makes; by default a table if they are more than 2,000.
        weights_table : str or tuple of two str, default "naively_weights"
            The name of that table.
        tokens : str or tuple of two str, optional
            The table of tokens, which a model of texts needs: with columns "row_id", "block",
            "token" and "often". ``tokens`` makes it.
        row_id : str, optional
            The column of ``table`` that "row_id" refers to.
        coverage : float, optional
            Whether each class is in the row's set of this coverage (see
            ``NaiveBayes.predict_set``) is returned too, as "in(label)".
        cost : optional
            As for ``NaiveBayes.predict``: the prediction is the answer of least expected cost.

        Returns
        -------
        query : Query
            A string. ``query.setup`` holds the statements to run once before it, if any.

        Raises
        ------
        ValueError
            If what a column says is no sum of given numbers (see `Scorecard`), the dialect is not
            known or cannot spell something, or an option lacks another.

        Notes
        -----
        Probabilities equal those of ``predict_proba`` to 1e-12. Missing cells, and levels and words
        that were never seen, say what they say there. A number that is no number, or no number of
        the event model, is an error of the database, or is scored by the same formula.

        Examples
        --------
        >>> import duckdb
        >>> from naively import NaiveBayes
        >>> shop = duckdb.connect()
        >>> _ = shop.execute("CREATE TABLE visits AS SELECT 25 AS age, 'red' AS colour")
        >>> X = {"age": [20, 30, 3, 4], "colour": ["red", "red", "blue", "blue"]}
        >>> nb = NaiveBayes("gaussian", weights=None).fit({"age": X["age"]}, X["colour"])
        >>> print(*shop.execute(nb.export.sql("visits", keep=["age"])).fetchone())
        25 red 0.896...
        """
        from naively.assess.decisions import least_of
        from naively.inspect.scorecard import Scorecard

        least = None
        if coverage is not None:
            least = float(least_of(self._estimator._calibrated(), coverage)[0])
        asked = wing("sql options")(
            table=table,
            dialect=dialect,
            probabilities=probabilities,
            keep=keep,
            weights=weights,
            weights_table=weights_table,
            tokens=tokens,
            row_id=row_id,
            least=least,
            cost=None if cost is None else cost_table(cost, self._model.classes),
        )
        return cast("Query", wing("sql query")(Scorecard.of(self._model), asked))

    def tokens(
        self, connection: Any, table: TableName, row_id: str, tokens: TableName = "naively_tokens"
    ) -> int:
        """Make a table of the tokens of texts that are in a database, for a query of ``sql``.

        Parameters
        ----------
        connection : DB-API or ADBC connection
            To DuckDB (``duckdb``), SQLite (``sqlite3``) or PostgreSQL (``psycopg``); nothing is
            committed.
        table : str or tuple of two str
            The table that holds the texts, whose columns are named as in training.
        row_id : str
            Its column of unique whole numbers or strings.
        tokens : str or tuple of two str, default "naively_tokens"
            The table to make, with columns "row_id", "block" (0 for the first column of tokens,
            such as words, 1 for the next, such as bigrams), "token" and "often".

        Returns
        -------
        rows : int
            How many rows it has: one for each learned token of a text.

        Raises
        ------
        ValueError
            If the model reads no texts, the table of tokens exists already, row ids are not unique,
            or the database fails; it says which.

        Examples
        --------
        >>> import sqlite3
        >>> from naively import NaiveBayes, Text
        >>> nb = NaiveBayes({"note": Text()}, weights=None)
        >>> nb = nb.fit({"note": ["buy now", "lunch now"]}, ["spam", "ham"])
        >>> mail = sqlite3.connect(":memory:")
        >>> _ = mail.execute("CREATE TABLE notes (id INTEGER, note TEXT)")
        >>> _ = mail.execute("INSERT INTO notes VALUES (7, 'buy or buy')")
        >>> nb.export.tokens(mail, "notes", "id")
        1
        >>> mail.execute("SELECT * FROM naively_tokens").fetchall()
        [(7, 0, 'buy', 2)]
        """
        from naively.inspect.scorecard import Scorecard

        card = Scorecard.of(self._model)
        return cast("int", wing("sql tokens")(card, connection, table, row_id, tokens))

    def onnx(self, path: str | PathLike[str] | None = None) -> ModelProto:
        """Write the model as an ONNX model, which gives labels and probabilities without Python.

        It has the whole model: weights, the linear part, missing cells, interactions. It computes
        with doubles, as ``predict_proba`` does.

        Parameters
        ----------
        path : str or Path, optional
            The file to write; by default none is written.

        Returns
        -------
        model : onnx.ModelProto
            Its inputs are one tensor a column: numbers, truths (0 and 1) and times (seconds since
            1970, UTC) are doubles of shape (n, 1), NaN where missing, and strings are strings of
            shape (n, 1). Because the empty string is a string, truths of shape (n, 1) say which
            strings are missing; they may be left out if none is. Texts are split before: their
            tokens are strings of shape (n, m), padded with the empty string, as `onnx_inputs` makes
            them. Its outputs are "label", of shape (n,), whole numbers or else strings, and
            "probabilities", doubles of shape (n, classes). Its metadata "inputs" say which input is
            of which column, and "classes" the classes, as JSON.

        Raises
        ------
        ImportError
            If the package onnx is not installed; it says how to install it.
        ValueError
            If what a column says is no sum of given numbers (a kernel density, a predictive
            integral, all columns as one event), or its tokens are made by a program or hashed; it
            names the column. Or if the model is larger than 2 GB.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> X = {"legs": [2.0, 4.0, 4.0, 2.0], "coat": ["feathers", "fur", "fur", "feathers"]}
        >>> nb = NaiveBayes().fit(X, ["bird", "cat", "cat", "bird"])
        >>> [each.name for each in nb.export.onnx().graph.input]
        ['legs', 'coat', 'coat_missing']
        """
        model: ModelProto = wing("onnx")(self.scorecard())
        if path is not None:
            save(path, model.SerializeToString())
        return model

    def onnx_inputs(self, X: Table) -> dict[str, NDArray[Any]]:
        """Return rows as the inputs of the ONNX model that `onnx` writes.

        Parameters
        ----------
        X : table of rows
            As for ``predict``.

        Returns
        -------
        inputs : dict of str to ndarray
            The tensors by name. ``session.run(None, inputs)`` of onnxruntime takes them.

        Raises
        ------
        ValueError
            If the rows are not like the learned ones, or the model has no ONNX.

        Examples
        --------
        >>> from naively import NaiveBayes, Text
        >>> nb = NaiveBayes(Text(), weights=None).fit(["good", "not bad", "bad"], ["+", "+", "-"])
        >>> nb.export.onnx_inputs(["bad, not good", "good"])["text_word_1_1"].tolist()
        [['bad', 'not', 'good'], ['good', '', '']]
        """
        rows = self._model.view.schema.match(self._estimator._rows(X))
        return cast("dict[str, NDArray[Any]]", wing("onnx inputs")(self.scorecard(), rows))

    def report(self, X: Table = None, y: Target = None, *, name: str = "") -> Report:
        """Write one page about the model: what it learned, how good it is, and why it answers so.

        Parameters
        ----------
        X : table of rows, optional
            Rows that were not learned, to be scored, shown and explained; by default some of the
            sample of the learned rows that is in memory.
        y : array-like of shape (rows,), or str, optional
            Their right labels, or the name of their column in ``X``.
        name : str, optional
            What the page is called.

        Returns
        -------
        report : Report
            ``report.save("report.html")`` writes it; the page needs no network.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit(*load_iris(return_X_y=True))
        >>> print(nb.export.report(name="iris"))
        iris: a page of ... bytes
        What if?
        What each column adds
        ...
        """
        return cast("Report", wing("report")(self._subject(X, y), name))

    def card(self, X: Table = None, y: Target = None, *, name: str = "", use: str = "") -> str:
        """Write a model card: its use, what it learned, how good it is and for which groups.

        Parameters
        ----------
        X, y : table of rows, and labels, optional
            As for ``report``.
        name : str
            What the model is called.
        use : str
            What it should be used for, and what not.

        Returns
        -------
        card : str
            Markdown.

        References
        ----------
        Mitchell et al., Model cards for model reporting (2019).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit(*load_iris(return_X_y=True))
        >>> card = nb.export.card(name="iris", use="Lectures.")
        >>> print(*[line for line in card.splitlines() if line.startswith("#")][:4], sep="; ")
        # iris; ## Intended use; ## How good it is; ## Can its probabilities be believed?
        """
        return cast("str", wing("card")(self._subject(X, y), name, use, self._estimator.history_))

    def _subject(self, X: Table, y: Target) -> Subject:
        """Return what a report or a card is of."""
        model = self._model
        learned = self._estimator._learned
        rows, labels = (None, None) if X is None else (self._estimator._rows(X), None)
        if X is not None and y is not None:
            rows, labels = self._estimator._with_labels(X, y)
        said = {"target": self._estimator.target_}
        subject: Subject = wing("subject of a report").of(
            model, learned.rows_or_none, learned.kind, rows, labels, said
        )
        return subject

    def with_noise(
        self, epsilon: float, delta: float = 0.0, *, resolution: int = 3, random_state: Seed = None
    ) -> Any:
        """Return a new model with noise in its counts, which hides each single row.

        This model does not change. The new one has (epsilon, delta)-differential privacy: with one
        row more or less, the probability of any outcome is at most exp(epsilon) times as large,
        plus delta. It holds no sample of rows, and no weights, linear part or interactions, because
        these are fitted to rows. Its receiver may fit weights to rows of its own (``calibrate(X,
        y)``). Missing cells are no evidence in it.

        Parameters
        ----------
        epsilon : float
            From 1e-6 to 100. A smaller epsilon adds more noise; 1 is usual.
        delta : float, default 0.0
            From 0 to less than 1, and much less than one over the number of rows. It is needed for
            the names of levels, cells and words, unless all of them are declared.
        resolution : int, default 3
            Numbers are counted in 2**resolution cells from each power of two to the next, which
            must not depend on the rows. More cells are finer, and each holds fewer rows.
        random_state : int, Generator or None, default None
            The source of the noise; None is the operating system. A seed is for tests: with it
            anybody can subtract the noise.

        Returns
        -------
        noisy : NaiveBayes
            Fitted; ``noise_`` says what was added.

        Raises
        ------
        ValueError
            If what a row changes has no bound: sums of numbers (of Gaussian, Poisson and
            other such columns), and texts that were not learned with ``Text(max_tokens=...)``; if
            counts are not of whole rows, after weights, ``decay`` or rows without labels; if
            a column was counted in coarser cells than ``resolution``; or if delta is 0 where
            it is needed. The message names the column.

        Notes
        -----
        The unit of privacy is one row, added or removed; a row of weight 2 is two rows. The names
        of columns, the class labels and the event models of columns are public: give
        ``event_models`` if even these must not depend on the rows. A refusal is public too.

        A row adds 1 to its class count, 1 to one level, cell or truth of each column, and 1 to
        the texts and to as many words of a text as ``max_tokens`` says. All of that together is the
        sensitivity. Noise is discrete Laplace or discrete Gaussian, whichever has the smaller
        deviation, times the threshold if there is one (with delta = 0, Laplace), drawn exactly
        (Ghosh, Roughgarden & Sundararajan 2009; Canonne, Kamath & Steinke 2020). A level, cell or
        word that is not declared is kept if its greatest noisy count in the classes reaches the
        threshold t with c · K · P(noise ≥ t - 1) ≤ d / (1 + d), for c columns (or words of a
        text), K classes and the delta d that is left for it: half of it, or all with Laplace noise
        (Korolova et al. 2009; Wilson et al. 2020). In several noisy models of different rows each
        row is hidden as well as in one; epsilons and deltas of the same rows add up.

        Examples
        --------
        >>> import numpy as np
        >>> from naively import Categorical, NaiveBayes
        >>> rng = np.random.default_rng(0)
        >>> y = np.where(rng.random(3000) < 0.4, "ill", "well")
        >>> cough = np.where(rng.random(3000) < np.where(y == "ill", 0.7, 0.2), "yes", "no")
        >>> nb = NaiveBayes(Categorical(levels=["yes", "no"])).fit({"cough": cough}, y)
        >>> noisy = nb.export.with_noise(epsilon=1.0, random_state=0)
        >>> print(noisy.noise_[0])
        noise: epsilon 1, delta 0, discrete Laplace of standard deviation 2.8
        >>> nb.class_count_, noisy.class_count_
        (array([1219., 1781.]), array([1218., 1782.]))
        """
        if self._estimator._learned.model.counted.unlabelled_weight > 0:
            raise ValueError(
                "Rows without a label count here, by what all other rows say of them, so that one "
                "row may change all counts; learn labelled rows alone."
            )
        seed = random_state
        if isinstance(seed, np.random.Generator):
            seed = int(seed.integers(2**63))
        of = self._model, float(epsilon), float(delta), wing("random")(seed), int(resolution)
        return self._estimator._learner(wing("noise")(*of))
