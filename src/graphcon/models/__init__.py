"""Whole networks: encode, oscillate, decode; and the plain stacks they are compared with."""

from graphcon.models.base import READOUTS, GraphNet
from graphcon.models.inputs import InputEncoder
from graphcon.models.net import GraphCONNet
from graphcon.models.stack import Stack, StackNet

__all__ = ["READOUTS", "GraphCONNet", "GraphNet", "InputEncoder", "Stack", "StackNet"]
