"""Q written in beta: explicit, algebraic, parametric or as an integral, each accepted by proof."""
