"""What is to be said of a model's columns beside what was counted: which are multiplied."""

from __future__ import annotations

from dataclasses import replace

from naively.counting.axis import Name, title
from naively.model.linear_part import LinearPart, Product
from naively.schema.schema import SHOWN, Schema

MOST = 3  # columns that are named


def with_products(schema: Schema, linear: LinearPart) -> Schema:
    """Return the schema with a note at each column that is multiplied with others.

    There are no such notes where columns are too many for a line each.
    """
    if len(schema.columns) > SHOWN:
        return schema
    groups = {group.key: frozenset(group.columns) for group in schema.groups}
    others: dict[Name, dict[Name, None]] = {}
    for product in _by_slope(linear):
        a, b = product.columns
        if all(of.column in groups.get(of.group, ()) for of in (product.a, product.b)):
            others.setdefault(a, {})[b] = None
            others.setdefault(b, {})[a] = None
    notes = {
        name: f"{schema.notes.get(name, f'{schema.columns[name].kind}s')}; {_note(list(of))}"
        for name, of in others.items()
        if name in schema.columns
    }
    return replace(schema, notes={**schema.notes, **notes})


def _by_slope(linear: LinearPart) -> list[Product]:
    """Return the products, those of the largest slopes first."""
    size = {product: max(map(abs, slopes)) for product, slopes in linear.products.items()}
    return sorted(size, key=lambda product: -size[product])


def _note(others: list[Name]) -> str:
    """Say with which columns a column is multiplied."""
    more = f" and {len(others) - MOST:,} more" if len(others) > MOST else ""
    return f"products with {', '.join(map(title, others[:MOST]))}{more}"
