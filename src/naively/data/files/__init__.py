"""Rows from files: CSV, Parquet, JSON lines and folders of texts, by DuckDB."""

from naively.data.files.reader import FileColumns, opened, read
from naively.options import FileOptions

__all__ = ["FileColumns", "FileOptions", "opened", "read"]
