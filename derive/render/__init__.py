"""Text, LaTeX and JSON of finished records; nothing here decides or computes.

``RECORDS`` is the table of records, ``RENDERERS`` that of forms, as ``module:function`` of this
room, or of another with a dot before it: to add a record to be printed, or a form, add it there.
"""

from typing import NamedTuple


class Account(NamedTuple):
    """The format of a record in JSON, told by ``tell_<format>``, and the title of its page."""

    format: str
    title: str
    version: int = 1


RECORDS = {
    "Derivation": Account("derivation", "The implicit regularizer", 2),
    "EntrywiseDerivation": Account("entrywise", "The implicit regularizer for every n"),
    "PushedDerivation": Account("pushed", "What steepest descent keeps"),
    "MatrixDerivation": Account("matrices", "The implicit regularizer of every size"),
    "Outcome": Account("outcome", "The implicit regularizer"),
    "Regimes": Account("regimes", "Limits of the regularizer", 2),
    "RandomWidth": Account("width", "The regularizer at random starts"),
    "ExplicitCounterpart": Account(
        "explicit", "Explicit regularization beside the implicit one", 2
    ),
    "FibreCost": Account("fibre", "The least cost of the weights"),
    "SharedMargins": Account("shared_margin", "Steepest descent on separable data"),
    "Margins": Account("margin", "The flow on separable data"),
    "Perturbation": Account("perturbation", "What perturbations do to the flow"),
    "DataOrder": Account("order", "Loss weights and the order of batches"),
    "AuditedRun": Account("run", "A training run"),
    "SaddlePath": Account("path", "From saddle to saddle"),
    "Optimizer": Account("optimizer", "An optimizer on linear models"),
    "Optimizers": Account("optimizers", "Optimizers on linear models"),
    "VariationalProblem": Account("univariate", "What wide nets on the line learn"),
    "Comparison": Account("comparison", "Models side by side"),
    "Model": Account("model", "A published model"),
    "Audits": Account("audit", "What was printed, compared with what is derived"),
    "InverseDesign": Account("inverse", "A parameterization of a given regularizer"),
}


def _forms(**modules: str) -> dict[str, str]:
    return {form: f"{module}:render_{form}" for form, module in modules.items()}


RENDERERS: dict[str, dict[str, str]] = {
    **{x: {"document": f"accounts:tell_{account.format}"} for x, account in RECORDS.items()},
    "Model": {
        "document": ".catalogue.listing:tell_model",
        "html": ".catalogue.listing:render_html",
    },
    "Audits": {"document": ".catalogue.audit.report:tell_audits"},
    "EntrywiseDerivation": {
        "document": "open_sizes:tell_entrywise",
        "rocq": ".rocq.theorem:of_every_size",
    },
    "MatrixDerivation": {
        "document": "open_sizes:tell_matrices",
        "explore": "explore.page:render_matrices",
    },
    "Derivation": {"document": "derivation:tell_derivation"}
    | _forms(jax="exports.program", torch="exports.program", numpy="exports.program")
    | _forms(js="exports.script", explore="explore.page")
    | {"rocq": ".rocq.theorem:written"},
    "Potential": {"jax": "exports.program:jax_function", "torch": "exports.program:torch_function"},
    "Shown": {
        "document": "accounts:tell_part",
        "page": "page.blocks:render_page",
        "card": "html.page:render_part",
        "formula": "page.latex:render_formula",
    },
    "Printable": _forms(
        text="text",
        page="page.blocks",
        json="json",
        latex="page.latex",
        html="html.page",
        card="html.page",
        formula="page.latex",
    ),
    "Held": {"card": "html.page:render_fields", "formula": "page.latex:render_fields"},
}
