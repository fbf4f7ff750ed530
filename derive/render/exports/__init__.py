"""A derivation as text that other programs read: JAX, PyTorch, Mathematica, Lean."""
