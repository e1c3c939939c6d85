"""Where the program `gambrel` of this installation is."""
from __future__ import annotations

import os
import sys
import sysconfig


def find_binary() -> str:
    """The path of the program. The environment variable GAMBREL_BINARY wins."""
    # auditwheel moves the program beside the package and leaves a script of Python's that starts it.
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [os.path.join(beside, "gambrel.scripts"), sysconfig.get_path("scripts")]
    for scheme in ("posix_user", "posix_home", "osx_framework_user"):
        if scheme in sysconfig.get_scheme_names():
            folders.append(sysconfig.get_path("scripts", scheme))
    # pip install --target: the scripts are beside the package.
    folders.append(os.path.join(beside, "bin"))
    candidates = [os.environ.get("GAMBREL_BINARY", "")] + [os.path.join(folder, "gambrel") for folder in folders]
    for path in candidates:
        if path and os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    sys.exit("gambrel: the program is not in this installation; looked in " + ", ".join(folders))
