"""Accuracy, log loss, calibration and AUC, side by side with what people would use instead."""
