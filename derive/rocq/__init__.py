"""A derivation as a file that the proof assistant Rocq (Coq) accepts.

``Mirror.v`` is the library: the definitions of what is claimed, and what a model has to show.
Start at ``theorem.py``.
"""
