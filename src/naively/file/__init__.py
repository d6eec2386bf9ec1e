"""The file of a model: one format, typed and checked."""
