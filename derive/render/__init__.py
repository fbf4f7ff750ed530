"""Text, LaTeX and JSON of finished records; nothing here decides or computes.

``RENDERERS`` is the table of forms: to add a form of output, or a record to be printed, add it
there, as ``module:function`` of this room.
"""


def _forms(**modules: str) -> dict[str, str]:
    return {form: f"{module}:render_{form}" for form, module in modules.items()}


RENDERERS: dict[str, dict[str, str]] = {
    "Derivation": _forms(text="text", latex="latex", json="json"),
    "Regimes": _forms(text="regimes", latex="regimes", json="regimes"),
    "RandomWidth": _forms(text="random_width", latex="random_width", json="random_width"),
    "ExplicitCounterpart": _forms(text="explicit", latex="explicit_latex", json="explicit_json"),
    "Margins": _forms(text="margins", latex="margins_latex", json="margins"),
    "InverseDesign": {
        **_forms(text="inverse", latex="inverse", json="inverse"),
        "document": "inverse:document",
    },
    "Printable": {"document": "formula:document"},
}
