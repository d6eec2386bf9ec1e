"""From the header and the arrays of a file to a model, whose every part is checked.

The types that ``formats`` declares have been checked already. Here the laws between the parts are:
sizes, names, classes, statistics, and counts that rows can have. Nothing is made that is much
larger than the file.
"""

from __future__ import annotations

from dataclasses import replace

from naively.counting.axis import Words
from naively.counting.statistic import DOCUMENT, Statistic
from naively.counting.tally import BlockTally, Tally
from naively.kernels.sparse_sums import AnySums, as_sparse
from naively.model.file.axes import check_interaction, read_axis, read_columns
from naively.model.file.container import Arrays, UnreadArrays
from naively.model.file.declared import at, shown
from naively.model.file.formats import Header, SavedGroup
from naively.model.file.keys import read_analyser, read_event
from naively.model.file.labels import read_classes, read_probabilities
from naively.model.file.sample import SampledRows, read_sample
from naively.model.file.sums import read_all_sums, read_sums
from naively.model.file.weights import read_weights
from naively.model.model import Model
from naively.options import declared, expected
from naively.schema.group import Group
from naively.schema.schema import Schema
from naively.schema.settings import Settings

EVENTS_OF_TEXTS = ("multinomial", "bernoulli", "complement")
NUMERIC = ("number", "boolean", "time", "part")  # kinds of columns that are counted as numbers
NEVER_LEVELS = ("text", "missing", "interaction")  # and missing cells are not counted at all
MISSING_THROUGHOUT = 1 << 18  # columns of an array beside those that were learned


def restore(header: Header, arrays: Arrays) -> tuple[Model, SampledRows | None]:
    """Return the model and its sample of rows, or raise a ValueError that says what is wrong."""
    unread = UnreadArrays(arrays)
    classes = read_classes(list(header.classes.labels), header.classes.dtype)
    weight = read_all_sums("weight", (len(classes),), unread)
    groups, blocks = [], {}
    for i, saved in enumerate(header.groups):
        with at(f"groups[{i}]"):
            group = _group(saved)
            if group.key in blocks:
                raise ValueError("it counts the same as another group")
            blocks[group.key] = _counts(saved, group, unread, len(classes))
            groups.append(group)
    order = read_columns(header.columns)
    schema = Schema(tuple(groups), order, dict(header.notes), frozenset(header.free))
    _check_columns(schema)
    weights = None
    if header.weights is not None:
        weights = read_weights(header.weights, unread, classes, order)
    model = Model(
        schema,
        Tally(classes, weight, blocks),
        _settings(header),
        weights,
        header.noise,
        header.sought,
    )
    wrong = model.impossible
    if wrong is not None:
        raise ValueError(f"{wrong}, which no rows can be counted as")
    sample = None
    if header.sample is not None:
        with at("sample"):
            sample = read_sample(header.sample, unread, model)
    unread.check_empty()
    # Of a level without counts nothing can be derived, and no file that is written has one.
    return replace(model, tally=model.tally.pruned()), sample


def _group(saved: SavedGroup) -> Group:
    """Return the columns of one event model, of a kind that it can count."""
    event = read_event(saved.event, saved.options)
    analyser = read_analyser(saved.analyser, event)
    columns = read_columns(saved.columns)
    if event.layout == "grid":
        fits = saved.kind == "interaction"
        for column in columns:
            check_interaction(column)
    elif analyser is not None:
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
    axis = read_axis(saved.axis, saved.arrays, group, unread)
    sums: dict[Statistic, AnySums] = {}
    for statistic in map(Statistic, saved.statistics):
        height = len(axis) if axis.per_row(statistic) else len(axis.columns)
        found = read_sums(f"{saved.arrays}/{statistic.value}", (height, classes), unread)
        is_sparse = isinstance(axis, Words) and axis.per_row(statistic)
        sums[statistic] = as_sparse(found) if is_sparse else found  # words may be given with all
    tally: BlockTally = BlockTally(axis, sums)
    a, b = axis.columns, group.columns
    is_same = a == b or (len(a) == len(b) and set(a) == set(b))
    if group.event.layout != "rows" and not is_same:  # the one column of whole rows stands for all
        raise ValueError("it counts other columns than it has")
    return tally


def _check_columns(schema: Schema) -> None:
    """Raise a ValueError unless each column of a group is of the table, and of no other group."""
    grouped = [n for group in schema.of_columns if group.kind != "text" for n in group.columns]
    texts = {name for group in schema.groups if group.kind == "text" for name in group.columns}
    if schema.width > len(grouped) + len(texts) + MISSING_THROUGHOUT:
        raise ValueError(f"there are {schema.width:,} columns, nearly all without a value")
    known = {*schema.order, *schema.derived}
    twice = len(set(grouped)) < len(grouped) or texts & set(grouped)
    if twice or not known >= {*grouped, *texts}:
        raise ValueError("the groups do not hold the columns")
    if not known >= {root for name in schema.derived for root in name.roots}:
        raise ValueError("there are columns that follow from none of the table")


def _settings(header: Header) -> Settings:
    """Return the settings of the model, or raise a ValueError if one of them is none."""
    saved, prior, kinds = header.settings, header.class_prior, declared()
    wrong = next(iter(kinds.keys() ^ saved.keys()), None)
    if wrong is not None:
        raise ValueError(f"settings has no {shown(wrong)}, or lacks it")
    for name, value in saved.items():
        if not any(kind.holds(value) for kind in kinds[name]):
            raise ValueError(f"settings.{name} is {shown(value)}, not {expected(kinds[name])}")
    given = read_probabilities(prior) if isinstance(prior, tuple) else prior
    return Settings(**saved, class_prior=given)
