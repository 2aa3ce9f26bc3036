"""``python -m gbrank`` is the ``gbrank`` command."""

import sys

from gbrank.cli import main

sys.exit(main())
