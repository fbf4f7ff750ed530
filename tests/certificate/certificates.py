"""Certificates written by hand, and every small change of a certificate, for the tests."""

import copy
import re


def certificate(outputs, claims, verdict, **entries):
    """Return a certificate whose weights start at symbols unless told."""
    weights = entries.pop("weights")
    return {
        "format": "regderive-certificate",
        "version": 2,
        "outputs": outputs,
        "weights": weights,
        "parameters": [],
        "definitions": [],
        "start": {w: f"{w}_0" for w in weights},
        "at": {f"{w}_0": str(n) for n, w in enumerate(weights, 2)},
        "ties": [],
        "verdict": verdict,
        "claims": claims,
        **entries,
    }


def entries(value, path=()):
    """Yield (path, text) for every string in a record."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from entries(inner, (*path, key))
    elif isinstance(value, list):
        for key, inner in enumerate(value):
            yield from entries(inner, (*path, key))


def replaced(record, path, value):
    """Return a copy with one entry replaced."""
    changed = copy.deepcopy(record)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return changed


def variants(text, names):
    """Yield texts that differ from *text* by one number, sign or name."""
    for found in re.finditer(r"(?<![A-Za-z0-9_])\d+|[+-]|[A-Za-z]\w*", text):
        old, (a, b) = found.group(), found.span()
        if old.isdigit():
            news = [str(int(old) + 1)]
        elif old in "+-":
            news = ["-" if old == "+" else "+"]
        else:
            news = [n for n in names if n != old][:2] if old in names else []
        for new in news:
            yield text[:a] + new + text[b:]
    if not text.startswith("-"):
        yield f"-({text})"
