"""What is false and easily believed of flows, costs and data: no command says it."""

import shlex

import pytest

from tests.cli.commands import run

EYE = "U11=1,U12=0,U21=0,U22=1,V11=1,V12=0,V21=0,V22=1"
UNEQUAL, FOUR, TIE = "1,10,-1,3\n2,-1,5,1\n", "1,2,0,1,3\n3,-1,1,2,2\n", "1,1,1\n"
CONTROLS = [  # what is typed, its data, the exit status, what is said, and what must not be
    # flows of no power, of shared weights and of matrices keep nothing
    ("regularizer u*v --steepest 'x/sqrt(x**2+1)'", "", 1, "keeps no function", "delta"),
    ("regularizer a*u1 a*u2 a*u3 --steepest 4/3", "", 1, "keeps no function", "delta"),
    ("regularizer 'U*T(V)' --matrix U:2x2,V:2x2 --steepest spectral", "", 1, "REFUTED", "delta"),
    # sign descent is a linear model until a weight is 0, and leaves the row space
    ("regularizer 'p**2 - m**2' --start p=alpha,m=alpha --steepest oo", "", 0,
     "4*alpha**2 < beta < 4*alpha**2", "limit meets"),
    ("margin u*v --steepest 3", "", 0, "l3/2", "argmin Q"),
    ("margin a/b --steepest 4", "", 3, "is not decided", "Tsilivis"),
    # free signs cost less than those that flows keep
    ("explicit 'p**3 - m**3' --cost trace-K", "", 0, "R = 9*2**(2/3)*abs(beta)**(4/3)/2",
     "R = 9*abs"),
    # label noise selects nothing on a*u; columns have weights of their own elsewhere
    ("explicit a*u1 a*u2 a*u3 --cost trace-K --data FILE", UNEQUAL, 0, "selects none", "l1"),
    ("explicit u*v --cost trace-K --data FILE", UNEQUAL, 0,
     "10*abs(beta1) + 202*abs(beta2) + 52*abs(beta3)", "selects none"),
    ("perturb 'p**2 - m**2' --start p=alpha,m=alpha --by noise", "", 0, "h(S, beta) = S*abs(beta)",
     "h(S, beta) = abs"),
    ("perturb 'p**3 - m**3' --start p=alpha,m=alpha --by noise", "", 1, "REFUTED", "h(S, beta)"),
    ("explicit a*u1 a*u2 a*u3 --cost log-det-K", "", 0, "which no w attains", "R = log"),
    # decay shrinks the start of homogeneous F alone
    ("perturb 'a*b + c' --by decay", "", 1, "more than shrink the start",
     "of the start exp(-kappa) w"),
    # which process keeps a law depends on F and psi
    ("perturb 'p - m' --mirror 'p*log(p) + m*log(m)' --by noise", "", 0, "Delta c = 0", "exp(-S"),
    ("perturb u*v --mirror 'u*log(u) + v*log(v)' --by noise", "", 1, "Delta c = -S*beta*c/2",
     "Delta c = 0"),
    # no path of a Huber limit, nor through ties
    ("path 'W + a*b' --start W=0,a=alpha,b=alpha --data FILE", UNEQUAL, 2, "not linear", "tau"),
    ("path u*v --start u=alpha,v=alpha --data FILE", TIE, 2, "a tie", "minimises"),
    # a closed K is no Q, and loss weights matter
    (f"regularizer 'U*T(V)' --matrix U:2x2,V:2x2 --start {EYE} --data FILE", FOUR, 1,
     "depend on loss weights", "whatever the loss weights"),
    # two outputs say nothing of every number
    ("regularizer 'gam*exp(v)/sum(exp(v))' --each v", "", 1, "for every n >= 3", "Yes"),
    ("parameterize '(beta1**2 + beta2**2 + beta3**2)**(3/4)'", "", 1, "not flat", "Yes"),
]  # fmt: skip


@pytest.mark.every(6)
@pytest.mark.parametrize(("typed", "data", "code", "said", "never"), CONTROLS)
def test_what_is_false_is_not_said(typed, data, code, said, never, tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text(data)
    done = run(*shlex.split(typed.replace("FILE", str(file))))
    page = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == code, page
    assert said in page
    assert never not in page
