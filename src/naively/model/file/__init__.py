"""The model file: a header and arrays with a checksum. No code is run when it is loaded."""
