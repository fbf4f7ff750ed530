"""Pages of mathematics in LaTeX: what each record says, and how formulas are set and broken."""
