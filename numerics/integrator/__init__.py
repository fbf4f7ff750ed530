"""Gradient flow in the weights, to any number of digits."""
