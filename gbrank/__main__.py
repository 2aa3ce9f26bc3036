"""``python -m gbrank`` is the ``gbrank`` command."""

import sys

from gbrank.commands.cli import main

sys.exit(main())
