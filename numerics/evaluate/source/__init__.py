"""Q as the text of Python functions."""
