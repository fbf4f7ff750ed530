"""Numbers: evaluate, flow, compare."""
