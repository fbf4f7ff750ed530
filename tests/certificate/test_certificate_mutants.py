"""What is changed at random in a record is refused, or named, or says no more than the record."""

import copy
import functools
import json
import random
from fractions import Fraction

import pytest

from derive.catalogue.library import derive_entry, entries
from derive.certificate.checking.check import Report, check, check_text
from tests.certificate.certificates import REFUSED, assert_refused, replaced
from tests.certificate.mutated import (
    accepted,
    conditions,
    equal,
    is_law,
    mutant,
    paths,
    says_no_more,
    unwrapped,
)
from tests.published import certified_once, record_once

OWN = {
    "neuron": (["a*u1", "a*u2"], {}),
    "sqrt(w)*sqrt(w)": (["sqrt(w)*sqrt(w)"], {}),
    "exp(log(w))": (["exp(log(w))"], {}),
    "1/w": (["1/w"], {}),
    "tanh": (["tanh(w)"], {}),
    "no Q": (["x**2*y", "y**3"], {}),
    "depth three": (["p**3 - m**3"], {}),
    "a sector": (["u**2 + v**2", "u*v"], {}),
}
MORE = {
    "a quotient": (["u/v"], {}),
    "roots": (["sqrt(a)", "1/b", "exp(c)"], {}),
    "a*b*u": (["a*b*u"], {"start": {"a": "alpha", "b": "alpha", "u": "0"}}),
    "a vector": (["a*u"], {"vectors": ["u"]}),
    "cosh": (["cosh(a)"], {"start": {"a": "1"}}),
    "equal weights": (["a*b + c*d"], {"start": dict(zip("abcd", "1212", strict=True))}),
    "powers": (["w**D*w**(1 - D)"], {}),
    "an algebraic function": (["w/sqrt(1 + w**2)"], {}),
    "logarithms": (["log(a) + log(b)"], {"start": {"a": "1", "b": "2"}}),
    "a root": (["w + w**3"], {}),
    "rates": (["w"], {"rates": {"w": "w**2"}}),
    "two rates": (["p - m"], {"rates": {"p": "p", "m": "m"}}),
    "a root of a rate": (["w"], {"rates": {"w": "sqrt(1 + w**2)"}}),
}


@functools.cache
def record(name):
    outputs, options = {**OWN, **MORE}[name]
    return certified_once(outputs, **options)


@functools.cache
def base(text):
    found = json.loads(text)
    return found, check(found)


def tried(texts, count, seed):
    """Return how many mutants were accepted, and of which the theorem is more than it was."""
    rng, passed, more = random.Random(seed), 0, []
    while count:
        found, report = base(rng.choice(texts))
        path, value = mutant(rng, found)
        changed = replaced(found, path, value)
        if json.dumps(changed) == json.dumps(found):
            continue
        count -= 1
        if (new := accepted(changed)) is not None:
            passed += 1
            old = functools.reduce(lambda part, key: part[key], path, found)
            new = unwrapped(new, old, value)
            named = path[:2] == ("parameterization", "beta")  # which says it in other names
            why = says_no_more(new, report, changed["parameterization"])
            # K or rho that is left out owes nothing: what it divides by is no condition any more.
            owed = value is None and path[0] == "metric" and why.startswith("without")
            # Each of the conditions refutes that fails there, which the checker computes itself.
            other = path[0] == "certificate" and path[2:3] == ("identity",) and ": needed is" in why
            if why and not (named or owed or other):
                more.append(f"{path}: {value!s:.100}: {why:.200}")
    return passed, more


def test_no_mutant_says_more():
    passed, more = tried([record(name) for name in OWN], 80, 1)
    assert more == []
    assert 2 < passed < 20  # what is weaker is accepted


@pytest.mark.slow
def test_no_mutant_of_thousands_says_more():
    texts = [record(name) for name in (*OWN, *MORE)]
    texts += [derive_entry(entry).to_json() for entry in entries()]
    passed, more = tried([text for text in texts if json.loads(text).get("certificate")], 5000, 2)
    assert more == []
    assert passed < 1000


FALSE = [
    (("conserved", "laws", 0), "a**2 + u1**2 - u2**2"),
    (("metric", "kernel_in_weights", 0, 1), "u1*u2 + 1"),
    (("potential", "pieces", 0, "gradient", 0), "beta1/sqrt(A) + u1_0"),
    (("potential", "pieces", 0, "assumptions"), []),
]


@pytest.mark.parametrize(("path", "value"), FALSE)
def test_a_checker_that_accepts_what_is_false_would_be_seen(path, value):
    """What is said then is more: the lines of the record are those of the theorem."""
    found, report = base(record("neuron"))
    old = functools.reduce(lambda part, key: part[key], path, found)
    changes = {old: value} if isinstance(old, str) else {}
    lines = [
        functools.reduce(lambda text, pair: text.replace(*pair), changes.items(), line)
        for line in report.theorem
        if changes or "keeps its sign" not in line
    ]
    given = found["parameterization"]
    assert says_no_more(report, report, given) == ""
    assert says_no_more(Report(report.verdict, lines, report.open), report, given)
    assert says_no_more(Report("REFUTED", report.theorem, report.open), report, given)
    assert says_no_more(Report("REFUTED", lines, ["Q"]), report, given) == ""


def test_formulas_are_compared_in_numbers():
    report = unwrapped(Report("PROVED", ["R = abs(a - b)"], []), "a - b", "abs(a - b)")
    assert report.theorem == ["R = (a - b)"]
    assert unwrapped(report, "a - b", "-(a - b)") == report
    assert equal("K = [a, 0; 0, b*b] in the weights", "K = [a, 0/2; 0, b**2] in the weights")
    assert equal("y1 = log(Abs(a)) + 1", "y1 = log(a)")
    assert equal("w*w/w = 0 where beta = 0", "w = 0 where beta = 0")
    linear = "Q(beta) = q(s) + ({})*<u_0, beta>"
    assert equal(linear.format("(-1)*(-1)/(-1)"), linear.format("-1"))
    assert not equal(linear.format("-2"), linear.format("-1"))
    assert conditions(["assumed: w > 0 along the flow"]) == {"w > 0", "w != 0"}
    assert not equal("w + 1 = 0 where beta = 0", "w = 0 where beta = 0")
    assert not equal("dQ/dbeta = beta + 1", "dQ/dbeta = beta")
    assert not equal("y1 = 2*log(a)", "y1 = log(a)")
    given = {"weights": ["a", "b"], "idle": [], "outputs": ["a*b"]}
    assert is_law("(a**2 - b**2)**2", given)
    assert not is_law("a**2 + b**2", given)
    assert not is_law("7", given)
    assert [path for path, _ in paths({"x": ["y"]})] == [(), ("x",), ("x", 0)]


MODELS = [
    (["a*b", "pi*a*b"], {}, []),
    (["a*b", "c*a*b"], {"parameters": ["c"]}, []),
    (["norm(u)**k*u"], {"vectors": ["u"]}, ["Q of s"]),
]


@pytest.mark.every(3)
@pytest.mark.parametrize(("outputs", "options", "left"), MODELS, ids=lambda x: str(x)[:30])
def test_a_drawn_model_has_a_certificate(outputs, options, left):
    record = record_once(outputs, **options)
    report = check_text(json.dumps(record))
    assert (report.verdict, [*report.open]) == (record["verdict"], left)
    record["metric"]["kernel_in_weights"][0][0] += " + 1"
    assert_refused(record)


COUNTS = [pytest.param(5, id="few"), pytest.param(100, id="many", marks=pytest.mark.slow)]


@functools.cache
def derived(outputs, start=()):
    return certified_once(list(outputs), dict(start))


def accepted_of(record):
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
            report = accepted_of(changed)
            lines = report.theorem if report else [f"{weight} != 0"]
            assert any(f"{weight} != 0" in x or f"{weight} keeps" in x for x in lines), made.text
        keeps = [f"{w} keeps its sign along the flow" for w in ("a", "u1")]
        record["potential"]["pieces"][0]["assumptions"] = ["a_0 > 0", "u1_0 > 0", *keeps]
        honest += accepted_of(record) is not None
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
        report = accepted_of(record)
        if not record["certificate"] or report is None or report.open or not where["walls"]:
            continue
        honest += 1
        (wall,) = where["walls"]
        for form in (None, f"{wall['form']} + 1", f"{wall['form']} + {rng.randint(2, 9)}/7"):
            walls = [{**wall, "form": form, "vanishing": None}] if form else []
            for undecided in ([], ["smooth"]):
                where |= {"walls": walls, "undecided": undecided}
                new = accepted_of(record)
                assert new is None or new.open or undecided, record["parameterization"]["outputs"]
    assert honest > count / 3
