"""``python -m gbrank`` is the ``gbrank`` command."""

import sys

from .commands.cli import main

sys.exit(main())
