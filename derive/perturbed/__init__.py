"""Perturbed flows: what weight decay, momentum, steps and noise do to laws, duals and Q."""
