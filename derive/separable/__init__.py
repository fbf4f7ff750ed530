"""Separable data: what the flow solves at finite time, and where its direction tends."""
