"""``python -m assay``: the native command of this package."""

from __future__ import annotations

import os
import sys

from assay import _installed


def main() -> None:
    """Becomes the native command."""
    places = _installed.commands()
    for command in places:
        if os.path.isfile(command) and os.access(command, os.X_OK):
            os.execv(command, [command, *sys.argv[1:]])
    looked = "\n".join(f"  {place}" for place in places)
    sys.stderr.write(f"assay: the command is in none of these places; install the wheel again:\n{looked}\n")
    sys.exit(2)


if __name__ == "__main__":
    main()
