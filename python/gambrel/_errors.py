"""The exception of this package: every fault with its file, its place, the value found and what was expected."""
from __future__ import annotations

import re
from typing import NamedTuple, Sequence

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_EXPECTED = re.compile(r"expected (.+)$", re.DOTALL)


class Fault(NamedTuple):
    """One thing that was wrong. A part that a fault does not have is empty."""

    where: str
    """File and path inside it, or the argument, as the library names it."""
    what: str
    """The whole sentence."""
    file: str
    """The file, or the argument."""
    place: str
    """The place inside the file: a line, a field."""
    value: str
    """What was found."""
    expected: str
    """What was expected instead."""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


def _fault(where: str, what: str) -> Fault:
    file, _, place = where.partition(": ")
    value = _QUOTED.search(what)
    expected = _EXPECTED.search(what)
    return Fault(where, what, file, place, value.group(1) if value else "", expected.group(1) if expected else "")


class Error(Exception):
    """What could not be done. Attributes of the first fault are the exception's own."""

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        self.faults: list[Fault] = [_fault(where, what) for where, what in faults]
        super().__init__("\n".join(str(fault) for fault in self.faults))

    def __reduce__(self) -> tuple[type[Error], tuple[list[tuple[str, str]]]]:
        # An exception is pickled by its arguments, which are the text: processes of a pool would lose the faults.
        return type(self), ([(fault.where, fault.what) for fault in self.faults],)

    @property
    def file(self) -> str:
        return self.faults[0].file

    @property
    def place(self) -> str:
        return self.faults[0].place

    @property
    def value(self) -> str:
        return self.faults[0].value

    @property
    def expected(self) -> str:
        return self.faults[0].expected
