r"""The variational problem of univariate shallow nets, as a page of mathematics."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sympy
from flint import fmpq
from sympy import Symbol

from derive.language import names, parse_expression, to_sympy
from derive.render.page.lines import display
from derive.render.page.paper import Page, Passage
from derive.render.page.printer import latex
from derive.render.univariate import times
from derive.univariate.formulas import rational
from derive.univariate.problem import VariationalProblem

SLOPES = r"h'(\infty) + h'(-\infty)"
MOMENT = r"\int h''(x)\,\lvert x\rvert\,dx - 2h(0)"
WRITTEN = {r"phi'' > 0": r"$\varphi'' > 0$", r"phi\b": r"$\varphi$"}
OMEGA = r"phi = \(psi .*\), omega"


def render_page(p: VariationalProblem) -> Page:
    """Return the page of a variational problem; a limit that is formal is no theorem."""
    statement = tuple(_problem(p))
    stated = Passage("theorem", statement, "Liang and Mont\\'ufar", "thm:univariate")
    remarks = (Passage("remark", (_set(remark),)) for remark in p.remarks)
    passages = (
        Passage("paragraph", tuple(_setting(p)), "Setting"),
        Passage("paragraph", statement, "Limit, formally") if p.remarks else stated,
        Passage("paragraph", tuple(_derivation(p)), "Derivation of the functional"),
    )
    return Page((*passages, *remarks))


def _set(remark: str) -> str:
    omega = r"$\\varphi = (\\psi + \\omega x^2)/(1 + \\omega)$, $\\omega$"
    remark = re.sub(OMEGA, omega, remark)
    for plain, written in WRITTEN.items():
        remark = re.sub(rf"(?<!var){plain}", written.replace("\\", r"\\"), remark)
    return f"{remark[0].upper()}{remark[1:]}."


def _setting(p: VariationalProblem) -> Iterator[str]:
    low, high = p.density.support
    density, phi = (_formula(text) for text in (p.density.formula_text, p.potential.text))
    sigma = r"\max(z, 0)" if p.activation.odd else r"\lvert z\rvert"
    yield r"Let $f(x) = \sum_{j=1}^n a_j\,\sigma(w_j x - b_j) + d$ with"
    yield rf"$\sigma(z) = {sigma}$, $w_j = \pm 1$, and $b_j$ from the density $p$ that is"
    yield rf"proportional to ${density}$ on $[{low}, {high}]$; mirror flow with the potential"
    scaled = r"n^{-2}\sum_k \varphi(n(\theta_k - \theta_k(0)))"
    plain = r"\sum_k \varphi(\theta_k - \theta_k(0))"
    yield from display([(r"\Phi(\theta)", scaled if p.scaled else plain), (r"\varphi(x)", phi)])


def _formula(text: str) -> str:
    tree = parse_expression(text)
    letters = {name: Symbol(name, real=True) for name in names((tree,))}
    return latex(to_sympy(tree, letters))


def _problem(p: VariationalProblem) -> Iterator[str]:
    yield r"As $n \to \infty$, $f(x, \theta(\infty)) - f(x, \theta(0))$ tends to the $h(x)$"
    yield r"with $h(x_i) = y_i - f(x_i, \theta(0))$ for all $i$ that minimises"
    if p.affine is not None:
        bending, second, third = (_factor(x) for x in (rational(p.bending), *p.affine))
        rows = [
            (r"\mathcal{G}_1(h)", rf"{bending}\int \frac{{h''(x)^2}}{{p(x)}}\,dx"),
            (r"\mathcal{G}_2(h)", rf"{second}\bigl({SLOPES}\bigr)^2"),
            (r"\mathcal{G}_3(h)", rf"{third}\Bigl({MOMENT}\Bigr)^2"),
        ]
        yield r"$\mathcal{G}_1 + \mathcal{G}_2 + \mathcal{G}_3$,"
        yield from display(rows)
        if not all(isinstance(x, fmpq) for x in p.affine):
            yield "Decimals are rounded."
        return
    if p.activation.odd:
        both = r"\tfrac12 D_\varphi(h''/p + u, 0) + \tfrac12 D_\varphi(h''/p - u, 0)"
        yield rf"\[ \int \bigl({both}\bigr)\, p\,dx \]"
        yield "among all $u(x)$, the odd part of $\\alpha$, with"
        rows = [(SLOPES, r"\int p\,u\,dx"), (MOMENT, r"\int p\,x\,u\,dx")]
    else:
        yield r"\[ \int D_\varphi\Bigl(\frac{h''(x)}{2p(x)}, 0\Bigr)\, p(x)\,dx \]"
        yield "subject to"
        rows = [(SLOPES, "0"), (MOMENT, "0")]
    yield from display(rows)
    yield r"Here $D_\varphi(a, 0) = \varphi(a) - \varphi(0) - \varphi'(0)\,a$."


def _derivation(p: VariationalProblem) -> Iterator[str]:
    odd = p.activation.odd
    if not p.scaled:
        yield r"As $\theta$ moves by $O(1/n)$, $\varphi$ counts by $\varphi''(0)$ alone."
    yield r"The limit minimises $\mathbb{E}\,D_\varphi(\alpha(w,b), 0)$ subject to"
    yield r"$h(x) = \mathbb{E}\,\alpha(w,b)\,\sigma(wx - b)$. With"
    yield r"$\alpha(1,b) = v(b) + u(b)$, $\alpha(-1,-b) = v(b) - u(b)$ and $p$ even,"
    even = r"\int p\,v\,\lvert x - b\rvert\,db"
    both = rf"\tfrac12{even} + \tfrac12\int p\,u\,(x - b)\,db"
    yield from display([("h(x)", both if odd else even)])
    yield rf"so that $h'' = {'' if odd else '2'}p\,v$,"
    seen = (r"\int p\,u\,db", r"\int p\,b\,u\,db") if odd else ("0", "0")
    yield rf"${SLOPES} = {seen[0]}$ and"
    yield rf"${MOMENT} = {seen[1]}$."
    if p.affine is not None:
        yield r"At given $\int pu$ and $\int pbu$ the least $\int p u^2$ is"
        yield r"$(\int pu)^2 + (\int pbu)^2/\mathbb{E}\,b^2$, as $\mathbb{E}\,b = 0$."


def _factor(value: object) -> str:
    """Return a factor, exact or in decimals; nothing for 1."""
    text = times(value).strip()
    if isinstance(value, fmpq) and text:
        text = latex(sympy.Rational(text))
    return rf"{text}\," if text else ""
