"""The atlas: small parameterizations one by one, each decided, kept in a file, and found again."""
