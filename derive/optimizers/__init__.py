"""Optimizers on linear models: what their iterates span, and what their limits minimise."""
