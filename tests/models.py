"""Models of every kind, most of which nobody published: F and its start, by what is decided."""

import functools

from derive import Parameterization, Verdict

YES, NO = Verdict.PROVED, Verdict.REFUTED

# Hessian map?, verdict: outputs, and where they start. Of those with ~ Q, the metric or the domain
# has no certificate yet; of all others everything has.
TEXTS = {
    (YES, YES): """
        w
        w**2
        w**2 from w=log(2)
        w**3 from w=-1
        -w**3 from w=1
        w**4
        ~ w**(3/4)
        1/w from w=-2
        sqrt(w)
        exp(w)
        exp(3*w) + 2
        log(w)
        log(w) from w=2
        sinh(w)
        cosh(w) from w=1
        asinh(w)
        ~ atan(w)
        tanh(w)
        sigmoid(w)
        softplus(w)
        sin(w) from w=1/2
        log(1 + w**2)
        log(cosh(w))
        ~ w + exp(w)
        w + w**3
        w + w**5
        w**3 + w**2
        w/(1 + w**2) from w=1/3
        ~ w/(1 + w**2) from w=-2
        p**2 - m**2
        p**2 - m**2 from p=1, m=0
        p**2 - m**2 from p=alpha, m=alpha
        p**3 - m**3 from p=alpha, m=alpha
        p**3 - m**3 from p=1, m=-1
        p**4 - m**4 from p=-1/2, m=-1/2
        p**4 - 2*m**4
        p**5 - m**5 from p=alpha, m=alpha
        3*p**2 - 2*m**2
        x**2 - 3*y**2
        x**2 + x*y + y**2
        u**2 + u**4
        u*v from u=0, v=1
        u*v from u=1, v=2
        u*v - x*y
        u1*v1 + u2*v2
        2*a*b + c*d/3
        ~ p*q - m*n
        ~ u*v + x
        ~ a*b - c*d + e*f/10 from a=1, b=1, c=1, d=1, e=1, f=1
        u*v + w**2 from w=0
        W + a*b
        ~ a*b + a**2
        w - w**3
        ~ sqrt(a**2 + b**2) + a
        a/sqrt(a**2 + b**2)
        a*sqrt(a**2 + b**2)
        ~ c + c*sqrt(a**2 + b**2)
        W + a*b + exp(v)
        ~ a*b*c
        a*b*c from a=s, b=s, c=t
        x*y*z from x=a, y=a, z=a
        u*v*w*x from u=-1, v=-1, w=1, x=1
        ~ p*q*r - x*y*z from p=3/2, q=3/2, r=3/2, x=3/2, y=3/2, z=3/2
        u**2*v
        u**2*v**2
        u*v**3
        u**2*v**4
        ~ a**3/(a**3 + b**3)
        sqrt(u**2 + v**2)
        log(u**2 + v**2)
        ~ exp(u**2 + v**2)
        log(p) - log(m) + 1
        exp(p) - exp(m)
        exp(p) - exp(m) from p=alpha, m=alpha
        ~ exp(a) + exp(b)
        a*exp(b)
        ~ a*atan(b)
        ~ a*sigmoid(b)
        atan(w) + softplus(w)
        x + y, x - y
        x, y**2
        w1**2, w2**3, w3
        u*v, x**2
        u*v, 3 - 2*u*v, x**2 from u=1, v=1, x=2
        u*v*w, p*q*r*s from u=1, v=1, w=1, p=1, q=1, r=1, s=1
        exp(u + v), exp(u - v)
        exp(u), exp(v), w**2
        x**2 + y**2, x*y
        ~ x**2 + y**2, x*y from x=1, y=-2
        ~ x + x**3 + y + y**3, x + x**3 - y - y**3
        x**2 + y**3, w**2, x**2 - y**3
        p**2 + q**2 + r**2 + s**2, 2*p*r + 2*q*s
        a*c + b*d, a*d + b*c
        ~ a*c + b*d, a*d + b*c from a=1, b=2, c=-1, d=1/2
        u1*v1 + u2*v2, u1*v2 + u2*v1, w**2
        a*b, c**2, e**3 - f**3 from e=t, f=t
        u*v*w from u=1, v=1, w=1
        u*v*w from u=1, v=1, w=-1
        u*v*w from u=a, v=a, w=a
        u**2*v**2 from u=1, v=1
        a*b + c*d from a=1, b=2, c=1, d=2
        exp(u*v)
        log(1 + exp(u*v))
        log(4 - w**2) from w=1/2
        log(u*v) from u=-1, v=-2
        2 + 4*w**3
        p**3 - q**3, p**3 + q**3
        a*b*c/10 from a=1/3, b=1/3, c=1/3
        (a + 2*b)*(c - d) from a=-1/2, b=-1, c=-1/2, d=-1/2
        log(exp(a) + exp(b)) from a=-1, b=-1
        u/(1 + v)
        ~ u*v + x**2
        p1**2 - m1**2, w**2
    """,
    (NO, YES): """
        ~ sqrt(a**2 + b**2), a
        sqrt(a**2 + b**2), a**2
        x, x*y
        x, x*y from x=-1, y=1
        x*y, x + y
        x*y, x + y from x=-3, y=1
        x*y*z, z from x=1, y=-1/2, z=1
        x*y*z, z from x=1, y=1/2, z=-1
        x*y*z, z from x=2, y=-1, z=-1
        ~ a + b**2, b
        p**2 + m**2, p - m
        x/(x + y + z), y/(x + y + z)
        a*u1, a*u2
        ~ a*u1, a*u2 from a=-2, u1=1/2, u2=-1/3
        a*u1, a*u2 from a=5/4, u1=3/4, u2=1
        a*u1, a*u2 from a=-s, u1=0, u2=t
        a*u1, a*u2 from a=1 - sqrt(2)
        a*u1, a*u2, a*u3
        a*u1, a*u2, a*u3 from a=1, u1=1, u2=0, u3=0
        a*u1, a*u2, a*u3, a*u4
        u1/a, u2/a
        a**2*u1, a**2*u2
        ~ a**2*u1, a**2*u2 from a=-1, u1=1/2, u2=1/3
        a**3*u1, a**3*u2
        a*b*u1, a*b*u2
        a*b*u1, a*b*u2 from a=s, b=s
        ~ a*b*u1, a*b*u2 from a=-1, b=-2, u1=1/2, u2=1/3
        ~ a*b*u1, a*b*u2 from a=1, b=-2, u1=1/2, u2=1/3
        ~ a*b*c*u1, a*b*c*u2
        ~ x**2*y*u, x**2*y*v from x=1, y=-1, u=1/2, v=0
        (x + y)*u, (x + y)*v
        a*(u1**2 - v1**2), a*(u2**2 - v2**2)
        ~ a*u1/(1 + a**2), a*u2/(1 + a**2)
        ~ sqrt(a)*u1, sqrt(a)*u2
        sqrt(a)*u1, sqrt(a)*u2 from a=2, u1=1, u2=1
        ~ sqrt(a)*u1, sqrt(a)*u2, sqrt(a)*u3
        ~ exp(a)*u1, exp(a)*u2
        log(a)*u1, log(a)*u2
        ~ sin(a)*u1, sin(a)*u2 from a=1
        ~ a*exp(u), a*exp(v)
        exp(u)*cos(v), exp(u)*sin(v)
        c*v1/sqrt(v1**2 + v2**2), c*v2/sqrt(v1**2 + v2**2)
        u1*(u1**2 + u2**2), u2*(u1**2 + u2**2)
        a**2 - b**2, 2*a*b
        a*c - b*d, a*d + b*c
        u*x - v*y, u*y + v*x
        a*u1 + b*v1, a*u2 + b*v2 from b=0, v1=0, v2=0
        a*u1 + b*v1, a*u2 + b*v2 from a=1, b=0, u1=2, u2=1, v1=0, v2=0
        a*u1 + b*v1, a*u2 + b*v2 from a=3, b=4, u1=9/5, u2=12/5, v1=12/5, v2=16/5
        a*u1 + b*v1, a*u2 + b*v2 from a=1, b=2, u1=3, u2=1, v1=6, v2=2
        p**2 + q**2 - r**2 - s**2, 2*p*r + 2*q*s, 2*q*r - 2*p*s
        p**2 + q**2 - r**2 - s**2, 2*p*r + 2*q*s, 2*q*r - 2*p*s from p=1, q=0, r=1/2, s=-1
        a + b, a*b
        a + b, a**2 + b**2
        exp(a)*cos(b), exp(a)*sin(b) from b=0
    """,
    (NO, NO): """
        x, (x - z)**2/2 + y
        x, (x - z)**2/2 + y from x=0, y=0, z=0
        x, (x - z)**2/2 + y from x=1, y=2, z=1
        x, x**2*y from x=0, y=1
        x*y, y/x
        1/(1 + y**2)*y*x, x**(2/3)
        sin(u)*asinh(y)*sinh(y), u*x*tanh(v)
        x*y, exp(x)
        sin(x)*y, x + y
        x/(x + y), y
        x + y, x**3 - y**3 from x=1, y=-2
        x*y, y*z, z*x
        x, y, x*y*z
        x**2*y, y**3
        5*b**3, a*b from a=-2, b=0
        a, a*b*c, a + c + a*c from a=-1, b=2, c=0
        a*u1 + u1, a*u2
        a*u, b*u + a
        exp(a)*u, a*v
        a*u, a*v, exp(w)
        a*u1, a*u2, w**2
        a*u1 + b*v1, a*u2 + b*v2
        a*u1 + exp(b)*v1, a*u2 + exp(b)*v2
        a*u1 + b*v1, a*u2 + b*v2, a*u3 + b*v3
        a*u + b*v, b*u + c*v, a*v + c*u
        a*d + b*f + c*e, a*e + b*d + c*f, a*f + b*e + c*d
        a**2 + b**2, a*c + b*d, c**2 + d**2
        a*e + b*f, a*g + b*h, c*e + d*f, c*g + d*h
    """,
}
VECTORS = """
    2*u
    a*u
    a*u from a=-5/4
    ~ a*u from u=0
    a*b*u
    ~ a*b*u from a=-5/4, b=3/4
    ~ a*b*u from a=-5/4, b=-3/4
    ~ a*b*u from a=1, b=1
    a*b*u from a=alpha, b=alpha, u=alpha
    ~ a*b*c*u
    ~ a**2*u
    a**3*u
    a**3*u from a=-1
    a**2*b*u
    ~ sqrt(a)*u
    ~ a**(3/2)*u
    (1 + a)*u
    (a + b)*u
    ~ (a - b)*u from a=1/4, b=5/4
    (a**2 - b**2)*u
    a/(1 + b)*u
    ~ norm(u)**2*u
    ~ (1 + norm(u)**2)*u
    ~ a*norm(u)**2*u
    ~ a*norm(u)**2*u from a=-2
    ~ a*b/norm(u)*u
    c/norm(u)*u
    c/norm(u)*u from c=-2
    (c - 1)/norm(u)*u
    c**2/norm(u)*u
    c**3/norm(u)*u
    c/norm(u)**2*u
"""
"""Of a vector u of open dimension; every one has a Q, with a warp unless phi is a constant."""


GIVEN = {
    "p*q - m*n": {"mirror": "p*log(p) + q*log(q) + m*log(m) + n*log(n)"},
    "u*v + x": {"rates": {"u": "u", "v": "1/9", "x": "x**2"}},
}
"""What else is said of some."""


LIMITS = """
    p**2 - m**2 from p=alpha, m=alpha: rich, kernel
    p**2 - m**2, q**2 - r**2 from p=alpha, m=alpha, q=2*alpha, r=2*alpha: rich, kernel
    p**3 - m**3 from p=alpha, m=alpha: rich, kernel
    p**5 - m**5 from p=alpha, m=alpha: rich, kernel
    p**D - m**D from p=alpha, m=alpha: rich, kernel
    p**2 - m**2 from p=alpha, m=2*alpha: rich, kernel
    u*v - x*y: rich, kernel
    u*v + 2*x*y from u=alpha, v=0, x=0, y=alpha: ?
    u*v - x*y from u=sqrt(alpha)/2, x=sqrt(alpha)/2, v=2*sqrt(alpha), y=2*sqrt(alpha): rich, kernel
    w**2 from w=alpha: rich, kernel
    2*w: kernel, kernel
    a*u1, a*u2: anti-NTK, kernel
    a*u1, a*u2 - a*u1: intermediate, kernel
    a*b*u1, a*b*u2 from a=alpha, b=alpha, u1=3*alpha/5, u2=4*alpha/5: anti-NTK, kernel
    a*b*u1, a*b*u2: anti-NTK, kernel
    w**2: rich, kernel
    w**3 from w=alpha: rich, kernel
    1/w from w=alpha: kernel, rich
    p**D - m**D from p=alpha, m=2*alpha: intermediate, kernel
    a*u1, a*u2 from a=alpha, u1=1, u2=2: intermediate, kernel
    u*x + v*y, u*y + v*x from u=alpha, v=0, x=alpha, y=0: rich, kernel
    u*x + v*y, u*y + v*x: rich, kernel
    p**2 - m**2 + q**2 - r**2, 2*p**2 - 2*m**2 - 3*q**2 + 3*r**2 from p=alpha, m=alpha, q=2*alpha, \
r=2*alpha: rich, kernel
    a*u + b*v, a*x + b*y from a=alpha, b=alpha, u=alpha, x=0, v=alpha, y=0: anti-NTK, kernel
    W + a*b from W=0, a=alpha, b=2*alpha: kernel, kernel
    a**2*b from a=alpha, b=2*alpha: rich, kernel
    a**3*b**2 from a=alpha, b=2*alpha: rich, kernel
    tanh(w) from w=alpha: intermediate, rich
    (1 + a)*(1 + b) from a=s, b=-alpha: intermediate, intermediate, intermediate, kernel
"""
"""And what their limits as alpha tends to 0 and to infinity are called; a free start is scaled."""


def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def read(line):
    """Return outputs, and the start, of "F, G from w=s, v=t"."""
    outputs, _, start = line.partition(" from ")
    return outputs.split(", "), dict(x.split("=") for x in start.split(", ")) if start else {}


MARKED = {line: verdicts for verdicts, text in TEXTS.items() for line in lines(text)}
OF_VECTORS = {x.removeprefix("~ ") for x in lines(VECTORS)}
MARKED |= {line: (YES if line == "2*u" else NO, YES) for line in lines(VECTORS)}
CERTIFIED_IN_PART = {line.removeprefix("~ ") for line in MARKED if line.startswith("~")}
DECIDED = {line.removeprefix("~ "): verdicts for line, verdicts in MARKED.items()}
COUPLED = [line for line in DECIDED if ", " in line.partition(" from ")[0]]


@functools.cache
def parsed(line):
    """Return the parameterization of a line."""
    more = {"vectors": ["u"]} if line in OF_VECTORS else GIVEN.get(line, {})
    return Parameterization.parse(*read(line), **more)
