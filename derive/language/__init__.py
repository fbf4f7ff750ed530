"""Text to exact expressions: the only door through which text enters."""
