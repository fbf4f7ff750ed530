"""Pages of help, completion, and lines that are long."""

import pytest

from derive.cli.main import COMMANDS as TABLE
from derive.cli.main import GROUPS, load
from tests.cli.commands import printed_by, refusal_of, run

COMMANDS = {(name,): load(name) for name in TABLE if name not in GROUPS}
COMMANDS |= {
    (group, name): load(group).get_command(None, name)
    for group in GROUPS
    for name in load(group).list_commands(None)
}
# A potential starts at a beta and has parameters; what is confirmed, sized and measured is the
# command's.
OWN = {
    ("regularizer", "--data"),
    ("explicit", "--data"),
    ("parameterize", "--start"),
    ("parameterize", "--positive"),
    ("regimes", "--check"),
    ("report", "--output"),
    ("rocq", "--output"),
    ("build", "--output"),
    ("build", "--seed"),
    ("build", "--size"),
    ("site", "--output"),
    ("build", "--timeout"),
    ("matrix-factorization", "--sizes"),
    ("matrix-factorization", "--measurements"),
    ("univariate", "--data"),
    ("run", "--data"),
    ("path", "--data"),
    ("univariate", "--check"),
}


def page(*names):
    done = run(*names, "--help")
    assert done.returncode == 0
    return done.stdout


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_a_page_fits_the_terminal_and_teaches(names):
    text = page(*names)
    assert max(map(len, text.splitlines())) <= 80
    assert "Exit status" in text
    assert f"  derive {' '.join(names)}" in text.partition("Examples")[2]


def test_an_experiment_names_its_source():
    assert "Azulay" in page("experiment", "sparse-regression")
    assert "Gunasekar" in page("experiment", "matrix-factorization")
    assert "Montufar" in page("experiment", "univariate-nets")


@pytest.mark.parametrize("names", [(), *((group,) for group in GROUPS)], ids=" ".join)
def test_lists_of_commands_are_whole_sentences(names):
    listed = page(*names).partition("Commands:\n")[2].splitlines()
    assert listed
    assert all(line.endswith(".") and not line.endswith("...") for line in listed)


def test_an_option_means_the_same_everywhere():
    texts = {}
    for names, known in COMMANDS.items():
        for option in known.params:
            if option.param_type_name == "option" and (names[-1], option.opts[-1]) not in OWN:
                texts.setdefault(option.opts[-1], {})[names] = option.help
    differing = {name: found for name, found in texts.items() if len(set(found.values())) > 1}
    assert differing == {}
    # All but check, explore, report, rocq, atlas build and site.
    assert len(texts["--json"]) == len(COMMANDS) - 6


def test_pages_and_lists_import_nothing_that_computes():
    program = (
        "import sys; from tests.cli.commands import run\n"
        f"for command in {[[*names, '--help'] for names in COMMANDS] + [['figure']]}:\n"
        "    assert run(*command, apart=True).returncode == 0\n"
        "heavy = ('sympy', 'numpy', 'flint', 'matplotlib', 'derive.language')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    assert printed_by(program) == "[]\n"


def test_the_catalogue_goes_to_a_file(tmp_path):
    target = tmp_path / "square.tex"
    for wanted in (["--bibtex"], ["--latex", "--standalone"], []):
        done = run("catalogue", "square", *wanted, "-o", str(target))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        text = target.read_text(encoding="utf-8")
        assert text.startswith("@") == (wanted == ["--bibtex"])
        assert text.startswith(r"\documentclass") == ("--standalone" in wanted)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("derive reg", ["regularizer", "regimes"]),
        ("derive regularizer --vec", ["--vector"]),
        ("derive compare tied-pair linear-n", ["linear-neuron", "linear-neuron-plane"]),
        ("derive audit tied", ["tied-pair"]),
        ("derive figure diagonal-b", ["diagonal-balls"]),
        ("derive optimizers coord", ["coordinate-descent"]),
        ("derive perturb w**2 --by m", ["momentum"]),
        ("derive perturb w**2 --by decay,m", ["decay,momentum"]),
        ("derive experiment con", ["convolution", "controllability"]),
        ("derive regularizer a", []),
    ],
)
def test_bash_completes(words, found, monkeypatch):
    asked = {"_DERIVE_COMPLETE": "bash_complete", "COMP_WORDS": words}
    for name, value in {**asked, "COMP_CWORD": str(words.count(" "))}.items():
        monkeypatch.setenv(name, value)
    assert [line.partition(",")[2] for line in run().stdout.split()] == found


LONG = "x + " * 500


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["regularizer", "a", "--timeout", LONG], "--timeout"),
        (["regularizer", "a", "-o", LONG], "-o"),
        (["regularizer", "a", f"--{LONG}"], "No such option"),
        (["check", LONG], "x + x"),
        (["catalogue", LONG], "x + x"),
        (["audit", LONG], "x + x"),
        (["figure", LONG], "x + x"),
        ([LONG], "is no command"),
    ],
)
def test_a_hostile_option_is_echoed_at_both_ends(arguments, words):
    done = run(*arguments)
    (line,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert line.startswith("derive: ")
    assert words in line
    assert len(line) < 200
    assert LONG.strip() not in line


@pytest.mark.parametrize("group", ["experiment", "atlas"])
def test_a_group_alone_lists_its_commands(group):
    done = run(group)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run(group, "--help").stdout


@pytest.mark.parametrize("form", ["--jax", "--numpy", "--json", "--html", "--latex"])
def test_a_file_is_no_output_of_f(form):
    line = refusal_of("regularizer", "a*u1", form, "paper/out.py")
    assert line == "derive: paper/out.py is a file and no output: write -o paper/out.py"
    assert run("regularizer", "w**2", "0.5*v").returncode == 0


def test_what_is_ours_is_printed_whole():
    line = refusal_of("regularizer", "max(a*u1, 0)")
    assert "as a*u1 where a ReLU is active" in line
    assert "sqrt, exp, log, sin, cos, tan, sinh, cosh, tanh," in line


def test_what_is_cut_is_cut_between_words():
    text = f"{'is_a_name ' * 40}"
    line = refusal_of("check", text)
    first, _, last = line.removeprefix("derive: ").partition(" ... ")
    assert {*first.split()} | {*last.split()[:2]} == {"is_a_name"}
    (word,) = (x for x in refusal_of("regularizer", "a", f"--{'x' * 999}").split() if "xx" in x)
    assert 60 < len(word) < 120
