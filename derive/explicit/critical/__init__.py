"""Critical points of |w - w_0|^2 on F(w) = beta, and which of them is the minimum."""
