"""Whole networks: encode, oscillate, decode."""

from graphcon.models.net import READOUTS, GraphCONNet

__all__ = ["READOUTS", "GraphCONNet"]
