"""``python -m gapcut``: the command, where the folder of scripts is not on the path."""

import sys

from gapcut.cli import main

sys.exit(main())
