"""The errors that the command line tells without a traceback. Nothing here imports PyTorch."""


class InputError(ValueError):
    """Bad input from outside: a file, a row, a column, an option.

    The message names it, the rule it breaks and the cure. The command line prints it without a traceback and leaves
    with exit code 2.
    """


class LossError(ArithmeticError):
    """The loss, or a weight, became NaN or infinite."""


class ProcessError(RuntimeError):
    """A process that did part of the work was ended from outside."""
