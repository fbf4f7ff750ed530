"""A derivation as a module of others: JAX, PyTorch."""
