"""Makes the modules of this directory importable from the tests below it."""
