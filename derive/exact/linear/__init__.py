"""Linear algebra over function fields and modulo primes, and what is found by it."""
