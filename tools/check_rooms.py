#!/usr/bin/env python3
"""Do the rooms include only what DESIGN.md lets them, and are the files short?

check_rooms.py [ROOT]      checks the tree at ROOT (default: this repository); exit status 1 if it has faults
check_rooms.py --self-test  plants each fault in a tree of its own and fails if one goes unseen
"""
import re
import sys
import tempfile
from pathlib import Path

# A room includes only rooms before it in this list. Of another room it includes the public header,
# include/gambrel/<room>.hpp, and nothing else; the toolbox of `base` is open to all.
ROOMS = ["base", "units", "machine", "kernel", "network", "mapping", "ingest", "measure", "roofline", "delta", "sim",
         "estimate", "trace", "load", "compare", "validate", "explore", "inpage", "chart", "report", "app"]
OPEN_ROOMS = {"base"}
# The drawing tools of `chart` (canvas, SVG writer, palette) are open to `report`, whose Roofline is its own drawing.
OPEN_TOOLBOXES = {("report", "chart")}
# A second public header of a room, for a noun of its own: `layer.hpp` has what network.hpp's readers give, `architecture.hpp`
# what all machines of one generation share, `placement.hpp` what a search over designs shares of the model.
EXTRA_HEADERS = {
    "architecture.hpp": "machine",
    "layer.hpp": "network",
    "placement.hpp": "delta",
    "version.hpp": "base",
}
# Private doors that still stand open.
OPEN_DOORS = set()

LINE_LIMITS = {"src": 300, "app": 300, "include": 300, "python": 300, "tests": 500, "web": 300}
SOURCES = {".cpp", ".hpp", ".ts", ".py"}
RANK = {room: rank for rank, room in enumerate(ROOMS)}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def allowed(room):
    return ", ".join(ROOMS[:RANK[room] + 1])


def room_of_header(name):
    """The room of include/gambrel/<name>; None if there is no such room."""
    stem = name.removesuffix(".hpp")
    return stem if stem in RANK and stem != "app" else EXTRA_HEADERS.get(name)


def room_of_file(path):
    """The room of a path relative to the root; None if the file is in no room that is known."""
    top = path.parts[0]
    if top == "app":
        return "app"
    if top == "include":
        return room_of_header(path.name)
    return path.parts[1] if len(path.parts) > 2 and path.parts[1] in RANK else None


def target_room(root, path, quote, included):
    """(room, None) of what an include names, (None, fault), or (None, None) for a header of another project."""
    parts = Path(included).parts
    if parts[0] == "gambrel":
        room = room_of_header(parts[-1])
        return (room, None) if room else (None, "a public header of no room; include/gambrel/<room>.hpp is a room's only one")
    if quote == "<":
        return None, None
    if parts[0] in RANK and len(parts) > 1:
        return parts[0], None
    if (root / path.parent / included).is_file():
        return room_of_file(path), None
    return None, f'in no room; write "room/header.hpp", with one of {", ".join(RANK)}'


def include_faults(root, path, room, lines):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, included = match.groups()
        place = f"{path}:{number}: #include {included}"
        if included == "iostream" and path.parts[0] != "app":
            yield f"{place}: the library never prints; return text or Errors"
        other, fault = target_room(root, path, quote, included)
        if fault:
            yield f"{place}: {fault}"
        elif other and path.parts[0] == "include" and not included.startswith("gambrel/"):
            yield f"{place}: a public header includes only public headers, src/ is not installed"
        elif other and other != room and RANK[other] >= RANK[room]:
            yield f"{place}: {room} may not include {other}; allowed: {allowed(room)}"
        elif other and other != room and quote == '"' and other not in OPEN_ROOMS \
                and (room, other) not in OPEN_TOOLBOXES and (room, included) not in OPEN_DOORS:
            yield f"{place}: private to {other}; other rooms include <gambrel/{other}.hpp>"


def faults(root):
    seen = 0
    for top, limit in LINE_LIMITS.items():
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SOURCES:
                continue
            seen += 1
            path = file.relative_to(root)
            lines = file.read_text(encoding="utf-8").splitlines()
            if len(lines) > limit:
                yield f"{path}: {len(lines)} lines; at most {limit}: which noun is missing?"
            if top in ("python", "tests", "web"):
                continue
            room = room_of_file(path)
            if room is None:
                yield f"{path}: in no room that tools/check_rooms.py knows; the rooms are {', '.join(RANK)}"
            else:
                yield from include_faults(root, path, room, lines)
    if seen == 0:
        yield f"{root}: no sources found"


def self_test():
    # file, its text, and a word of the fault that it must give; None: it must give none.
    cases = [
        ("src/units/a.cpp", "#include <gambrel/machine.hpp>\n", "may not include machine"),
        ("src/report/a.cpp", '#include "sim/b.hpp"\n', "private to sim"),
        ("app/a.cpp", '#include "ingest/b.hpp"\n', "private to ingest"),
        ("src/units/a.cpp", "int a;\n  #  include \"report/b.hpp\"\n", "src/units/a.cpp:2"),
        ("src/machine/a.cpp", '#include "kernel/b.hpp"\n', "may not include kernel"),
        ("src/ingest/ncu/a.cpp", "#include <gambrel/roofline.hpp>\n", "allowed: base, units, machine"),
        ("src/attic/a.cpp", "\n", "in no room"),
        ("src/loose.cpp", "\n", "in no room"),
        ("src/units/a.cpp", '#include "attic/a.hpp"\n', "in no room"),
        ("src/units/a.cpp", "#include <gambrel/new.hpp>\n", "of no room"),
        ("src/units/a.cpp", "#include <iostream>\n", "never prints"),
        ("include/gambrel/new.hpp", "\n", "in no room"),
        ("include/gambrel/units.hpp", '#include "base/embedded.hpp"\n', "only public headers"),
        ("include/gambrel/kernel.hpp", "#include <gambrel/roofline.hpp>\n", "may not include roofline"),
        ("src/units/a.cpp", "\n" * 301, "at most 300"),
        ("app/a.cpp", "\n" * 301, "at most 300"),
        ("tests/units/a_test.cpp", "\n" * 501, "at most 500"),
        ("web/a.ts", "\n" * 301, "at most 300"),
        ("python/src/a.cpp", "\n" * 301, "at most 300"),
        ("README.md", "\n", "no sources"),
        ("src/units/a.cpp", "#include <vector>\n#include <tl/expected.hpp>\n", None),
        ("src/report/a.cpp", '#include "chart/text.hpp"\n', None),
        ("app/a.cpp", '#include "chart/text.hpp"\n', "private to chart"),
        ("src/report/a.cpp", '#include "report/b.hpp"\n#include <gambrel/roofline.hpp>\n', None),
        ("app/a.cpp", '#include <iostream>\n#include "base/b.hpp"\n#include <gambrel/report.hpp>\n', None),
        ("tests/units/a_test.cpp", '#include "report/b.hpp"\n' * 500, None),
    ]
    wrong = 0
    for name, text, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            found = list(faults(Path(folder)))
        if (not found) if expected is None else (len(found) == 1 and expected in found[0]):
            continue
        wrong += 1
        print(f"check_rooms: self-test: {name} with {text[:50]!r}: expected {expected!r}, found {found}", file=sys.stderr)
    return wrong


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found = list(faults(root))
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
