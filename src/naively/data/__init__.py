"""Rows in: frames, files, encodings; nothing here knows of probability."""
