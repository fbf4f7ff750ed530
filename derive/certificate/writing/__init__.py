"""Turn derivations into certificates, which :mod:`derive.certificate.checking` accepts."""

from derive.certificate.writing.certificate import certify

__all__ = ["certify"]
