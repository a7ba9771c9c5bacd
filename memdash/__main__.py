"""``python -m memdash``: the command line."""

import sys

from memdash.cli import main

sys.exit(main())
