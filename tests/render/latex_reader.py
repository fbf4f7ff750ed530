"""A reader of the LaTeX that pages are written in, which shares nothing with what writes it."""

import re

import mpmath

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+|[A-Za-z]|[{}()\[\]^_+\-/,|=&']|\S")
SPACE = (r"\,", r"\;", r"\ ", r"\quad", r"\qquad", r"\left", r"\right", r"\bigl", r"\bigr")
FUNCTIONS = {
    "log": mpmath.log, "exp": mpmath.exp, "arsinh": mpmath.asinh, "arctan": mpmath.atan,
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "sinh": mpmath.sinh,
    "cosh": mpmath.cosh, "tanh": mpmath.tanh, "erfi": mpmath.erfi,
}  # fmt: skip
ENDS = ("}", ")", "]", ",", "=", "&", r"\rvert", r"\rVert", r"\rangle", None)


class Reader:
    """Recursive descent: sums of products of powers."""

    def __init__(self, text, values):
        drop = {*SPACE, r"\Bigl", r"\Bigr"}
        self.tokens = [t for t in TOKEN.findall(text) if t not in drop]
        self.at, self.values = 0, values

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, wanted=None):
        token = self.peek()
        assert wanted is None or token == wanted, (token, wanted, "".join(self.tokens))
        self.at += 1
        return token

    def total(self):
        result = mpmath.mpf(0)
        sign = 1
        while True:
            while self.peek() in ("+", "-"):
                sign = -sign if self.take() == "-" else sign
            result += sign * self.product()
            if self.peek() not in ("+", "-"):
                return result
            sign = 1

    def product(self):
        result = mpmath.mpf(1)
        while self.peek() not in ("+", "-", *ENDS):
            if self.peek() == "/":
                self.take()
                result /= self.power()
            elif self.peek() == r"\cdot":
                self.take()
            else:
                result *= self.power()
        return result

    def power(self):
        base = self.atom()
        if self.peek() == "^":
            self.take()
            return mpmath.power(base, self.group())
        return base

    def group(self):
        if self.peek() != "{":
            return self.atom()
        self.take("{")
        inside = self.total()
        self.take("}")
        return inside

    def atom(self):
        token = self.take()
        if token.isdigit():
            return mpmath.mpf(token)
        if token in ("(", "["):
            inside = self.total()
            self.take(")" if token == "(" else "]")
            return inside
        if token in (r"\frac", r"\tfrac"):
            above = self.group()
            return above / self.group()
        if token == r"\sqrt":
            index = 2
            if self.peek() == "[":
                self.take()
                index = self.total()
                self.take("]")
            return mpmath.root(self.group(), int(index))
        if token == r"\int":
            return self.integral()
        if token == r"\pi":
            return mpmath.mpf(mpmath.pi)
        if token == r"\lvert":
            inside = abs(self.total())
            self.take(r"\rvert")
            return inside
        if token == "e" and self.peek() == "^" and "e" not in self.values:
            self.take()
            return mpmath.exp(self.group())
        if token == r"\operatorname" or (token[0] == "\\" and token[1:] in FUNCTIONS):
            return self.call(token)
        return self.name(token)

    def integral(self):
        self.take("_")
        low = self.group()
        self.take("^")
        high, begin = self.group(), self.at
        while self.tokens[self.at : self.at + 4] != [r"\mathrm", "{", "d", "}"]:
            self.at += 1
        integrand, name = " ".join(self.tokens[begin : self.at]), self.tokens[self.at + 4]
        self.at += 5
        return mpmath.quad(lambda x: evaluate(integrand, {**self.values, name: x}), [low, high])

    def call(self, token):
        name = token[1:]
        if token == r"\operatorname":
            self.take("{")
            name = ""
            while self.peek() != "}":
                name += self.take()
            self.take("}")
        exponent = 1
        if self.peek() == "^":
            self.take()
            exponent = self.group()
        return FUNCTIONS[name](self.atom()) ** exponent

    def name(self, token):
        if token in (r"\lVert", r"\langle"):
            end = {r"\lVert": r"\rVert", r"\langle": r"\rangle"}[token]
            while not token.endswith(end):
                token += self.take()
        if token == r"\mathrm":
            token += self.word()
        if self.peek() == "_":
            token += self.take() + (self.word() if self.peek() == "{" else self.take())
        return mpmath.mpf(self.values[token])

    def word(self):
        depth, word = 0, ""
        while True:
            word += self.take()
            depth += {"{": 1, "}": -1}.get(word[-1], 0)
            if depth == 0:
                return word


def evaluate(text, values):
    """Return the number that LaTeX stands for, with numbers for its names."""
    reader = Reader(text, {"".join(name.split()): x for name, x in values.items()})
    result = reader.total()
    assert reader.peek() is None, reader.tokens[reader.at :]
    return result


def equations(page):
    """Return the displayed equations of a page as pairs of sides, broken lines joined."""
    blocks = re.findall(r"\\\[(.*?)\\\]|\\begin\{(align\*|equation)\}(.*?)\\end\{\2\}", page, re.S)
    found = []
    for short, _, long in blocks:
        whole = re.sub(r"\\label\{[^}]*\}|\\(begin|end)\{split\}", "", short or long)
        rows = re.split(r"\\\\\s|, \\qquad", re.sub(r"\\\\\s*&\\quad", " ", whole))
        sides = [re.split(r"&?=", row, maxsplit=1) for row in rows]
        found += [
            tuple(re.sub(r"&| [.,]\s*$", "", x).strip() for x in s) for s in sides if len(s) == 2
        ]
    return found
