"""Progress of long work on one line of standard error, in a terminal and in a notebook."""
from __future__ import annotations

import sys
import time
from typing import Callable, Union

Progress = Callable[[float, str], object]
ProgressOption = Union[bool, Progress, None]


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class _Line:
    """Shown only if the work takes longer than half a second; removed at its end."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._width = 0

    def __call__(self, fraction: float, doing: str) -> None:
        if time.monotonic() - self._start < 0.5:
            return
        text = f"{fraction:4.0%} {doing}"[:78]
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


class shown:
    """A context whose value is what the library calls with progress, or None."""

    def __init__(self, option: ProgressOption) -> None:
        self._line = _Line() if option is True or (option is None and _is_watched()) else None
        self._call = option if callable(option) else None

    def __enter__(self) -> Progress | None:
        return self._call or self._line

    def __exit__(self, *_: object) -> None:
        if self._line:
            self._line.close()
