"""Looking at a model: why, what a column is, what speaks most."""
