"""Pages of mathematics: what is on them is what was derived, and hostile names are letters."""

import random
import re

import mpmath
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from derive import InputError, Verdict, margins
from derive.certificate.checking.check import check_text
from derive.potential.piece import trimmed
from derive.render.arranged import gathered, one_power, tidy
from derive.render.document import Display, Document, Part, document
from derive.render.page.blocks import norms_as_latex, with_tildes
from derive.render.page.formula import sentence, typeset
from derive.render.page.latex import lines_of
from derive.render.page.lines import COLUMN, broken, by_powers, display, vanishing, width
from derive.render.page.printer import as_latex, latex, latex_name
from derive.render.sections import flatten, norms_of
from derive.render.text import MARK, formula_text, unmark
from derive.statement import Clause, Equations, OnTerminal
from tests.published import GIVEN_SIZE, derive_once
from tests.render.latex_reader import equations, evaluate

PROVED = [e.id for e in GIVEN_SIZE if e.verdict == "PROVED"]


def expressions(d):
    """Yield what the page has equations of, with the record's own expressions."""
    for name, piece in zip("QRST", d.potential.pieces, strict=False):
        piece = trimmed(piece)
        one = len(d.potential.pieces) == 1
        left = "Q" if one else f"Q_{{{'QRST'.index(name) + 1}}}"
        beta = as_latex(piece.betas[0].name) if len(piece.betas) == 1 else r"\beta"
        if d.direction is not None or one:
            beta = beta if d.direction is None and not one else r"\beta"
        yield f"{left}({beta})", piece.value + d.potential.linear
        yield from ((as_latex(s.name), value) for s, value in piece.constants)
        yield from ((as_latex(r.symbol.name), r.explicit) for r in piece.roots if r.explicit)
        if piece.time_curve is not None:
            yield beta, piece.curve.beta


def differing(page, d):
    """Return the left sides at which a page differs from the record, and those not compared."""
    wanted, wrong = dict(expressions(d)), []
    rng = random.Random(repr(d))
    found = set().union(*(e.free_symbols for e in wanted.values()))
    symbols = sorted(found, key=str)
    drawn = sorted(symbols, key=str)
    values = {s: sympy.Rational(rng.randint(2, 90), rng.randint(80, 99)) for s in drawn}
    values |= {s: sympy.Integer(5) for s in symbols if s.name == "D"}
    letters = {
        norms_as_latex("\ue000" + as_latex(s.name), norms_of(d.direction)): x
        for s, x in values.items()
    }
    letters = {letter.replace("\ue000", ""): float(x) for letter, x in letters.items()}
    for left, right in page:
        if left in wanted:
            given = complex(wanted.pop(left).subs(values).evalf(30))
            if not mpmath.almosteq(evaluate(right, letters), given, 1e-9):
                wrong.append(left)
    return wrong, wanted


@pytest.mark.every(24)
@pytest.mark.parametrize("name", PROVED)
def test_formulas_on_the_page_are_those_of_the_record(name, derived):
    d = derived(name)
    page = equations(d.to_latex(part="formula"))
    wrong, left = differing(page, d)
    assert not wrong
    assert not left
    other = [(left, rf"\frac{{1001}}{{1000}} ({right}) + 10^{{-3}}") for left, right in page]
    wrong, _ = differing(other, d)
    assert wrong


@pytest.mark.parametrize(
    ("outputs", "start", "cleared"),
    [
        (["u*v", "v*w", "u*w"], {"u": "1", "v": "-1", "w": "0"}, False),
        (["u*v", "v*w", "u*w"], {"u": "0", "v": "0", "w": "1"}, True),
        (["u*v", "u + v**2"], {"u": "0", "v": "0"}, True),
    ],
)
def test_a_refutation_that_is_seen_in_derivatives_shows_those(outputs, start, cleared):
    """At the start itself both sides are alike, or have a pole, of which they are cleared."""
    d = derive_once(outputs, start)
    (failure,) = (e for e in d.warping.finding.evidence if not e.holds)
    proof = d.to_latex(part="proof")
    assert failure.derivative
    assert ("Both sides are multiplied by" in proof) == cleared
    (sides,) = re.findall(r"which are \$(.*?)\$ and \$(.*?)\$ at", proof)
    assert int(sides[0]) - int(sides[1]) == failure.residual != 0


def test_names_are_written_as_one_likes():
    d = derive_once("p**2 - m**2", start={"p": "alpha", "m": "alpha"})
    page = d.to_latex(rename={"alpha": r"\sigma", "p": "w_+", "m": "w_-", "Q": r"\Psi"})
    assert r"w_+^{2} - w_-^{2}" in page or r"w_+^{2}" in page
    assert r"\Psi(\beta) =" in page
    assert r"\alpha" not in page


def test_words_stand_apart_and_a_long_list_of_weights_ends_after_a_name():
    page = derive_once("long_name_one*another_long_name + third_weight**2").to_latex()
    first = r"\mathrm{long}_{\mathrm{name},\mathrm{one}}"
    assert rf"({first}, \dots) \in \mathbb{{R}}^{{3}}" in page
    ten = " + ".join(f"W{i}1*W{i}2" for i in range(1, 6))
    assert r"(W_{11}, \dots) \in \mathbb{R}^{10}" in derive_once(ten).to_latex()
    product = latex(sympy.Symbol("lam") ** 2 * sympy.Symbol("lam2") * sympy.Symbol("u"))
    assert product.replace(MARK, "") == r"\mathrm{lam}^{2} \, \mathrm{lam}_{2} \, u"


HOSTILE = [
    r"\input{/etc/passwd}", r"\write18{ls}", "$x$", "}", r"\sigma}", "<script>", "%", "a" * 200,
    r"\catcode", r"x_{\input}", "^^5cinput", r"\csname", "", "x y", r"\hat{\input}",
]  # fmt: skip


@pytest.mark.parametrize(
    ("rename", "why"),
    [
        *(({"w": text}, "no letter with an index") for text in HOSTILE),
        ({"alpha": "x"}, "no alpha on this page"),
        ({"w": r"\beta"}, "on this page already"),
    ],
    ids=repr,
)
def test_no_command_gets_in_by_a_name_and_no_letter_twice(rename, why):
    with pytest.raises(InputError, match=why):
        derive_once("w**2").to_latex(rename=rename)


@pytest.mark.parametrize("name", ["input", "begin", "x" * 40, "script", "def_end", "w__0x"])
def test_names_that_are_commands_are_words(name):
    page = derive_once(f"{name}**2").to_latex(standalone=True)
    assert rf"\{name}" not in page.replace(r"\begin{", "")


def test_what_is_not_there_is_refused(derived):
    with pytest.raises(InputError, match="choose one of theorem, proof, formula"):
        derive_once("w**2").to_latex(part="lemma")
    refuted = derived("symmetric-factorization")
    assert refuted.verdict is Verdict.REFUTED
    with pytest.raises(InputError, match="has no formula"):
        refuted.to_latex(part="formula")


def test_long_formulas_are_broken_and_stay_the_same():
    a, b, c = sympy.symbols("a b c", positive=True)
    long = sympy.log(sum((a + k * b) ** k / (k + c) for k in range(1, 9))) * sympy.sqrt(
        sum(c**k * a for k in range(2, 12))
    )
    lines = broken(latex(long), 200)
    assert len(lines) > 3
    assert max(map(width, lines)) < 230
    values = {"a": 0.3, "b": 0.7, "c": 1.1}
    exact = long.subs({a: 0.3, b: 0.7, c: 1.1})
    assert mpmath.almosteq(
        evaluate(" ".join(lines).replace("\ue000", ""), values), mpmath.mpf(str(exact)), 1e-9
    )
    assert mpmath.almosteq(evaluate(latex(long).replace("\ue000", ""), values), exact, 1e-9)


@pytest.mark.parametrize(
    ("outputs", "start", "slope"),
    [
        (["exp(a**2) + c", "exp(a**2) - 2*c"], {}, "dQ/dx1 = Ei(log(3) - log(x1))/12"),
        (
            ["exp(a**2 + b**2) + exp(c)", "exp(a**2 + b**2)"],
            {"a": "alpha", "b": "1", "c": "1"},  # b = a/alpha, with a symbol of the start
            "dQ/dx2 = Ei(-log(x2))/4",
        ),
    ],
)
def test_sums_with_integrals_that_have_names_are_told_and_certified(outputs, start, slope):
    d = derive_once(outputs, start=start)
    assert slope in d.to_text()
    assert d.to_latex()
    assert check_text(d.to_json()).verdict == "PROVED"


def test_a_modulus_is_broken_behind_its_bar():
    a, b, c, d = names = sympy.symbols("u0_0 u1_0 v0_0 v1_0", real=True)
    inverse = 1 / (sympy.Abs(sum(names)) * sympy.Abs(a - b - c - d))
    lines = broken(latex(inverse).replace(MARK, ""), 90)
    assert lines[0].startswith(r"\Bigl(\Bigl\lvert u_{1,0} - u_{0,0}")
    values = dict(
        zip(("u_{0,0}", "u_{1,0}", "v_{0,0}", "v_{1,0}"), (0.3, 0.7, 1.1, 1.9), strict=True)
    )
    exact = inverse.subs(dict(zip(names, values.values(), strict=True)))
    assert mpmath.almosteq(evaluate(" ".join(lines), values), mpmath.mpf(str(exact)), 1e-9)


def test_a_matrix_is_not_broken():
    rows = r" \\\\ ".join(
        " & ".join([f"- {k}.7204214417830594252" for k in range(3)]) for _ in "abc"
    )
    matrix = rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}"
    assert broken(f"{matrix} - {matrix} x") == [matrix, f"- {matrix} x"]
    wide = ["exp(d)*(1 + c**2)*(d - 2*a)", "tanh(d)*(c + a)"]
    assert r"<mtable" in derive_once(wide, start={"d": "1", "c": "1/2", "a": "1"}).to_html()


def test_a_theorem_alone_says_what_its_letters_are():
    vector = derive_once("g**2*u", vectors=["u"])
    assert r"Write $s = \lvert \beta\rvert$." in vector.to_latex(part="theorem")
    tempered = derive_once("u**(2/(2-tau))", positive=["u"])
    assert r"u_{0}^{2 (\tau - 1)/(\tau - 2)}" in tempered.to_latex(part="theorem")
    u, x, a, b = sympy.Symbol("u", positive=True), *sympy.symbols("x a b")
    assert one_power((u ** (1 / a)) ** b) == u ** (b / a)
    assert one_power((x ** (1 / a)) ** b) == (x ** (1 / a)) ** b


def test_an_equation_of_a_root_is_on_one_line_or_on_lines_that_fit():
    a, b, c = sympy.symbols("a b c")
    (short,) = vanishing(a**2 - b)
    assert short.rows[0].replace("\ue000", "") == "a^{2} - b = 0"
    assert next(lines_of(Display(("a", "b")))) == r"\begin{align*}"
    long = sum((k + 2) * a**k * b ** (9 - k) * c for k in range(9))
    (whole,) = vanishing(long)
    rows = whole.rows
    assert rows[1:]
    assert rows[0].startswith("0 &= ")
    assert max(map(width, rows)) < COLUMN + 20
    whole = " ".join(rows).removeprefix("0 &=").replace(r"&\quad", "").replace("\ue000", "")
    at = {"a": 0.3, "b": 0.7, "c": 1.1}
    assert mpmath.almosteq(evaluate(whole, at), mpmath.mpf(str(long.subs(at))), 1e-9)


def test_words_in_formulas_and_long_left_sides_fit_a_column():
    goal = typeset("argmin Q(beta) subject to <x_i, beta> >= <x_i, beta(t)> for all i")
    assert width(goal) > COLUMN
    ((*rows,),) = (shown.rows for shown in display([(r"\beta", goal)]))
    assert max(map(width, rows)) < COLUMN
    assert " ".join(rows).replace(r"&\quad ", "") == rf"\beta &= {goal}"
    left, right = "a + b + c + d + e + f + g", "h + i + j + k + l + o + p"
    apart = [Display((f"{left} = 0",)), Display((f"x = {right}",))]
    assert [*display([(left, "0"), ("x", right)])] == apart
    assert len(next(display([(left, "0"), ("x", "h + i + j + k")])).rows) == 2


def test_powers_with_open_exponents_are_gathered_and_others_left():
    m, x, n = sympy.symbols("m x n")
    split = m * x ** (2 * n / (n**2 + n)) + x ** (n + 1 / (n + 1)) * x ** (1 / (n + 1) - n)
    assert gathered(split) == (m + 1) * x ** (2 / (n + 1))
    assert gathered((x**2) ** n).subs({x: -1, n: sympy.S.Half}) == 1  # not x**(2 n)
    left = sympy.log(x + 1) - sympy.log(x) ** 2
    assert tidy(left) is left


@st.composite
def formulas(draw, depth=3):
    """Return a sum, product, power, root or call in two names of any sign and one positive one."""
    x, y, k = (
        sympy.Symbol("x", real=True),
        sympy.Symbol("y", real=True),
        sympy.Symbol("k", positive=True),
    )
    if depth == 0:
        return draw(st.sampled_from([x, y, k, sympy.Integer(2), sympy.Rational(-1, 3)]))
    first, second = draw(formulas(depth - 1)), draw(formulas(depth - 1))
    kind = draw(st.sampled_from(["+", "-", "*", "/", "**", "sqrt", "asinh", "open"]))
    return {
        "+": lambda: first + second,
        "-": lambda: first - 2 * second,
        "*": lambda: first * second,
        "/": lambda: first / (second**2 + 1),
        "**": lambda: first**2,
        "sqrt": lambda: sympy.sqrt(first**2 + k),
        "asinh": lambda: sympy.asinh(first) + second,
        "open": lambda: first * k ** (1 / (x + 5)) + second * k**y,
    }[kind]()


@settings(max_examples=15, deadline=None)
@given(formulas())
def test_what_is_printed_is_what_was_derived(formula):
    at = {"x": sympy.Rational(-7, 5), "y": sympy.Rational(11, 13), "k": sympy.Rational(3, 7)}
    values = [
        e.subs({s: at[s.name] for s in e.free_symbols}).evalf(30) for e in (formula, tidy(formula))
    ]
    assert abs(values[0] - values[1]) < 1e-20 * (1 + abs(values[0]))


def test_polynomials_go_down_in_powers_and_products_have_constants_in_front():
    A, delta, x, y = sympy.symbols("A delta x y")
    polynomial = sympy.Poly(A**3 - (x + y) * A**2 - delta * A + 2, A)
    assert by_powers(polynomial).replace("\ue000", "") == ("A^{3} - (x + y) A^{2} - \\delta A + 2")
    kernel = 3 * A**2 - 2 * A * x - 2 * A * y + x * y
    assert latex(kernel).replace("\ue000", "") == "3 A^{2} - 2 (x + y) A + x y"
    assert latex(kernel + 1).replace("\ue000", "") != latex(kernel).replace("\ue000", "")


def test_formulas_in_words_are_set_and_keep_their_brackets():
    assert sentence("beta(inf) = alpha^2 (e^(-X^T s) - 1), as said") == (
        r"$\beta(\infty) = \alpha^{2} (e^{-X^{\mathsf T} s} - 1)$, as said"
    )
    assert sentence("scale: printed = 1/4 * derived") == (
        r"scale: printed $= \tfrac{1}{4}$ derived"
    )
    assert sentence("2*(u1_0**2 + up_0)") == r"$2 (u_{1,0}^{2} + \mathrm{up}_{0})$"
    assert "$$" not in sentence("a * b")


def test_sources_that_are_named_are_cited():
    found = margins(derive_once("p**2 - m**2"))
    page = found.to_latex(standalone=True)
    for key in ("lyu2020", "ji2020", "pesme2024"):
        assert re.search(rf"\\cite\{{[^}}]*\b{key}\b[^}}]*\}}", page)
        assert rf"\bibitem{{{key}}}" in page
    assert "Lyu, Li 2020" in found.to_text()


@pytest.mark.parametrize("taken", [set(), {"lam"}, {"lam", "lam_"}])
def test_our_lam_is_an_epsilon_whatever_is_taken(taken):
    ours = "lam" + "_" * len(taken)
    assert _lettered(latex_name(ours), taken).strip() == r"\varepsilon"
    assert r"\varepsilon" not in _lettered(latex_name("lam"), {"lam"})


def _lettered(formula, taken):
    """Return a formula as it is on a page of these names."""
    page = Document((Part("", (f"${formula}$",)),), frozenset(taken))
    return with_tildes(page).formulas[-1]


@pytest.mark.parametrize(
    ("outputs", "K", "ground"),
    [
        ("tanh(u*v)", "(beta**2 - 1)**2*sqrt(delta**2 + 4*atanh(beta)**2)", "u^{2} + v^{2} &= "),
        ("a*b*c", "delta1*delta2 - 2*delta1*t**2 - 2*delta2*t**2 + 3*t**4", "On the leaf $A = "),
    ],
    ids=["in beta", "in a weight"],
)
def test_a_kernel_under_an_integral_has_its_ground_in_the_proof(outputs, K, ground):
    d = derive_once(outputs)
    assert [e for e in d.potential.finding.evidence if e.of[:1] == ("K",)]
    assert f"    K = {K}\n" in d.to_text()
    proof = d.to_latex(part="proof")
    assert proof.index(ground) < proof.rindex("K ") < proof.index("By its definition")


def proof_of(d):
    (part,) = (part for part in document(d).parts if part.kind == "proof")
    return part


@pytest.mark.parametrize(
    "outputs", [["a*u1", "a*u2"], ["W + a*b"], ["a*u1 + b", "a*u2"], ["a*b*c"], ["w**2", "a*b"]]
)
def test_a_proof_has_the_same_formulas_wherever_it_is_read(outputs):
    d = derive_once(outputs)
    text = "".join(d.to_text().split())
    page = re.sub(r"&|\\\\|\\quad|\s", "", d.to_latex(part="proof"))
    lines = [*flatten(proof_of(d).lines, OnTerminal)]
    rights = [right for x in lines if isinstance(x, Equations) for _, right in x.rows]
    formulas = [x for x in rights if isinstance(x, sympy.Expr) and not x.is_number]
    assert formulas
    for formula in formulas:
        assert unmark(formula_text(formula)).replace(" ", "") in text
        whole = re.sub(r"\s", "", latex(formula).replace(MARK, ""))
        assert whole in page or width(latex(formula)) > COLUMN / 2
    words = " ".join(x.words for x in lines if isinstance(x, Clause))
    assert ("row space" in words) == (d.verdict is Verdict.PROVED)


def test_steepest_descent_says_nothing_of_the_row_space():
    d = derive_once("u*v", steepest="3")
    assert d.parameterization.geometry.steering.norm == 3
    for told in (d.to_text(), d.to_latex(part="proof"), d.to_latex(part="theorem")):
        assert "in the row space of $X$ at all times" not in told
        assert "is in the row space of X at all times" not in told
    assert r"\lambda = \varphi(X^{\mathsf T} (y - X \beta))" in d.to_latex()


def test_a_name_of_ours_that_steps_aside_is_a_letter_in_words():
    assert typeset("t(b_)**2 = b_**2") == r"t(\tilde{b})^{2} = \tilde{b}^{2}"
    page = derive_once("a*b*c").to_latex()
    assert r"\tilde{b}_" not in page
    assert r"\lvert \cos(t) \rvert" in derive_once("a*sin(b)").to_latex()


@pytest.mark.parametrize(
    "outputs", [["pi*a*u1 + b", "a*u2"], ["a*b", "b*c", "pi*a*c"], ["pi*a*b*c", "c**2"]]
)
def test_the_numbers_of_a_refutation_may_be_multiples_of_pi(outputs):
    d = derive_once(outputs)
    assert d.verdict is Verdict.REFUTED
    text = d.to_text()
    assert "pi = " not in text
    assert "Proof" in text
    assert r"\begin{proof}" in d.to_latex()
