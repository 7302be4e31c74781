"""The error a user can cure."""


class InputError(ValueError):
    """Bad input from outside: a file, a row, a column, an option.

    The message names it, the rule it breaks and the cure. The command line prints it without a traceback and leaves
    with exit code 2.
    """


class ProcessError(RuntimeError):
    """A process that did part of the work was ended from outside."""
