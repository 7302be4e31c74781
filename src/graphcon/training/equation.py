"""The equation that a recipe of GraphCON integrates, in a line."""

from graphcon.training.config import Recipe


def equation(recipe: Recipe) -> str:
    """As its settings have it, with what they add to the paper's, e.g. ``X'' = tanh(F(X) + X R) - 0.4 X - 0.1 X'``.

    R is the linear term inside the activation, N a normalisation, b X(0) the source; * is a learned factor.
    """
    model = recipe.model
    inside = "F(X) + X R" if model.residual else "F(X)"
    inside = f"N({inside})" if model.options.get("norm", "none") != "none" else inside
    inside = inside if model.source is None else f"{inside} + b X(0)"
    force = inside if model.act in (None, "identity") else f"{model.act}({inside})"
    learned = "*" if model.trainable else ""
    pulls = ((model.gamma, "X"), (model.alpha, "X'"))
    return f"X'' = {force}" + "".join(f" - {learned}{size:g} {on}" for size, on in pulls if size or learned)
