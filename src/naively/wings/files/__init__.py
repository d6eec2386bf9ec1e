"""Rows from files: CSV, JSON, Parquet, workbooks, ARFF, SQLite, and folders of texts."""

from naively.options import FileOptions
from naively.wings.files.reader import FileColumns, opened, read

__all__ = ["FileColumns", "FileOptions", "opened", "read"]
