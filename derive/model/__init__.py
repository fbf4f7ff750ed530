"""What the user gave: the parameterization beta = F(w), its names, its start, assumptions."""
