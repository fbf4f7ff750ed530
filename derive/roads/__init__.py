"""Other roads to the same Q, walked to their end and compared with the main one.

The main road solves for dual coordinates in weight space (:mod:`derive.weights.dual`). The
published one (Azulay et al. 2021, eq. (10)-(12)) writes down the form of Q(beta) and solves
Hess Q = g rho for its unknown functions. Neither needs a result of the other.
"""
