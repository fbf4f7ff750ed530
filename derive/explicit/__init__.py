"""What explicit l2 regularization of the weights would give: R_alpha(beta) and R_F(beta)."""
