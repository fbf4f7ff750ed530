"""Function fields: quotients of polynomials in the weights and in generators, in lowest terms."""
