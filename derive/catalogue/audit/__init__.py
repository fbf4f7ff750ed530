"""Every printed formula of the catalogue against what the program derives from F alone."""

from derive.catalogue.audit.formula_kinds import audit_entry
from derive.catalogue.audit.judgement import Audit, Outcome

__all__ = ["Audit", "Outcome", "audit_entry"]
