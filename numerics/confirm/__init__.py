"""Cross-checks of what was derived, by numbers that know nothing of it."""
