"""Frames of Spark: counted and predicted where their partitions are (extra ``naively[spark]``)."""
