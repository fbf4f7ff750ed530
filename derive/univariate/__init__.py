"""Univariate shallow nets trained by mirror flow: from what is typed to the variational problem."""
