"""Arithmetic with error bounds, and the tiers of precision that it drives."""
