"""Vectors of open dimension: from outputs such as a u to scalars, and back to Q(|beta|)."""
