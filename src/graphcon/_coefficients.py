"""The coefficients of the oscillators: two numbers, or as many per channel where they are learned."""

from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import Module, Parameter, UninitializedParameter
from torch.nn.parameter import is_lazy

from graphcon._validation import check_number


class Coefficients(Module):
    r"""A module with a damping :math:`\alpha` and a squared frequency :math:`\gamma`.

    Args:
        alpha: The damping, or where it is learned from.
        gamma: The squared frequency, or where it is learned from.
        trainable: Learns both per channel, once :meth:`_learn` was told how many there are.
    """

    def __init__(self, alpha: float, gamma: float, trainable: bool):
        super().__init__()
        self._start = {
            "alpha": check_number("alpha", alpha, positive=False),
            "gamma": check_number("gamma", gamma, positive=False),
        }
        self.trainable = trainable

    @property
    def alpha(self) -> float | Tensor:
        """The damping: a number, or one per channel where it is learned."""
        return self._coefficient("alpha")

    @property
    def gamma(self) -> float | Tensor:
        """The squared frequency: a number, or one per channel where it is learned."""
        return self._coefficient("gamma")

    def _reset_coefficients(self) -> None:
        """Resets what is learned to the values given at the start."""
        for name, value in self._start.items() if self.trainable else ():
            parameter = cast(Parameter, getattr(self, f"raw_{name}"))
            if not is_lazy(parameter):
                torch.nn.init.constant_(parameter, value)

    def _coefficient(self, name: str) -> float | Tensor:
        if not self.trainable:
            return self._start[name]
        raw = cast(Tensor, getattr(self, f"raw_{name}"))
        # Reflected at zero: never negative, exact at the start, and a coefficient that starts at zero still learns.
        return torch.where(raw >= 0, raw, -raw)

    def _learn(self, channels: int | None) -> None:
        """Makes what is learned; without a number of channels that waits for the first input."""
        for name in self._start:
            setattr(self, f"raw_{name}", _unset(channels))
        self._reset_coefficients()

    @property
    def _waiting(self) -> bool:
        """Whether the number of channels is not known yet."""
        return self.trainable and isinstance(self.raw_alpha, UninitializedParameter)  # which a compiler follows

    def _materialize(self, x: Tensor) -> None:
        """Gives what is learned its width, where it is not known yet."""
        if self._waiting:
            for name in self._start:
                getattr(self, f"raw_{name}").materialize((x.size(-1),), device=x.device, dtype=x.dtype)
            self._reset_coefficients()

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Saves what has not yet seen its width as it is: there is no number to detach."""
        waiting = self._waiting
        super()._save_to_state_dict(destination, prefix, keep_vars or waiting)
        for name, parameter in self._parameters.items() if waiting and not keep_vars else ():
            if parameter is not None and not is_lazy(parameter):
                destination[f"{prefix}{name}"] = parameter.detach()

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any) -> None:
        """Takes the width from what is loaded, where this is yet to learn it or that was."""
        for name in self._start if self.trainable else ():
            saved, parameter = state_dict.get(f"{prefix}raw_{name}"), getattr(self, f"raw_{name}")
            if saved is None:
                continue
            if is_lazy(saved):
                setattr(self, f"raw_{name}", _unset(None))
            elif is_lazy(parameter):
                parameter.materialize(saved.shape)  # in the type of this network, whatever that of the other
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)


def _unset(channels: int | None) -> Parameter:
    empty = UninitializedParameter() if channels is None else Parameter(torch.empty(channels))
    return cast(Parameter, empty)
