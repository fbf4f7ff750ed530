"""Inverse design: from a mirror potential Q to a parameterization whose flow minimises it."""
