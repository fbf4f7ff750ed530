"""Programs of F and J^T lambda, lambda given."""

from derive.language import parse_expression
from numerics.integrator.builder import Builder, compile_forward


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
