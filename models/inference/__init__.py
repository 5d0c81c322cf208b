"""Inference: trained networks run by compiled code, by PyTorch and by ONNX Runtime."""
