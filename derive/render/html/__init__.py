"""Pages of mathematics in a browser: what is printed as LaTeX, as HTML with MathML."""
