"""Representation costs by Lagrange duality, in closed form where there is one."""
