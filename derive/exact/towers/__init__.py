"""From what a user types to independent generators, and their expansions in series."""
