"""Displays of what was derived, and a gallery of figures, each a script that makes such."""
