"""`python -m gambrel ...` is the command `gambrel ...`."""
from __future__ import annotations

import os
import sys

from ._binary import find_binary

if __name__ == "__main__":
    binary = find_binary()
    os.execv(binary, ["gambrel", *sys.argv[1:]])
