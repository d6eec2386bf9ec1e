"""Rows from files: CSV, JSON, Parquet, workbooks, ARFF, SQLite, and folders of texts."""

from naively.data.files.reader import FileColumns, opened, read
from naively.options import FileOptions

__all__ = ["FileColumns", "FileOptions", "opened", "read"]
