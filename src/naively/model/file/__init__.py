"""The model file: a header and arrays with a checksum; loading it runs no code."""
