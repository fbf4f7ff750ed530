"""Every printed formula of the catalogue against what the program derives from F alone."""

from derive.audit.finding import Audit, Outcome
from derive.audit.run import audit_entry

__all__ = ["Audit", "Outcome", "audit_entry"]
