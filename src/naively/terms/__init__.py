"""Terms: what a model adds up, as tables that follow from a tally."""
