"""The report: one page that says what a model has learned and how far it can be believed."""
