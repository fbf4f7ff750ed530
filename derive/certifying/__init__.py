"""Turn finished derivations into certificates, which :mod:`derive.check` accepts by itself."""

from derive.certifying.certificate import certify

__all__ = ["certify"]
