"""Minimise Q(beta) subject to X beta = y."""
