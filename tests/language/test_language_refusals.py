"""What the language refuses, and how it says so."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from derive.language import LanguageError, parse_expression

# Each text with a piece of the message that must be in it, the column first where it matters.
REFUSED = [
    ("", "column 1: empty expression"),
    ("   ", "empty expression"),
    ("__import__('os').system('x')", "column 1: '_' is not accepted"),
    ("print('a')", "column 1: 'print' is not a function"),
    ("x.__class__", "column 2: '.'"),
    ("x.y", "only inside a number"),
    ("...", "only inside a number"),
    ("9**9**9", "exponent may be at most 64"),
    ("((2**64)**64)**64", "bits of the constants"),
    ("(((x**64)**64)**64)**64", "total degree"),
    ("((((x**64)**64)**64)**64", "column 1: '(' is never closed"),
    ("(x*y)**33", "total degree"),
    ("1/(x*y)**33", "total degree"),
    ("(" * 100_000, "at most 4000 characters"),
    ("-" * 100_000, "at most 4000 characters"),
    ("(" * 3000, "column 51: brackets, signs and powers may be nested at most 50 deep"),
    ("(" * 51 + "x" + ")" * 51, "column 51: brackets"),
    ("(-" * 30 + "x" + ")" * 30, "column 51: brackets, signs and powers"),
    ("-" * 3000 + "x", "column 51: brackets, signs and powers"),
    ("x**" * 1000 + "1", "column 152: brackets, signs and powers"),
    ("1**" * 1000 + "1", "may be nested at most 50 deep"),
    ("1**-" * 900 + "1", "may be nested at most 50 deep"),
    ("sin(" * 900, "column 204: brackets"),
    ("+".join(["x"] * 300), "levels of nesting"),
    ("+".join(f"x{i}" for i in range(65)), "column 247: at most 64 different names"),
    ("(" + "+".join(f"x{i}" for i in range(64)) + ")**8", "terms after expansion"),
    ("(x**(1/64))**(1/64)", "roots inside roots"),
    ("x**(1/65)", "index 64"),
    ("x**65", "at most 64"),
    ("x**-65", "at most 64"),
    ("1" * 61, "at most 60 digits"),
    ("0." + "1" * 100, "at most 60 digits"),
    ("1e60", "at most 60 digits"),
    (".1e-59", "at most 60 digits"),
    ("1e400000", "at most 60 digits"),
    ("1e" + "9" * 3000, "at most 60 digits"),
    ("w" * 41, "at most 40 characters"),
    ("x +", "column 4: expected a number, a name, a function or a bracket after '+'"),
    ("  x +  ^ y", "column 8: '^' is not accepted: write ** for powers"),
    ("x^2", "write ** for powers"),
    ("2x", "column 2: write * between factors"),
    ("2 x", "column 3: write * between factors"),
    ("(x)(y)", "column 4: write * between factors"),
    ("(x) y", "write * between factors"),
    ("x y", "write * between factors"),
    ("3(x)", "write * between factors"),
    ("1.2.3", "write * between factors"),
    ("0x10", "a number is decimal"),
    ("1j", "column 2"),
    ("1_0", "column 2: '_'"),
    ("1e", "column 2"),
    ("007", "leading zeros"),
    ("_x", "a name starts with a letter"),
    ("x(y)", "'x' is not a function"),
    ("foo(x)", "sqrt, exp, log, sin, cos, tan, sinh, cosh, tanh, asinh"),
    ("snh(x)", "write sinh(...)"),
    ("ln(x)", "write log(x)"),
    ("erf(x)", "needs the constant sqrt(pi)"),
    ("Max(x, y)", "not differentiable"),
    ("floor(x)", "not differentiable"),
    ("relu(x)", "not differentiable"),
    ("sin()", "column 5: expected"),
    ("x*,", "column 3: ',' is not accepted: one expression is expected"),
    ("()", "column 2: expected"),
    ("sin(x,y)", "column 4: sin takes exactly one argument"),
    ("sin(x=1)", "column 6"),
    ("sin(*x)", "column 5"),
    ("sin(**x)", "column 5"),
    ("sin", "write sin(...)"),
    ("sin x", "write sin(...)"),
    ("sin(cos)", "column 5: 'cos' is a function"),
    ("x,y", "give each output as its own argument"),
    ("lambda: x", "'lambda' is reserved: choose another name, such as lam"),
    ("x if y else z", "'if' is reserved"),
    ("1if x else y", "'if' is reserved"),
    ("x and y", "'and' is reserved"),
    ("not x", "'not' is reserved"),
    ("x is y", "'is' is reserved"),
    ("await x", "'await' is reserved"),
    ("yield x", "'yield' is reserved"),
    ("True", "'True' is reserved"),
    ("None", "'None' is reserved"),
    ("[x]", "round brackets"),
    ("x[0]", "round brackets"),
    ("{x}", "round brackets"),
    ("x)", "column 2: ')' is not accepted: it closes no bracket"),
    ("(x", "column 1: '(' is never closed"),
    ("(x]", "round brackets"),
    ("x;y", "';' is not accepted"),
    ("x\ny", "column 2: U+000A"),
    ("x\ty", "plain spaces"),
    ("x\x00y", "U+0000"),
    ("x\\\ny", "U+000A"),
    ("x\\y", "is not accepted"),
    ("\uff58", "U+FF58 (fullwidth latin small letter x)"),
    ("\u03b2", "U+03B2 (greek small letter beta)"),
    ("x\u2212y", "column 2: U+2212 (minus sign) is not accepted: write -"),
    ("x\u00b2", "write **2"),
    ("x\u200by", "U+200B"),
    ("\ud800", "U+D800"),
    ("x\u202ey", "U+202E"),
    ("f'x'", "quotes"),
    ('"x"', "quotes"),
    ("b'x'", "quotes"),
    ("`x`", "quotes"),
    ("x := 1", "right-hand side"),
    ("y = x", "column 3: '=' is not accepted: give only the right-hand side"),
    ("x == y", "right-hand side"),
    ("x < y < z", "comparison"),
    ("x != y", "comparison"),
    ("x -> y", "comparison"),
    ("*x", "column 1: expected"),
    ("**x", "column 1: expected"),
    ("x*/y", "after '*'"),
    ("x***y", "after '**'"),
    ("x @ y", "write * for a product"),
    ("x // y", "write / for a quotient"),
    ("x % y", "'%' is not accepted"),
    ("x & y", "bit operators"),
    ("x | y", "write abs(x)"),
    ("~x", "bit operators"),
    ("x << 2", "'<<'"),
    ("x!", "factorial"),
    ("x?", "'?'"),
    ("$x", "'$'"),
    ("#x", "'#'"),
    ("x # c", "'#'"),
    ("x**sin(y)", "column 4: an exponent is made of names and numbers"),
    ("x**sqrt(2)", "names and numbers"),
    ("x/0", "column 3: division by zero"),
    ("x/(1 - 1)", "division by zero"),
    ("x/0.0", "division by zero"),
    ("x/sqrt(0)", "division by zero"),
    ("x**(1/0)", "division by zero"),
    ("0**-1", "division by zero"),
    ("(1 - 1)**(-1/2)", "division by zero"),
    ("sqrt(-2)", "not real"),
    ("(-8)**(1/3)", "not real"),
    ("log(0)", "positive"),
    ("log(1 - 2)", "positive"),
]


def refusal(text, parse=parse_expression):
    """Return the refusal of what cannot be read, whose message is one short line."""
    with pytest.raises(LanguageError) as caught:
        parse(text)
    message, column = str(caught.value), caught.value.column
    assert message.isascii()
    assert message.isprintable()
    assert len(message) <= 300
    if parse is parse_expression:
        assert column is not None
        assert message.startswith(f"column {column}: ")
    return caught.value


@pytest.mark.parametrize(("text", "piece"), REFUSED, ids=[ascii(t)[:30] for t, _ in REFUSED])
def test_refused_text_is_refused_in_one_line_that_helps(text, piece):
    assert piece in str(refusal(text))


@pytest.mark.parametrize("space", ["", " ", "     "])
def test_columns_count_leading_spaces(space):
    assert refusal(space + "x + foo(y)").column == len(space) + 5
    assert refusal(space + "x**sin(y)").column == len(space) + 4
    assert refusal(space + "1 + x/0").column == len(space) + 7


NASTY = st.text(
    st.one_of(
        st.sampled_from("xyeE019 .()+-*/^_,=:;[]{}'\"\\\n\t\x00#@%&|~!<>?$`\uff58\u2212\ud800"),
        st.characters(),
    ),
    max_size=60,
)
WORDS = "x y1 sin sqrt( exp( log( ( ) + - * / ** 0 1 2 64 0.5 1e3 9 1/2 (x) lambda if , = . _"
PIECES = st.lists(st.sampled_from(WORDS.split()), max_size=30).map("".join)


@settings(max_examples=150, deadline=None)
@given(st.one_of(NASTY, PIECES))
@example("x" * 4000)
@example("1" * 4000)
@example("(x)" * 1300)
@example("x*" * 1999 + "x")
@example("2**" * 1333 + "x")
@example(("----------1**" * 6 + "(") * 50 + "x" + ")" * 50)
def test_any_text_is_read_or_refused(text):
    try:
        parse_expression(text)
    except LanguageError:
        refusal(text)
