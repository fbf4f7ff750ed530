"""Limits of Q as the scale or the shape of the start tends to 0 or to infinity."""
