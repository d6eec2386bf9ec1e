"""From where tables are to the kernels: naively beside the bare sources of the same rows."""
