"""The parts of the certificate checker; they use python-flint and the standard library only."""
