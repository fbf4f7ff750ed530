"""Every printed formula of the catalogue against what the program derives from F alone."""

from derive.catalogue.audit.judgement import Audit, Outcome
from derive.catalogue.audit.run import audit_entry

__all__ = ["Audit", "Outcome", "audit_entry"]
