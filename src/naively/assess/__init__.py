"""What judges: scores, folds, curves, dependence, the worth of columns."""
