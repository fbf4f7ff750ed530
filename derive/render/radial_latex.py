"""A dimension-free derivation as LaTeX for a paper; the snippet needs amsmath."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Integral, Symbol

from derive.language import to_sympy
from derive.language.tree import Name
from derive.model.notation import to_expr
from derive.potential.piece import Quadrature
from derive.render.formula import broken, display, fraction, latex, latex_name
from derive.render.piece_latex import assumption, prose, root_note
from derive.render.radial_text import law_names
from derive.vectors.derivation import RadialDerivation
from derive.vectors.reduce import radial_eigenvalue
from derive.verdict import Verdict


def render_latex(derivation: RadialDerivation) -> str:
    """Return the derivation as a snippet."""
    return _with_norms("\n".join(_body(derivation)), derivation)


def _with_norms(text: str, d: RadialDerivation) -> str:
    """Put |u|, |u_0| and the inner product where their names stand."""
    model = d.model
    start = model.reduced.start[-1][1]
    if isinstance(start, Name) and start.name.startswith(f"{model.norm}_0"):
        text = text.replace(latex_name(start.name), _norm(model.start_vector))
    return text.replace(latex_name(model.norm), _norm(model.vector))


def _norm(vector: str) -> str:
    return rf"\lVert {latex_name(vector)} \rVert"


def _body(d: RadialDerivation) -> Iterator[str]:
    yield from _model(d)
    yield from _existence(d)
    yield from _potential(d)


def _model(d: RadialDerivation) -> Iterator[str]:
    model, p = d.model, d.model.reduced
    u, b, s = latex_name(model.vector), latex(model.beta), latex(d.s)
    symbols = dict(model.notation.weights)
    phi = latex(to_sympy(model.coefficient, symbols))
    starts = ", ".join(f"{latex_name(w)}(0) = {latex(to_sympy(tree))}" for w, tree in p.start)
    yield (
        rf"\paragraph{{Parameterization.}} Let ${b} = \varphi {u}$ with $\varphi = {phi}$ and "
        rf"${u} \in \mathbb{{R}}^d$ for any $d \ge 2$, starting at ${starts}$; "
        rf"${s} = \lVert {b} \rVert$."
    )
    if d.conserved.laws:
        count = (
            "All conserved quantities"
            if d.conserved.verdict is Verdict.PROVED
            else f"Conserved quantities (at most {d.conserved.bound} exist)"
        )
        yield rf"\paragraph{{Conserved quantities.}} {count}, up to functions of them:"
        named = zip(law_names(d), d.conserved.laws, strict=True)
        yield from display([(latex_name(n), latex(law)) for n, law in named])
    yield r"\paragraph{Metric.} The tangent kernel is"
    T, R = (to_expr(x, symbols) for x in (model.phi**2, radial_eigenvalue(p)))
    rows = [
        ("K", rf"T I + (R - T)\, {b} {b}^{{\mathsf T}} / {s}^2"),
        ("T", latex(T)),
        ("R", latex(R)),
    ]
    if d.potential.spectrum is not None:
        named_TR = ("T", d.potential.spectrum.tangential), ("R", d.potential.spectrum.radial)
        rows = [
            rows[0],
            *((n, f"{latex(x)} = {broken(y)}") for (n, y), x in zip(named_TR, (T, R), strict=True)),
        ]
    yield from display(rows)


def _existence(d: RadialDerivation) -> Iterator[str]:
    if d.hessian.verdict is Verdict.PROVED:
        yield r"\paragraph{Mirror flow.} The metric $\rho = K^{-1}$ is a Hessian map."
        return
    answer = "No" if d.hessian.verdict is Verdict.REFUTED else "Undecided"
    yield rf"\paragraph{{Mirror flow.}} Is $\rho = K^{{-1}}$ a Hessian map? {answer}:"
    norm = latex_name(d.model.norm)
    yield (
        r"that needs $\langle \nabla \log g, \nabla s \rangle = "
        rf"{norm} \lvert \nabla \varphi \rvert^2 / \varphi = 0$"
    )
    for identity in d.hessian.finding.evidence:
        point = ", ".join(f"{latex_name(n)} = {fraction(v)}" for n, v in identity.point)
        yield rf", which is not so at ${point}$"
    yield "."
    if d.warping.verdict is Verdict.PROVED:
        yield r"With the warp $g > 0$ it is one:"
        g = [] if d.warping.g is None else [("g", latex(d.warping.g))]
        yield from display(
            [
                *g,
                (
                    r"\nabla Q",
                    rf"q'({latex(d.s)})\, {latex(d.model.beta)}"
                    rf" / {latex(d.s)} + z",
                ),
            ]
        )


def _potential(d: RadialDerivation) -> Iterator[str]:
    yield r"\paragraph{Implicit regularizer.}"
    piece, model, s = d.potential.piece, d.model, latex(d.s)
    if piece is None:
        yield "Not found: " + d.potential.finding.reason.replace("_", r"\_") + "."
        return
    yield "Up to a positive factor and an additive constant,"
    rows = [("Q", rf"q({s}) + \langle z, {latex(model.beta)} \rangle"), ("q", broken(piece.value))]
    if not piece.gradient[0].has(Integral):
        rows.append((rf"q'({s})", broken(piece.gradient[0])))
    rows.append(("z", latex(-d.potential.slope * Symbol(model.start_vector))))
    spectrum = d.potential.spectrum
    roots = dict.fromkeys((*piece.roots, *(spectrum.roots if spectrum else ())))
    constants = dict.fromkeys((*piece.constants, *(spectrum.constants if spectrum else ())))
    rows += [(latex(r.symbol), broken(r.explicit)) for r in roots if r.explicit is not None]
    rows += [(latex(symbol), broken(value)) for symbol, value in constants]
    yield from display(rows)
    notes = [root_note(r) for r in roots if r.explicit is None]
    if isinstance(piece, Quadrature) and piece.note:
        notes.append(prose(piece.note))
    if notes:
        yield f"with {' and '.join(notes)}."
    if piece.assumptions:
        yield f"Assumed: {'; '.join(assumption(a) for a in piece.assumptions)}."
