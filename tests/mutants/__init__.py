"""Faults planted in a copy of the code, one by one, to see that the tests notice."""
