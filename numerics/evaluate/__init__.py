"""Q, its gradient, inverse mirror map and Bregman divergence as accurate functions."""
