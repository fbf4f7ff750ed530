"""The stages of a derivation, in order; each takes records and returns one frozen record."""
