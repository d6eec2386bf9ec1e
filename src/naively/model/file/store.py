"""A model is saved to a safetensors file, and loaded from one without running any code in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from naively import saving
from naively.events import Beta, Dirichlet
from naively.model.file import container
from naively.model.file.axes import write_axis, write_columns
from naively.model.file.compressed import compressed
from naively.model.file.container import Arrays
from naively.model.file.declared import Json, Saved, read
from naively.model.file.formats import FORMAT, Header, NewerError, check_format
from naively.model.file.keys import write_key
from naively.model.file.labels import write_classes, write_probabilities
from naively.model.file.restore import restore
from naively.model.file.sample import SampledRows, write_sample
from naively.model.file.sums import write_sums
from naively.model.file.weights import write_weights
from naively.model.history import History
from naively.model.model import Model
from naively.options import declared
from naively.schema.group import Group

LONGEST = 300  # characters of a message about a damaged file
HISTORY = "history"  # in the provenance: what was done to the model


class Content(NamedTuple):
    """What a model file holds.

    Parameters
    ----------
    model : Model
        What was learned.
    provenance : dict
        Where the model comes from.
    sample : SampledRows or None
        A sample of the rows that were learned, if it was saved.
    """

    model: Model
    provenance: Saved
    sample: SampledRows | None

    @property
    def history(self) -> History:
        """What was done to the model."""
        return read(History, self.provenance.get(HISTORY, {}), HISTORY)


def save(
    model: Model,
    path: str | PathLike[str],
    provenance: Mapping[str, Json] | None = None,
    sample: SampledRows | None = None,
    history: History | None = None,
) -> None:
    """Write a model file; on any failure an existing file stays as it was.

    Parameters
    ----------
    model : Model
        What is saved.
    path : str or Path
        The file; one whose name ends in ``.gz`` is compressed.
    provenance : mapping, optional
        Where the model comes from: anything that JSON can hold.
    sample : SampledRows, optional
        A sample of the rows that the model has learned.
    history : History, optional
        What was done to the model.

    Raises
    ------
    OSError
        If the file cannot be written; the message names it.
    ValueError
        If it would be compressed so well that it could not be loaded.
    """
    saving.save(path, compressed(path, to_bytes(model, provenance, sample, history)))


def to_bytes(
    model: Model,
    provenance: Mapping[str, Json] | None = None,
    sample: SampledRows | None = None,
    history: History | None = None,
) -> bytes:
    """Return what ``save`` writes: a model on its way from one machine to another."""
    arrays: Arrays = {}
    told = dict(provenance or {})
    if history is not None:
        told[HISTORY] = asdict(history)
    header = {"format": FORMAT, **_header(model, arrays), "provenance": told}
    if model.noise:
        header["noise"] = [vars(noise) for noise in model.noise]
    if model.sought is not None:
        header["sought"] = asdict(model.sought)
    if sample is not None:
        header["sample"] = write_sample(sample, model.counted.groups, arrays)
    return container.to_bytes(header, arrays)


def load(path: str | PathLike[str]) -> Model:
    """Return the model in a file (see ``load_all``)."""
    return load_all(path).model


def load_all(path: str | PathLike[str]) -> Content:
    """Return all that a model file holds.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is no model file, is damaged, or was made by a newer version; the message says
        which.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no model file {path}.")
    return _read(path, *container.read(path))


def from_bytes(content: bytes, name: str = "The model") -> Content:
    """Return all that the bytes of a model file hold (see ``load_all``).

    Parameters
    ----------
    content : bytes
        What ``to_bytes`` has made.
    name : str
        What it is called in messages.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> nb = NaiveBayes().fit([[1.0], [3.0]], ["a", "b"])
    >>> from_bytes(to_bytes(nb.model_)).model.classes
    array(['a', 'b'], dtype='<U1')
    """
    return _read(name, *container.read_open(name, BytesIO(content)))


def _read(path: object, saved: Saved, content: bytes) -> Content:
    """Return what a header and the bytes of its file hold; the path is named in messages."""
    kind = saved.get("kind")
    if kind is not None:
        raise ValueError(f"{path} is the model of a mail {kind}: ask it by `naively mail {kind}`.")
    try:
        check_format(saved)
        container.check(saved, content)
        header = read(Header, saved, "the header")
        model, sample = restore(header, container.arrays_of(content))
        found = Content(model, header.provenance, sample)
        found.history  # noqa: B018  (what cannot be read is an error now)
    except NewerError as error:
        raise ValueError(f"{path} {error}") from error
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {_brief(str(error))}.") from error
    return found


def _brief(message: str) -> str:
    """Return a message that is cut short, as a file may have made it long."""
    return message.rstrip(".") if len(message) <= LONGEST else f"{message[:LONGEST]}..."


def _header(model: Model, arrays: Arrays) -> Saved:
    """Return the header of a model but its format and provenance, and add the model's arrays."""
    from importlib.metadata import version

    write_sums(model.tally.weight, "weight", arrays)
    settings, counted, weights = model.settings, model.counted, model.weights
    prior = settings.class_prior
    if not isinstance(prior, str | Beta | Dirichlet):
        prior = write_probabilities(prior)
    return {
        "version": version("naively"),
        "classes": write_classes(model.classes),
        "class_prior": prior,
        "settings": {name: getattr(settings, name) for name in declared()},
        "columns": write_columns(counted.order),
        "free": [name for name in counted.order if name in counted.free],
        "weights": weights and write_weights(weights, model.classes.tolist(), arrays),
        "notes": list(counted.notes.items()),
        "groups": [_group(model, group, str(i), arrays) for i, group in enumerate(counted.groups)],
    }


def _group(model: Model, group: Group, name: str, arrays: Arrays) -> Saved:
    """Return what the header says of a group, and add its arrays under names that begin so."""
    tally = model.tally.blocks[group.key]
    for statistic, sums in tally.sums.items():
        write_sums(sums, f"{name}/{statistic.value}", arrays)
    return {
        "arrays": name,
        **write_key(group.key),
        "columns": write_columns(group.columns),
        "statistics": [statistic.value for statistic in tally.sums],
        "axis": write_axis(tally.axis, name, arrays),
    }
