"""The command line: parse, call, print. What the commands do lives in the other rooms."""

import errno
import io
import logging
import os
import sys
from pathlib import Path

from graphcon import __version__
from graphcon._files import cache_folder
from graphcon.cli import inside, lists, machine, paper, training, use  # noqa: F401  # they register their commands
from graphcon.cli._app import app
from graphcon.cli.overview import ABOUT, WORKFLOW, show_overview
from graphcon.errors import InputError, LossError, ProcessError
from graphcon.training import arguments
from graphcon.training.interrupt import heed_sigterm

__all__ = ["WORKFLOW", "main"]

#: So often a waiting thread looks whether there is work before it sleeps. GNU OpenMP's own 300,000 hold a core that
#: others want: beside one busy process, on two cores, they make every step tens of times slower.
SPINS = "10000"

#: What cures a place that cannot be written, by what the system says of it.
GOES_ON = "Then type the same command again; a single training continues with: graphcon train --resume RUN"
UNWRITABLE = {
    errno.EACCES: "Name a place that you may write to",
    errno.EPERM: "Name a place that you may write to",
    errno.EROFS: "Name a place that can be written",
    errno.ENAMETOOLONG: "Name a shorter one",
    errno.ENOSPC: f"Make room. {GOES_ON}",
    errno.EDQUOT: f"Make room. {GOES_ON}",
    errno.EFBIG: "Raise the limit on the size of files",
    errno.EEXIST: "A folder is needed there: name another place",
    errno.ENOTDIR: "A folder is needed there: name another place",
    errno.EISDIR: "A file is needed there: name another place, or move the folder",
    errno.EIO: f"Check the disk for faults. {GOES_ON}",
}


def main(argv: list[str] | None = None) -> int:
    """Runs one command; returns 0 done, 1 a failure inside, 2 bad input or usage, 130 interrupted, 141 unread."""
    argv = sys.argv[1:] if argv is None else argv
    _leave_cores_to_others()
    _tell_what_takes_long()
    _print_anywhere()
    heed_sigterm()
    if argv == ["--version"]:
        print(f"graphcon {__version__}")
        return 0
    try:
        recipe, argv = arguments.read_recipe(argv)
        training.register(recipe)
        if argv in ([], ["-h"], ["--help"]):
            show_overview()
            return 0
        code = app.cli(prog="graphcon", description=ABOUT, args=argv)
        return code if isinstance(code, int) else 0
    except InputError as error:
        print(f"graphcon: {error}", file=sys.stderr)
        return 2
    except (LossError, ProcessError) as error:
        print(f"graphcon: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("graphcon: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read the output has gone, as `head` does; what is left of it goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        print(f"graphcon: {error.filename or 'output'}: {error.strerror}. {_cure(error)}", file=sys.stderr)
        return 2


def _cure(error: OSError) -> str:
    """What helps where a file cannot be written; where the cache lies is not what an option says."""
    cache = cache_folder()
    if error.filename and (cache.is_relative_to(error.filename) or Path(error.filename).is_relative_to(cache)):
        return "Set GRAPHCON_CACHE to a folder that you may write to"
    return UNWRITABLE[error.errno or 0]


def _leave_cores_to_others() -> None:
    """Lets a thread that waits give up its core sooner, unless the user has said how threads wait.

    It is OpenMP's, and read when PyTorch is loaded, which no command has done by now.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)


def _print_anywhere() -> None:
    """Lets signs that a terminal does not know stand there by their numbers, in place of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _Told(logging.Handler):
    """What the package logs, as that a large table is being read, beside the answers."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"graphcon: {record.getMessage()}", file=sys.stderr, flush=True)


def _tell_what_takes_long() -> None:
    logger = logging.getLogger("graphcon")
    if not logger.handlers:
        logger.addHandler(_Told())
        logger.setLevel(logging.INFO)
