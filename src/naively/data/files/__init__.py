"""Rows from files: CSV, Parquet, JSON lines and folders of texts, by DuckDB."""

from naively.data.files.reader import FileColumns, opened, read

__all__ = ["FileColumns", "opened", "read"]
