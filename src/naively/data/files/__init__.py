"""Rows from files: CSV, Parquet, JSON lines and folders of texts, by DuckDB."""

from naively.data.files.reader import Columns, read, read_batches

__all__ = ["Columns", "read", "read_batches"]
