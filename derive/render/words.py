"""Pages of plain text: wrapping, headings with a verdict, where an identity fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from derive.verdict import Identity, Number, Verdict


def wrap(line: str, width: int) -> list[str]:
    """Break a line at spaces, continuation lines indented below the first equals sign.

    >>> wrap("  Q = aaaa + bbbb", 12)
    ['  Q = aaaa +', '      bbbb']
    """
    if len(line) <= width:
        return [line]
    lead = len(line) - len(line.lstrip())
    equals = line.find(" = ")
    indent = equals + 3 if 0 < equals < width // 3 else lead + 2
    words, lines, current = line[lead:].split(" "), [], " " * lead
    for word in words:
        candidate = f"{current} {word}" if current.strip() else current + word
        if len(candidate) > width and current.strip():
            lines.append(current)
            current = " " * indent + word
        else:
            current = candidate
    return [*lines, current]


def page(sections: Iterable[Iterable[str]], width: int) -> str:
    """Return sections below one another, each a heading with indented lines; no empty ones."""
    found = ([("  " if i else "") + line for i, line in enumerate(lines)] for lines in sections)
    blocks = ("\n".join(part for line in lines for part in wrap(line, width)) for lines in found)
    return "\n\n".join(block for block in blocks if block)


def title(text: str, verdict: Verdict, width: int = 80) -> str:
    """Return a heading, with its verdict at the right margin."""
    return f"{text} ".ljust(width - len(verdict.value) - 1, ".") + f" {verdict.value}"


def failure_lines(identity: Identity) -> Iterator[str]:
    """Yield the lines that show where an identity fails."""
    yield f"needed: {identity.statement}"
    yield f"left  = {identity.left}"
    yield f"right = {identity.right}"
    along = "".join(f", differentiated along {name}," for name in identity.derivative)
    yield f"left - right{along} = {identity.residual} at {at(identity.point)}"


def at(point: Iterable[tuple[str, Number]]) -> str:
    """Return ``a = 1, b = 2`` for a point."""
    return ", ".join(f"{name} = {value}" for name, value in point)
