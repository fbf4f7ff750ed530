"""What is decided in the weights, exactly: laws, metric, Hessian map, warp, dual coordinates."""
