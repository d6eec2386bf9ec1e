"""The schema: which columns go to which event model; the only meeting of data and events."""
