"""``python -m graphcon.cli`` is ``graphcon``."""

import sys

from graphcon.cli import main

if __name__ == "__main__":  # processes that are started anew import this file, too
    sys.exit(main())
