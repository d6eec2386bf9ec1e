"""Rows in: frames, arrays and files; nothing here knows of probability."""
