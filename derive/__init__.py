"""Derive implicit regularizers of gradient flow, with proofs."""
