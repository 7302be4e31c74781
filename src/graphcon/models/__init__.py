"""Whole networks: encode, oscillate, decode; the plain stacks they are compared with; and all rivals by name."""

from graphcon.models.base import READOUTS, GraphNet
from graphcon.models.card import CoreNet, ModelCard
from graphcon.models.inputs import InputEncoder
from graphcon.models.net import GraphCONNet
from graphcon.models.registry import MODELS, find
from graphcon.models.stack import Stack, StackNet

__all__ = [
    "MODELS",
    "READOUTS",
    "CoreNet",
    "GraphCONNet",
    "GraphNet",
    "InputEncoder",
    "ModelCard",
    "Stack",
    "StackNet",
    "find",
]
