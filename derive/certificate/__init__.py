"""Certificates of verdicts: what writes them, and what checks them on its own."""
