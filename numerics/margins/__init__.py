"""Predictors of largest margin on separable data, exact, with certificates."""
