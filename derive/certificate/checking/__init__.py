"""What the checker of certificates computes with; only Python and python-flint are used."""
