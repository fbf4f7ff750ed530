"""Q on balls of python-flint."""
