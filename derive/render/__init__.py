"""Text, LaTeX and JSON of finished records; nothing here decides or computes.

``RENDERERS`` is the table of forms: to add a form of output, or a record to be printed, add it
there, as ``module:function`` of this room.
"""


def _forms(**modules: str) -> dict[str, str]:
    return {form: f"{module}:render_{form}" for form, module in modules.items()}


def _told(name: str, module: str = "accounts") -> dict[str, str]:
    narration = {"narration": f"{module}:{name}"}
    return _forms(text="narration", page="page.narration", json="json") | narration


RENDERERS: dict[str, dict[str, str]] = {
    "Derivation": _told("tell_derivation", "derivation")
    | _forms(
        jax="exports.program",
        torch="exports.program",
        numpy="exports.numpy_module",
        rocq="exports.rocq",
    ),
    "Outcome": _told("tell_outcome"),
    "Regimes": _told("tell_regimes"),
    "RandomWidth": _told("tell_width"),
    "ExplicitCounterpart": _told("tell_explicit"),
    "Margins": _told("tell_margins"),
    "Optimizer": _told("tell_one"),
    "Optimizers": _told("tell_all"),
    "VariationalProblem": _told("tell_problem"),
    "Perturbation": _told("tell_perturbation"),
    "InverseDesign": _told("tell_design"),
    "Printable": _forms(latex="page.latex", html="html.page", card="html.page"),
}
