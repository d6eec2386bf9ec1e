"""A model is saved to a safetensors file, and loaded from one without running any code in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from io import BytesIO
from os import PathLike
from typing import BinaryIO, NamedTuple

from naively import __version__, saving
from naively.counting.axis import DOCUMENT, Name, Statistic
from naively.counting.tally import BlockTally, Tally
from naively.data.columns import Reading
from naively.data.reading import is_sound
from naively.events import Beta, Dirichlet
from naively.file import container, parts
from naively.file.container import Arrays, UnreadArrays, compressed
from naively.file.header import (
    FORMAT,
    Header,
    Json,
    NewerError,
    Saved,
    SavedGroup,
    at,
    check_format,
    read,
    shown,
)
from naively.kernels.folding import unicode_version
from naively.kernels.sparse_sums import AnySums, as_sparse
from naively.messages import warn
from naively.model.counted import Counted
from naively.model.model import History, Model
from naively.options import DECLARED, expected
from naively.schema.schema import Group, Schema
from naively.schema.settings import Settings
from naively.schema.text import Text, name_of

LONGEST = 300  # characters of a message about a damaged file
Source = str | PathLike[str] | BinaryIO | bytes | bytearray | memoryview
HISTORY = "history"  # in the provenance: what was done to the model


class Content(NamedTuple):
    """What a model file holds."""

    model: Model
    provenance: Saved
    sample: parts.SampledRows | None  # a sample of the rows that were learned, if it was saved

    @property
    def history(self) -> History:
        """What was done to the model."""
        return read(History, self.provenance.get(HISTORY, {}), HISTORY)


def save(
    model: Model,
    path: str | PathLike[str] | BinaryIO,
    provenance: Mapping[str, Json] | None = None,
    sample: parts.SampledRows | None = None,
    history: History | None = None,
) -> None:
    """Write a model file; on any failure an existing file stays as it was."""
    content = to_bytes(model, provenance, sample, history)
    if isinstance(path, str | PathLike):
        saving.save(path, compressed(path, content))
    else:
        path.write(content)


def to_bytes(
    model: Model,
    provenance: Mapping[str, Json] | None = None,
    sample: parts.SampledRows | None = None,
    history: History | None = None,
) -> bytes:
    """Return what ``save`` writes: a model on its way from one machine to another."""
    arrays: Arrays = {}
    told = dict(provenance or {})
    if history is not None:
        told[HISTORY] = asdict(history)
    header = {"format": FORMAT, **_header(model, arrays), "provenance": told}
    if model.counted.noise:
        header["noise"] = [vars(noise) for noise in model.counted.noise]
    if model.weights is not None and model.weights.sought is not None:
        header["sought"] = asdict(model.weights.sought)
    if model.counted.held_out is not None:
        header["held_out"] = parts.write_held_out(model.counted.held_out, arrays)
    if sample is not None:
        header["sample"] = parts.write_sample(sample, model.counted.schema.groups, arrays)
    return container.to_bytes(header, arrays)


def load_all(path: Source, functions: Mapping[str, parts.Function] | None = None) -> Content:
    """Return all that a model file holds."""
    with parts.given_functions(functions):
        match path:
            case str() | PathLike():
                from pathlib import Path  # which takes as long to import as one model to read

                path = Path(path)
                if not path.is_file():
                    raise FileNotFoundError(f"There is no model file {path}.")
                return _read(path, *container.read(path))
            case bytes() | bytearray() | memoryview():
                return from_bytes(path)
        content = path.read()
        name = getattr(path, "name", "The file")
        if not isinstance(content, bytes):
            raise TypeError(f'{name} is a file of text: open it as one of bytes, with mode="rb".')
        return from_bytes(content, name)


def from_bytes(content: bytes | bytearray | memoryview, name: str = "The model") -> Content:
    """Return all that the bytes of a model file hold (see ``load_all``)."""
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
        _check_unicode(path, header)
    except (NewerError, parts.FunctionMissingError) as error:
        raise ValueError(f"{path} {error}") from error
    except ValueError as error:
        said = str(error)  # which a file may have made long
        said = said.rstrip(".") if len(said) <= LONGEST else f"{said[:LONGEST]}..."
        raise ValueError(f"{path} is damaged: {said}.") from error
    return found


def _check_unicode(path: object, header: Header) -> None:
    """Warn if the texts of a model were split by another version of Unicode."""
    here = unicode_version()
    if header.unicode not in (None, here):
        warn(
            f"{path} split its texts by Unicode {header.unicode}, and this version of naively does "
            f"by {here}: characters that are new in one of them may be split otherwise."
        )


def _header(model: Model, arrays: Arrays) -> Saved:
    """Return the header of a model but its format and provenance, and add the model's arrays."""
    parts.write_sums(model.counted.tally.weight, "weight", arrays)
    settings, counted, weights = model.settings, model.counted, model.weights
    prior = settings.class_prior
    if not isinstance(prior, str | Beta | Dirichlet):
        prior = parts.write_probabilities(prior)
    _check_functions(counted.schema)
    # Whether a text is split into tokens by naively's own rules.
    splits_texts = any(isinstance(group.analyser, Text) for group in counted.schema.groups)
    return {
        "version": __version__,
        "classes": parts.write_classes(model.classes),
        "class_prior": prior,
        "settings": {name: getattr(settings, name) for name in DECLARED},
        "columns": parts.write_columns(counted.schema.order),
        "free": [name for name in counted.schema.order if name in counted.schema.free],
        "weights": weights and parts.write_weights(weights, model.classes.tolist(), arrays),
        "notes": list(counted.schema.notes.items()),
        **_readings(counted.schema),
        **({} if counted.newest is None else {"newest": counted.newest}),
        **({"unicode": unicode_version()} if splits_texts else {}),
        "groups": [
            _write_group(model, group, str(i), arrays)
            for i, group in enumerate(counted.schema.groups)
        ],
    }


def _check_functions(schema: Schema) -> None:
    """Check that no two functions, which a file knows by name, have the same one."""
    known: dict[str, parts.Function] = {}
    analysers = [of.analyser for of in schema.groups if of.analyser is not None]
    for function in (function for of in analysers for function in of.functions.values()):
        name = name_of(function)
        if known.setdefault(name, function) != function:
            raise ValueError(
                f"Two functions of the model are named {name}, and a model file names them: "
                "rename one of them."
            )


def _readings(schema: Schema) -> Saved:
    """Return how strings are read, where any are."""
    of = [(name, asdict(reading)) for name, reading in schema.readings.items()]
    return {"readings": of} if of else {}


def _write_group(model: Model, group: Group, name: str, arrays: Arrays) -> Saved:
    """Return what the header says of a group, and add its arrays under names that begin so."""
    tally = model.counted.tally.blocks[group.key]
    for statistic, sums in tally.sums.items():
        parts.write_sums(sums, f"{name}/{statistic.value}", arrays)
    return {
        "arrays": name,
        **parts.write_key(group.key),
        "columns": parts.write_columns(group.columns),
        "statistics": [statistic.value for statistic in tally.sums],
        "axis": parts.write_axis(tally.axis, name, arrays),
    }


# --- From the header and the arrays of a file to a model, whose every part is checked ----------
#
# The types that ``formats`` declares have been checked already. Here the laws between the parts
# are: sizes, names, classes, statistics, and counts that rows can have. Nothing is made that is
# much larger than the file.


EVENTS_OF_TEXTS = ("multinomial", "bernoulli", "complement")
NUMERIC = ("number", "boolean", "time", "part")  # kinds of columns that are counted as numbers
NEVER_LEVELS = ("text", "missing", "missing as")  # and missing cells are not counted at all
MISSING_THROUGHOUT = 1 << 18  # columns of an array beside those that were learned


def restore(header: Header, arrays: Arrays) -> tuple[Model, parts.SampledRows | None]:
    """Return the model and its sample of rows, or raise a ValueError that says what is wrong."""
    unread = UnreadArrays(arrays)
    classes = parts.read_classes(list(header.classes.labels), header.classes.dtype)
    weight = parts.read_all_sums("weight", (len(classes),), unread)
    groups, blocks = [], {}
    for i, saved in enumerate(header.groups):
        with at(f"groups[{i}]"):
            group = _read_group(saved)
            if group.key in blocks:
                raise ValueError("it counts the same as another group")
            blocks[group.key] = _counts(saved, group, unread, len(classes))
            groups.append(group)
    order = parts.read_columns(header.columns)
    free = frozenset(header.free)
    readings: dict[Name, Reading] = dict(header.readings)
    if not all(map(is_sound, readings.values())):
        raise ValueError("readings: no column can be read so")
    schema = Schema(tuple(groups), order, dict(header.notes), free, readings)
    _check_columns(schema)
    weights = None
    if header.weights is not None:
        weights = parts.read_weights(header.weights, unread, classes, order)
        weights = replace(weights, sought=header.sought)
    saved_rows = header.held_out
    held_out = None if saved_rows is None else parts.read_held_out(saved_rows, unread, classes)
    tally = Tally(classes, weight, blocks)
    counted = Counted(schema, tally, _settings(header), header.noise, held_out, header.newest)
    wrong = counted.impossible
    if wrong is not None:
        raise ValueError(f"{wrong}, which no rows can be counted as")
    sample = None
    if header.sample is not None:
        with at("sample"):
            sample = parts.read_sample(header.sample, unread, counted)
    unread.check_empty()
    # Nothing can be derived from a level without counts, and no file that is written has one.
    return Model.of(replace(counted, tally=tally.pruned()), weights), sample


def _read_group(saved: SavedGroup) -> Group:
    """Return the columns of one event model, of a kind that it can count."""
    event = parts.read_event(saved.event, saved.options)
    analyser = parts.read_analyser(saved.analyser, event)
    columns = parts.read_columns(saved.columns)
    if analyser is not None:
        fits = saved.kind == "text" and event.name in EVENTS_OF_TEXTS and len(columns) == 1
    elif event.layout == "numbers":
        fits = saved.kind in NUMERIC
    else:
        fits = saved.kind not in NEVER_LEVELS
    if not fits:
        raise ValueError(f"it is of {saved.kind}s, which {event.name} cannot count so")
    return Group(event, saved.kind, columns, analyser)


def _counts(saved: SavedGroup, group: Group, unread: UnreadArrays, classes: int) -> BlockTally:
    """Return what was counted of a group, for this number of classes."""
    needed = {statistic.value for statistic in group.event.statistics}
    counts_documents = group.analyser is not None and group.analyser.counts_documents
    possible = needed | ({DOCUMENT.value} if counts_documents else set())
    names = set(saved.statistics)
    if len(names) < len(saved.statistics) or not needed <= names <= possible:
        raise ValueError(f"it has other statistics than {group.event.name} counts")
    axis = parts.read_axis(saved.axis, saved.arrays, group, unread)
    sums: dict[Statistic, AnySums] = {}
    for statistic in map(Statistic, saved.statistics):
        height = len(axis.columns) if statistic in axis.shared else len(axis)
        found = parts.read_sums(f"{saved.arrays}/{statistic.value}", (height, classes), unread)
        is_sparse = group.analyser is not None and statistic not in axis.shared
        sums[statistic] = as_sparse(found) if is_sparse else found  # words may be given with all
    tally: BlockTally = BlockTally(axis, sums)
    a, b = axis.columns, group.columns
    is_same = a == b or (len(a) == len(b) and set(a) == set(b))
    if group.event.layout != "rows" and not is_same:  # the one column of whole rows stands for all
        raise ValueError("it counts other columns than it has")
    return tally


def _check_columns(schema: Schema) -> None:
    """Raise a ValueError unless each column of a group is of the table, and of no other group."""
    words = {name for group in schema.groups if group.kind == "word" for name in group.columns}
    some = (group for group in schema.of_columns if group.kind not in ("text", "word"))
    grouped = [name for group in some for name in group.columns]
    texts = {name for group in schema.groups if group.kind == "text" for name in group.columns}
    if schema.width > len(grouped) + len(texts) + MISSING_THROUGHOUT:
        raise ValueError(f"there are {schema.width:,} columns, nearly all without a value")
    known = {*schema.order, *schema.derived}
    twice = len(set(grouped)) < len(grouped) or texts & set(grouped)
    if twice or not known >= {*grouped, *texts, *words}:
        raise ValueError("the groups do not hold the columns")
    if not known >= {root for name in schema.derived for root in name.roots}:
        raise ValueError("there are columns that follow from none of the table")


def _settings(header: Header) -> Settings:
    """Return the settings of the model, or raise a ValueError if one of them is none."""
    saved, prior, kinds = header.settings, header.class_prior, DECLARED
    # Files that were written before there were these options lack them.
    wrong = next(iter((kinds.keys() ^ saved.keys()) - {"half_life", "derived"}), None)
    if wrong is not None:
        raise ValueError(f"settings has no {shown(wrong)}, or lacks it")
    for name, value in saved.items():
        if not any(kind.holds(value) for kind in kinds[name]):
            raise ValueError(f"settings.{name} is {shown(value)}, not {expected(kinds[name])}")
    given = parts.read_probabilities(prior) if isinstance(prior, tuple) else prior
    return Settings(**saved, class_prior=given)
