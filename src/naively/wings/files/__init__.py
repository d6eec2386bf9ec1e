"""Rows from files: CSV, Parquet, JSON lines and folders of texts, by DuckDB."""

from naively.options import FileOptions
from naively.wings.files.reader import FileColumns, opened, read

__all__ = ["FileColumns", "FileOptions", "opened", "read"]
