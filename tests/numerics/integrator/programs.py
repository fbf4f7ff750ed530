"""Programs of F and J^T lambda, lambda given; and jets that run through a program."""

from derive.language import parse_expression
from numerics.integrator.builder import Builder, compile_forward
from numerics.integrator.jets import Program, Series, bits_of, scaled


def compile_gradient(outputs, weights, seed=None):
    """Compile d expressions in p weights to ``F_1 .. F_d`` and then ``(J^T lambda)_1 .. _p``.

    The *seed* writes lambda; without it, it is d more inputs, named ``"lambda 1" .. "lambda d"``.
    """
    extra = () if seed is not None else tuple(f"lambda {i + 1}" for i in range(len(outputs)))
    builder = Builder((*weights, *extra))
    values = tuple(builder.tree(output) for output in outputs)
    seeds = [builder.input(name) for name in extra] if seed is None else seed(builder, values)
    gradient = builder.reverse(values, seeds)
    return builder.tape([*values, *gradient[: len(weights)]])


def pendulum():
    """``w' = v, v' = -sin w - w v / 5``."""
    return compile_forward([*map(parse_expression, ("v", "-sin(w) - w*v/5"))], ["w", "v"])


def propagate(tape, inputs, digits):
    """Run K coefficients of each input through a tape to those of the outputs; values if K = 1."""
    bits = bits_of(digits)
    jets = [Series(bits) for _ in tape.inputs]
    outputs, advance = Program(tape, bits).run(jets)
    orders = len(inputs[0]) if inputs else 1
    for k in range(orders):
        for jet, given in zip(jets, inputs, strict=True):
            jet.place(*scaled(given[k], bits))
        advance()
    return tuple(tuple(x.value(k) for k in range(orders)) for x in outputs)
