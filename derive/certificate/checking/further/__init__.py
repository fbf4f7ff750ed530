"""What may be read after the checker of derivations: limits, and explicit costs."""
