"""Commands as they are typed: answers, refusals in one line that helps, pages of help."""

import json
import shlex

import pytest

from derive.cli.main import COMMANDS as TABLE
from derive.cli.main import GROUPS, load
from tests.cli.commands import assert_answers, printed_by, refusal_of, run

ANSWERS = [  # what is typed, the exit status, and what is on the page
    ("regularizer w --conjecture '(beta - w_0)**2'", 0, ["AGREES UP TO", "conjectured = 2 *"]),
    ("regularizer w --conjecture 'beta**2'", 1, ["Conjecture Q = beta**2: DIFFERS"]),
    ("regularizer '-w**2' --start w=1", 0, ["PROVED"]),
    ("regularizer 'a*u1' 'a*u2' --start a=0,u1=1,u2=1", 0, ["On the other side:"]),
    (
        "explicit 'p**2 - m**2' --start p=alpha,m=alpha --at beta=2,alpha=1",
        0,
        ["smallest real root of P", "(2*b**2 - 12)*r**2", "R_F = 2.000", "R_F = -beta for"],
    ),
    ("explicit '-u*v + w' --start u=1,v=0,w=0", 0, ["REFUTED", "grad R = 2 tau"]),
    ("explicit 'a*u' --vector u --start a=alpha,u=0", 0, ["any dimension", "R_F = 2*"]),
    ("explicit 'a*u + b*v' --vector u,v", 3, ["u, v vectors of any dimension", "R_F = 2*abs(s)"]),
    (
        "explicit 'u1*v1 + x1*y1' 'u1*v2 + x1*y2' 'u2*v1 + x2*y1' 'u2*v2 + x2*y2'",
        3,
        ["2*abs(beta1*beta4", "Lagrange", "checked: B(F(w)) = U V^T"],
    ),
    ("explicit 'a*b*u1' 'a*b*u2'", 3, ["proved in part", "R_F = 3*(beta1**2 + beta2**2)**(1/3)"]),
    ("explicit 'exp(w)'", 3, ["needs polynomials", "UNDECIDED"]),
    ("parameterize 'beta*log(beta) - beta'", 0, ["beta = w**2", "start: w = 1"]),
    (
        "parameterize '-log(beta)' --start beta=k",
        0,
        ["w = log(k)", "k > 0", "Bregman", "if k > 0, F has"],
    ),
    ("parameterize 'x*log(x)'", 0, ["x = w**2", "w = exp(-1/2)"]),
    ("parameterize '-beta**2'", 1, ["not strictly convex near any point: Q'' = -2"]),
    ("parameterize 'beta**3' --start beta=-1", 1, ["not strictly convex near beta = -1"]),
    (
        "parameterize 'beta**4 + beta**2'",
        3,
        ["UNDECIDED", "w = Integral(sqrt(12*beta**2 + 2), beta)"],
    ),
    ("regularizer 'gam*v/sum(v)' --each v", 1, []),
    ("regularizer 'v + sum(v)' --each v", 0, []),
    ("regularizer 'v + sum(v**2)' --each v", 0, []),
    ("regularizer 'v/norm(v)' --each v", 3, []),
    ("regularizer 'W*T(W)' --matrix W:nxr --measurements commuting", 0, ["of every size"]),
    ("regularizer 'W*T(W)' --matrix W:nxr --measurements one", 0, ["of every size"]),
    ("regularizer 'W*T(W)' --matrix W:nxr --measurements general", 1, ["of every size"]),
    ("regularizer 'U*T(V)' --matrix U:2x1,V:2x1", 3, ["beta1*beta4 - beta2*beta3 = 0"]),
    ("regularizer 'exp(a)/(exp(a)+exp(b))' 'exp(b)/(exp(a)+exp(b))'", 0, ["= 1 - beta1: "]),
    ("explicit 'w**2' --start w=1 --at beta=1/2", 0, []),
    ("regularizer 'w**2' '0.5*v'", 0, []),
    ("perturb 'p**2 - m**2' --start p=alpha,m=alpha --by noise", 0, ["alpha -> alpha*exp(-2*S)"]),
    ("perturb 'a*u1 + b' 'a*u2' --by decay", 1, []),
    ("perturb 'p**2 - m**2' --start p=alpha,m=alpha --by decay --penalty 'log(p + m)'", 3, []),
]
TIED = ["p**2 - m**2", "--start", "p=alpha,m=alpha"]
DECAYING = "perturb 'p**2 - m**2' --start p=alpha,m=alpha --by decay --penalty"
REFUSALS = [  # what is typed, and what the line says
    ("perturb w", "Missing option '--by'"),
    ("regularizer x.__class__", "column 2"),
    ("regularizer '9**9**9'", "exponent"),
    ("regularizer ''", "empty"),
    ("regularizer", "no outputs"),
    ("regularizer 'x +'", "column 4"),
    ("regularizer 'relu(x)'", "relu"),
    ("regularizer '2**w'", "no weight is left"),
    ("regularizer w --start v=1", "no weight v"),
    ("regularizer w --start w=", "--start: column 3"),
    ("regularizer w --start w=u,w=v", "--start"),
    ("regularizer 'a*b' --start a=b", "uses the weight b"),
    ("regularizer w --positive q", "neither a weight nor a start symbol"),
    ("regularizer w --chekc", "No such option"),
    ("regularizer w --digits ten", "--digits"),
    ("regularizer w --timeout -1", "--timeout"),
    ("regularizer w --latex --json", "one of"),
    ("regularizer 'U*T(V)' --matrix U:2x1 --matrix V:2x1", "--matrix is given twice"),
    ("regularizer w --start=w=1 --start w=2", "--start is given twice"),
    ("regularizer w -o a --output=b", "--output is given twice"),
    ("regularizer w --digits 40", "goes with --check"),
    ("regularizer 'a*u1' --positive a --start a=-1", "not positive"),
    ("regularizer 'a*u1' --positive s,a --start a=-s", "not positive"),
    ("regularizer w --standalone", "--latex"),
    ("regularizer w -o /no/such/folder/file", "no folder"),
    ("regularizer w -o .", "is a folder"),
    ("regularizer 'w**2' --start w=0", "critical point"),
    ("regularizer 1/w --start w=0", "undefined at the start"),
    ("regularizer 3", "constant"),
    ("regularizer 'w - w + 1'", "constant"),
    ("regularizer 'v/sum(v)' --each v --start v=1", "--start does not go with --each"),
    ("regularizer 'v/sum(v)' --each v --matrix W:2x2", "--matrix does not go with --each"),
    ("regularizer 'v/sum(v)' --each v --rates u=1", "no weight u"),
    ("regularizer 'W*T(W)' --matrix W:nxr --measurements some", "choose one of commuting"),
    ("regularizer 'W*T(W)' --matrix W --measurements one", "write W:nxr"),
    ("regularizer 'W*T(W)' --measurements one", "write W:nxr"),
    ("regularizer 'W*T(W)' --matrix W:nxr --measurements one --start W=1", "--start does not go"),
    ("explicit", "output"),
    ("explicit 'u*'", "column"),
    ("explicit 3", "constant"),
    ("explicit 'p**2 - m**2' --start p=alpha,m=alpha --at beta", "--at"),
    ("explicit 'p**2 - m**2' --start p=alpha,m=alpha --at beta=alpha", "rational number"),
    ("explicit 'p**2 - m**2' --start p=alpha,m=alpha --at alpha=1", "give a number for beta"),
    ("explicit 'p**2 - m**2' --start p=alpha,m=alpha --at gamma=1", "no gamma"),
    ("explicit 'norm(u)*u' --vector u", "odd powers"),
    ("explicit 'a*norm(u)**2*u + b*v' --vector u,v", "give u a dimension"),
    ("explicit 'dot(u, v)' --vector u,v", "give a dimension"),
    ("parameterize", "no potential"),
    ("parameterize 3", "constant"),
    ("parameterize 'beta1*beta2' 'beta2**2'", "couples beta1 and beta2"),
    ("parameterize 'relu(beta)'", "not differentiable"),
    ("parameterize 'beta**'", "column"),
    ("parameterize 'beta**2' --start beta", "--start"),
    ("parameterize 'beta**2' --start gamma=1", "no coordinate gamma"),
    ("parameterize 'beta**2' --positive k", "positive"),
    ("univariate --density 'b + 2'", ""),
    ("univariate --potential 'x**3'", ""),
    ("univariate --activation tanh", ""),
    ("univariate --data nowhere.csv", ""),
    ("univariate --check", ""),
    ("univariate --density '1 on [-1, 1/2'", ""),
    ("regimes 'w**2' --to soon", "is not read"),
    ("regimes 'w**2' --scale w", "a name already"),
    ("regimes 'w**2' --scale a,b", "one name"),
    ("regimes 'exp(a)*u' --vector u", "give u one, u:2"),
    ("regimes 'a*u' --vector u --scale a", "a name already"),
    ("regimes 'a*u + b*v' --vector u,v", "depends on the dimension"),
    ("regimes 'a*u' --vector u --width k", "--width goes with one number"),
    ("regimes 'u*v' --width k --start u=1", "--width draws the start"),
    ("regimes 'u*v' --width k,n", "--width: give one name"),
    ("regimes 'u*v' w --width k", "--width goes with one output"),
    ("regimes 'u*exp(v)' --width k", "--width needs a polynomial"),
    ("regimes 'w**2' --width k", "0 on average"),
    ("regimes 'u*v + 2*x*y' --width k", "is no multiple of F"),
    ("regimes 'w**2' --check --json", "leave out --json, --html or --latex"),
    ("margin w --data nowhere.csv", "--data: nowhere.csv: No such file"),
    ("margin w --norm l1", "goes with --data"),
    ("margin w --norm nuclear --data nowhere.csv", "--shape, such as 2x3"),
    ("margin w --norm nuclear --shape 2 --data nowhere.csv", "two whole numbers"),
    ("margin w --latex --data nowhere.csv", "leave out --latex"),
    ("figure diagonal-bals", "did you mean diagonal-balls"),
    ("figure nothing", "lists them"),
    ("figure --json", "go with an ID"),
    ("figure diagonal-balls --json --csv", "one of --json and --csv"),
    ("figure --of", "goes with OUTPUTs"),
    ("figure diagonal-balls 'a*u'", "give one ID"),
    ("figure diagonal-balls --values alpha=1", "give one ID"),
    ("figure --of w --values w_0=x --csv", "must be a number"),
    ("figure --of w --values v_0=1 --csv", "its symbols are: w_0"),
    ("figure --of 'w +' --csv", "column 4"),
    ("experiment matrix-factorization --size 14 --samples 32 --rank 1 --sizes a", "--sizes"),
    ("experiment matrix-factorization --size 14 --samples 32 --rank 1 --scales 1,b", "--scales"),
    ("experiment convolution --layers 1", "at least 2"),
    ("experiment convolution --layers 9", "at most 1000"),
    ("experiment convolution --samples 9 --dimension 2", "separable"),
    ("experiment optimizers --samples 9 --dimension 9", "fewer"),
    ("experiment controllability --dimensions 0", "--dimensions"),
    ("experiment controllability --dimensions 13", "at most 12"),
    ("catalogue tied-par", "did you mean tied-pair"),
    ("catalogue --latex", "go with an ID"),
    ("catalogue linear --markdown", "give no ID"),
    ("catalogue linear --json --bibtex", "choose one"),
    ("audit nothing-like-it", "there is no model"),
    ("atlas search", "give Q, such as"),
    ("atlas search 'x**2'", "Q: write it in beta"),
    ("atlas search 'beta +'", "column"),
    ("atlas search beta --atlas nowhere.sqlite", "there is no atlas nowhere.sqlite"),
    ("atlas search --domain here", "--domain: choose one of"),
    ("atlas show nothing", "there is no entry 'nothing'"),
    ("atlas build", "give a file for the atlas"),
    ("atlas site", "give a folder for the pages"),
    (r"regularizer '\frac{a}{b}*u'", r"write (a)/(b) for \frac{a}{b}"),
    ("regularizer '|x|*u'", "write abs(x) for |x|"),
    ("regularizer 'abs(w)*u'", "declare w positive if it is a name (--positive)"),
    ("regularizer 'a*u' --vector w", "--vector: w does not occur in a*u"),
    ("regularizer 'a*u1' --vector u:2", "--vector: u does not occur in a*u1"),
    ("regularizer 'a*u' --matrix W:2x2", "--matrix: W does not occur in a*u"),
    ("regimes w --chekc", "(derive regimes --help shows what is accepted)"),
    ("parameterize 'beta**2/2' --start beta=oo", ""),
    ("parameterize nan", ""),
    ("parameterize 'beta*log(beta) - beta' --start beta=-1", ""),
    ("experiment sparse-regression --sizes 0", "derive: --sizes: "),
    ("experiment sparse-regression --plot /no-such-folder/a.svg", "derive: --plot: "),
    ("compare tide-pair", "did you mean tied-pair"),
    ("compare 'a*b --strat a=1'", "No such option '--strat'"),
    ('''compare "a*b --start 'a=1"''', "No closing quotation"),
    ("compare", "give models"),
    ("perturb 'p**2 - m**2' --start p=alpha,m=alpha --by dropout", ""),
    ("perturb 'p - m' --by step --process mirror", ""),
    (f"{DECAYING} '1/(p - m)'", "penalty has no gradient"),
    (f"{DECAYING} 'log(p - m)'", "penalty has no gradient"),
    (f"{DECAYING} 'sqrt(p - m)'", "penalty has no gradient"),
    (f"{DECAYING} ''", "empty"),
    ("report", "give a folder"),
    *(
        (f"regularizer 'a*u1' --{form} paper/out.py", "file and no output: write -o paper/out.py")
        for form in ("jax", "numpy", "json", "html", "latex")
    ),
    ("regularizer w --digits 0", "is not in the range"),
    ("experiment sparse-regression --samples x", "is not a valid integer"),
    ("regularizer '__import__('\"'\"'os'\"'\"').system('\"'\"'x'\"'\"')'", "column"),
    # What is ours is printed whole.
    ("regularizer 'max(a*u1, 0)'", "as a*u1 where a ReLU is active"),
    ("regularizer 'max(a*u1, 0)'", "sqrt, exp, log, sin, cos, tan, sinh, cosh, tanh,"),
]


@pytest.mark.every(6)
@pytest.mark.parametrize(("line", "code", "words"), ANSWERS)
def test_answers(line, code, words):
    done = run(*shlex.split(line))
    assert_answers(done, code, words)
    assert not done.stderr


@pytest.mark.every(5)
@pytest.mark.parametrize(("line", "words"), REFUSALS)
def test_refusals(line, words):
    assert words in refusal_of(*shlex.split(line))


def test_a_text_that_is_too_long_is_refused():
    assert "4000" in refusal_of("regularizer", "(" * 100_000)


def test_json_says_what_the_text_says(tmp_path):
    target = tmp_path / "r.json"
    assert (
        run("explicit", *TIED, "--json", "--at", "beta=2,alpha=1", "-o", str(target)).returncode
        == 0
    )
    record = json.loads(target.read_text(encoding="utf-8"))
    assert (record["format"], record["version"], record["verdict"]) == (
        "regderive-explicit",
        2,
        "PROVED",
    )
    (block,) = record["blocks"]
    (branch,) = block["R"]["branches"]
    assert (branch["low"], branch["high"], branch["root_from_below"]) == (None, None, 0)
    assert [b["closed_form"] for b in block["R_F"]["branches"]] == ["-beta", "beta"]
    assert block["contrast"]["evidence"][0]["left"] == "64"
    assert [v["of"] for v in record["values"]] == ["R", "R_F"]


def test_out_of_time_is_one_line():
    done = run("explicit", "p**5 - m**5", "--start", "p=alpha,m=alpha", "--timeout", "0.1")
    assert done.returncode == 3
    (line,) = done.stderr.strip().splitlines()
    assert "out of time" in line


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("x,y\n-3/5,1\n0,0\n0.5,1\n", encoding="utf-8")
    return str(path)


def test_the_answer_is_on_a_page(points):
    assert_answers(run("univariate"), 0, ["G1 + G2 + G3", "G3 = 3 (int h''(x) |x| dx"])
    words = ["exact", "563599/1687734 x", "R(f) = 11/3", "net of width 1600"]
    assert_answers(run("univariate", "--data", points, "--check"), 0, words)
    abs_ = ["--scaled", "--activation", "abs", "--potential", "x**4 + x**2"]
    assert_answers(run("univariate", *abs_, "--data", points), 0, ["certified by balls", "D = "])


def test_the_record_has_exact_numbers(points):
    record = json.loads(run("univariate", "--data", points, "--json").stdout)
    assert record["data"]["coefficients"][0] == "85805500/2531601"
    assert record["data"]["functionals"]["G2"] == "5913302404/712111513689"


@pytest.mark.parametrize(
    "text", ["0,1\n0,2\n", "x,y\n", "1,2,3\n", "5,1\n", "0,a\n", "0,1e300\n", "1/0,1\n0,2\n"]
)
def test_bad_data_are_one_line(text, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    refusal_of("univariate", "--data", str(path))


def test_softmax_is_checked_by_flows_and_its_record_says_so():
    done = run("regularizer", "exp(v)/sum(exp(v))", "--each", "v", "--check", "--json")
    assert done.returncode == 0
    record = json.loads(done.stdout)
    assert record["laws"] == ["sum(v_k)"]
    assert record["check"]["passed"]
    assert record["check"]["agreement"]["n = 2: y in the row space of X"] is None


def test_a_refutation_of_matrices_is_seen_by_steering():
    done = run("regularizer", "W*T(W)", "--matrix", "W:nxr", "--measurements", "general", "--check")
    assert done.returncode == 1
    assert "it moves" in done.stdout


def test_files_and_forms(tmp_path):
    target = tmp_path / "q.json"
    assert run("parameterize", "-log(beta)", "--json", "-o", str(target)).returncode == 0
    assert json.loads(target.read_text(encoding="utf-8"))["verdict"] == "PROVED"
    assert run("parameterize", "-log(beta)", "--latex", "--standalone").stdout.startswith(
        "\\documentclass"
    )


COMMANDS = {(name,): load(name) for name in TABLE if name not in GROUPS}
COMMANDS |= {
    (group, name): load(group).get_command(None, name)
    for group in GROUPS
    for name in load(group).list_commands(None)
}
# A potential starts at a beta and has parameters; what is confirmed, sized and measured is the
# command's.
OWN = {
    **{"--data": "regularizer explicit univariate run path", "--check": "regimes univariate"},
    **{"--output": "report rocq build site", "--start": "parameterize", "--seed": "build"},
    **{"--positive": "parameterize", "--size": "build", "--timeout": "build"},
    **dict.fromkeys(("--sizes", "--measurements"), "matrix-factorization"),
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
            if (
                option.param_type_name == "option"
                and names[-1] not in OWN.get(option.opts[-1], "").split()
            ):
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


def test_what_is_cut_is_cut_between_words():
    text = f"{'is_a_name ' * 40}"
    line = refusal_of("check", text)
    first, _, last = line.removeprefix("derive: ").partition(" ... ")
    assert {*first.split()} | {*last.split()[:2]} == {"is_a_name"}
    (word,) = (x for x in refusal_of("regularizer", "a", f"--{'x' * 999}").split() if "xx" in x)
    assert 60 < len(word) < 120
