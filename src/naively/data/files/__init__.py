"""Rows from files: CSV, Parquet, JSON lines and folders of texts, by DuckDB."""

from naively.data.files.reader import FileColumns, read, read_batches

__all__ = ["FileColumns", "read", "read_batches"]
