"""A loss of JAX, as a user's module has it, which other processes import."""

from typing import Any


def softmax(scores: Any, labels: Any, mask: Any) -> Any:
    """Softmax cross-entropy with labels as targets."""
    import jax
    import jax.numpy as jnp

    log_p = jax.nn.log_softmax(jnp.where(mask, scores, -1e30), axis=-1)
    return -(jnp.where(mask, labels, 0.0) * log_p).sum(-1)
