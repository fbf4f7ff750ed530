"""Arithmetic with error bounds, and the precision that rises with them."""
