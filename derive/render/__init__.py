"""Text, LaTeX and JSON of a finished derivation; nothing here decides or computes."""
