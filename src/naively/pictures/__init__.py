"""Pictures of numbers: arrays are drawn on Matplotlib's Axes; nothing here knows a model."""
