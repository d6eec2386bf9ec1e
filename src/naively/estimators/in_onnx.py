"""A fitted model as an ONNX model, and rows as its inputs."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from naively.data.frames import Table
from naively.estimators.exported import Exported
from naively.saving import save

if TYPE_CHECKING:
    from onnx import ModelProto


class InOnnx(Exported):
    """A fitted model that is written as an ONNX model."""

    def to_onnx(self, path: str | PathLike[str] | None = None) -> ModelProto:
        """Write the model as an ONNX model, which gives labels and probabilities without Python.

        All that the model says is in it: weights, the linear part, missing cells, interactions.
        It computes with doubles, as ``predict_proba`` does.

        Parameters
        ----------
        path : str or Path, optional
            The file to write; by default none is written.

        Returns
        -------
        model : onnx.ModelProto
            Its inputs are one tensor a column: numbers, truths (0 and 1) and times (seconds since
            1970, UTC) are doubles of shape (n, 1), NaN where missing, and strings are strings of
            shape (n, 1). As the empty string is a string, truths of shape (n, 1) say which
            strings are missing; they may be left out if none is. Texts are split before: their
            tokens are strings of shape (n, m), padded with the empty string, as `onnx_inputs`
            makes them. Its outputs are "label", of shape (n,), whole numbers or else strings,
            and "probabilities", doubles of shape (n, classes). Its metadata "inputs" say which
            input is of which column, and "classes" the classes, as JSON.

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
        >>> [each.name for each in nb.to_onnx().graph.input]
        ['legs', 'coat', 'coat_missing']
        """
        from naively.engines.onnx.model import onnx_of

        model = onnx_of(self.scorecard())
        if path is not None:
            save(path, model.SerializeToString())
        return model

    def onnx_inputs(self, X: Table) -> dict[str, NDArray[Any]]:
        """Return rows as the inputs of the ONNX model that `to_onnx` writes.

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
            If the rows are not as those that were learned, or the model has no ONNX.

        Examples
        --------
        >>> from naively import NaiveBayes, Text
        >>> nb = NaiveBayes(Text(), weights=None).fit(["good", "not bad", "bad"], ["+", "+", "-"])
        >>> nb.onnx_inputs(["bad, not good", "good"])["text_word_1_1"].tolist()
        [['bad', 'not', 'good'], ['good', '', '']]
        """
        from naively.engines.onnx.inputs import inputs_of, tensors_of

        model = self._checked
        inputs = inputs_of(self.scorecard())
        return tensors_of(list(inputs.values()), model.schema.match(self._rows(X)))
