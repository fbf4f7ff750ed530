"""Published experiments on implicit regularization, predicted by Q and trained by flow."""
