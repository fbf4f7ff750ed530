"""Exact arithmetic that every verdict rests on: function fields, relations, certified roots."""
