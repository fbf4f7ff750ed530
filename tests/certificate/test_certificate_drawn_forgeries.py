"""Forgeries that are drawn: divisors that the flow meets, domains too large.

Each is true but for what is left out: a sign that the flow does not keep, a wall, an exact number.
"""

import copy
import functools
import json
import random
from fractions import Fraction

import pytest

from derive.certificate.checking.check import check
from tests.certificate.certificates import REFUSED
from tests.published import certified_once

COUNTS = [pytest.param(5, id="few"), pytest.param(100, id="many", marks=pytest.mark.slow)]


@functools.cache
def derived(outputs, start=()):
    return certified_once(list(outputs), dict(start))


def accepted(record):
    try:
        return check(record)
    except REFUSED:
        return None


class Written:
    """Another text of a weight where it is positive, with the calls in it as they are there."""

    def __init__(self, rng, weight, other):
        self.rng, self.weight, self.other = rng, weight, other
        self.definitions = []
        self.text = weight
        for _ in range(rng.randint(1, 3)):
            self.text = rng.choice([self.root, self.quotient, self.absolute, self.logarithm])()

    def _call(self, text, image):
        """Define a call of the weight and of its start."""
        for w, other in ((self.weight, self.other), (f"{self.weight}_0", f"{self.other}_0")):
            of, known = (t.replace("#", w).replace("@", other) for t in (text, image))
            entry = {"of": of, "is": known}
            self.definitions += [entry] if entry not in self.definitions else []
        return text.replace("#", self.weight).replace("@", self.other)

    def root(self):
        n, k = self.rng.choice([2, 4, 6]), self.rng.randint(1, 3)
        call = self._call(f"(#**{n * k})**(1/{n})", f"#**{k}")
        below = f"({self.weight})**{k}"
        return self.rng.choice([f"({self.text})*{call}/{below}", f"({self.text})*{below}/{call}"])

    def quotient(self):
        w, k = self.weight, self.rng.randint(1, 4)
        inner = self.rng.choice([w, f"{w}*(1 + {self.other}**2)", f"({w} + {w}**3)"])
        return f"({self.text})*({inner})**{k}/({inner})**{k}"

    def absolute(self):
        w, k = self.weight, self.rng.choice([1, 3, 5])
        return f"({self.text})*abs({w}**{k})/{w}**{k}"

    def logarithm(self):
        names = {w: f"l{w}" for w in (self.weight, f"{self.weight}_0")}
        for w, name in names.items():
            entry = {"name": name, "of": f"log(Abs({w}))"}
            self.definitions += [entry] if entry not in self.definitions else []
        k = self.rng.randint(1, 3)
        for w in names:
            part = [[f"log(Abs({w}))", str(k)]]
            entry = {"of": f"exp({k}*log({w}))", "is": f"{w}**{k}", "from": part}
            self.definitions += [entry] if entry not in self.definitions else []
        return f"({self.text})*exp({k}*log({self.weight}))/{self.weight}**{k}"


@pytest.mark.parametrize("count", COUNTS)
def test_no_divisor_is_taken_for_granted(count):
    """The flow of a u crosses a = 0, and u_1 = 0 where that is other than 0 at the start."""
    rng, honest = random.Random(5), 0
    for _ in range(count):
        record = json.loads(derived(("a*u1", "a*u2")))
        weight = rng.choice(["a", "u1"])
        made = Written(rng, weight, "u1" if weight == "a" else "u2")
        parts = [made.text if w == weight else w for w in ("a", "u1")]
        record["parameterization"]["outputs"] = [f"({parts[0]})*({parts[1]})", f"({parts[0]})*u2"]
        record["certificate"]["definitions"] = made.definitions
        for assumed in ([], ["a_0 > 0"], [f"{weight}_0 > 0", "a_0 > 0"]):
            changed = copy.deepcopy(record)
            changed["potential"]["pieces"][0]["assumptions"] = assumed
            report = accepted(changed)
            lines = report.theorem if report else [f"{weight} != 0"]
            assert any(f"{weight} != 0" in x or f"{weight} keeps" in x for x in lines), made.text
        keeps = [f"{w} keeps its sign along the flow" for w in ("a", "u1")]
        record["potential"]["pieces"][0]["assumptions"] = ["a_0 > 0", "u1_0 > 0", *keeps]
        honest += accepted(record) is not None
    assert honest > count / 2  # of these it is the condition alone that is missing


def of_one_weight(rng):
    """Return a function that ends at w = 0 though its K does not: w^n in parts."""
    total, parts = Fraction(rng.choice([1, 1, 2, 3])), []
    for _ in range(rng.randint(1, 2)):
        e = Fraction(rng.randint(1, 5), rng.choice([2, 3, 4]))
        kind = rng.random()
        parts.append(f"exp({e}*log(w))" if kind < 0.4 else f"w**({e})")
        total -= e
    return "*".join([*parts, f"w**({total})"]) + rng.choice(["", " + 1", " - 2"])


@pytest.mark.parametrize("count", COUNTS)
def test_no_domain_goes_on_where_f_ends(count):
    rng, honest = random.Random(7), 0
    for _ in range(count):
        record = json.loads(derived((of_one_weight(rng),)))
        where = record["potential"]["pieces"][0]["domain"]
        report = accepted(record)
        if not record["certificate"] or report is None or report.open or not where["walls"]:
            continue
        honest += 1
        (wall,) = where["walls"]
        for form in (None, f"{wall['form']} + 1", f"{wall['form']} + {rng.randint(2, 9)}/7"):
            walls = [{**wall, "form": form, "vanishing": None}] if form else []
            for undecided in ([], ["smooth"]):
                where |= {"walls": walls, "undecided": undecided}
                new = accepted(record)
                assert new is None or new.open or undecided, record["parameterization"]["outputs"]
    assert honest > count / 3
