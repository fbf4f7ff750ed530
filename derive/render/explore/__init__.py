"""A derivation as a page to be explored: sliders, a picture that moves, and the theorem."""
