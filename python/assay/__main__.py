"""The command ``assay``, which ``python -m assay`` runs too."""

from __future__ import annotations

import signal
import sys

from assay import _core, _installed


def main() -> None:
    """Runs the command with the arguments of this process."""
    # The command has its own handlers; where it has none, ctrl-c ends it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_core.command(["assay", *sys.argv[1:]], _installed.assets(), _installed.onnxruntime()))


if __name__ == "__main__":
    main()
