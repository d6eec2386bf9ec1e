"""A scorecard as an ONNX graph, which programs in many languages run without Python."""
