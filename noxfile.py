"""Tasks in environments of their own: `nox` runs lint and tests, `nox -s docs` builds the pages."""

import nox

nox.options.sessions = ["lint", "tests"]


@nox.session
def lint(session: nox.Session) -> None:
    """Run ruff and mypy."""
    session.install("-e", ".[test]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests, as the continuous integration does; arguments go to pytest."""
    session.install("-e", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session
def rocq(session: nox.Session) -> None:
    """Compile the proofs that Rocq accepts, and broken ones; coqc has to be installed."""
    session.install("-e", ".[test]")
    session.run("pytest", "-m", "rocq", *session.posargs)


@nox.session
def browser(session: nox.Session) -> None:
    """Open pages in a browser; a Chromium has to be installed."""
    session.install("-e", ".[test,browser]")
    session.run("pytest", "-n", "0", "-m", "browser", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation into docs/_build."""
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "-W", "docs", "docs/_build")
