#!/usr/bin/env python3
"""Do the documents say what the tree and the binary have?

check_docs.py [--binary GAMBREL] [ROOT]   exit status 1 if one of these does not hold:
  the files that docs/tour.md names in backticks exist, and so do the targets of links in README, CONTRIBUTING and docs;
  docs/cli/SUB.md documents the options that `GAMBREL SUB --list-options` lists, and no others, and --help prints that file;
  the version is stated in CMakeLists.txt alone, and CHANGELOG.md has a heading for it;
  docs/decisions are numbered from 1 without a gap, and each heading has the number of its file;
  no file names a package registry's host;
  C++ that README.md shows is the text of a file in examples, which the tests build;
  nothing that a user reads (README, docs, data, sources, what the program prints) cites a folder that only its authors have.
check_docs.py --self-test   plants each fault in a tree of its own and fails if one goes unseen
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Split, so that this file passes its own check.
REGISTRIES = [
    ("pypi", "org"), ("pythonhosted", "org"), ("anaconda", "org"), ("npmjs", "org"), ("npmjs", "com"), ("crates", "io"),
    ("rubygems", "org"), ("golang", "org/dl"), ("maven", "org"), ("deb.debian", "org"), ("archive.ubuntu", "com"),
    ("ports.ubuntu", "com"), ("apt.llvm", "org"), ("apt.kitware", "com"), ("conan", "io"), ("docker", "io"),
    ("hub.docker", "com"), ("ghcr", "io"), ("quay", "io"), ("nvcr", "io"), ("developer.download.nvidia", "com"),
]
REGISTRY = re.compile("|".join(rf"\b{re.escape(name)}\.{re.escape(end)}\b" for name, end in REGISTRIES))

# What its users see of the project; tests and tools may read the data of the authors in place.
USERS_READ = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "data", "examples", "include", "src", "app", "web"}
PRIVATE = re.compile(r"(?<![\w-])shared/")

NOT_SOURCE = {".git", "build", ".cache", "__pycache__"}
BACKTICKS = re.compile(r"`([^`\s]+)`")
LINK = re.compile(r"(?:\]\(|<img src=\")([^)\s\"]+)")
OPTION_LINE = re.compile(r"^\s*- ((?:`-[^`]*`(?:, | or )?)+)")
OPTION_NAME = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*|(?<![\w-])-[a-zA-Z](?![\w-])")


def text_files(root):
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root)
        # .git is a file in a worktree; symlinks lead out of the tree.
        if NOT_SOURCE & set(path.parts) or file.is_symlink() or not file.is_file():
            continue
        try:
            yield path, file.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue


def looks_like_path(word):
    return "/" in word.rstrip("/") or word.endswith("/") or re.fullmatch(r"[\w.-]+\.(md|cpp|hpp|json|txt|py|sh|cmake)", word)


def tour_faults(root):
    tour = root / "docs/tour.md"
    if not tour.is_file():
        yield "docs/tour.md: missing"
        return
    for number, line in enumerate(tour.read_text(encoding="utf-8").splitlines(), 1):
        for word in BACKTICKS.findall(line):
            if looks_like_path(word) and not (root / word).exists() and not any(root.glob(word)):
                yield f"docs/tour.md:{number}: `{word}` does not exist"


def link_faults(root):
    documents = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    for document in documents:
        if not document.is_file():
            continue
        for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
            for link in LINK.findall(line):
                target = link.split("#")[0]
                if target and "://" not in target and not (document.parent / target).exists():
                    yield f"{document.relative_to(root)}:{number}: link to {target}, which does not exist"


def documented_options(document):
    options = set()
    for line in document.read_text(encoding="utf-8").splitlines():
        match = OPTION_LINE.match(line)
        if match:
            options |= set(OPTION_NAME.findall(match.group(1)))
    return options


def ask(binary, arguments):
    answer = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=60, check=False)
    return answer.returncode, answer.stdout


def words(text):
    """The words alone: --help may drop Markdown's marks and wrap lines differently."""
    return " ".join(re.findall(r"\w+", text)).lower()


def option_faults(path, document, binary, subcommand):
    status, listing = ask(binary, [subcommand, "--list-options"])
    if status != 0:
        yield f"{path}: gambrel {subcommand} --list-options gave exit status {status}"
        return
    known = set(OPTION_NAME.findall(listing)) - {"--list-options"}
    documented = documented_options(document)
    for option in sorted(known - documented):
        yield f"{path}: {option} is an option of gambrel {subcommand} and has no line \"- `{option}`\""
    for option in sorted(documented - known):
        yield f"{path}: {option} is not an option of gambrel {subcommand}"


def cli_faults(root, binary):
    documents = sorted((root / "docs/cli").glob("*.md"))
    if not documents:
        yield "docs/cli: no documents"
    for document in documents:
        path = document.relative_to(root)
        # gambrel.md is the head of the binary's own help, which has no options to list.
        subcommand = [] if document.stem == "gambrel" else [document.stem]
        if subcommand:
            yield from option_faults(path, document, binary, subcommand[0])
        status, shown = ask(binary, [*subcommand, "--help"])
        if status != 0 or words(document.read_text(encoding="utf-8")) not in words(shown):
            yield f"{path}: gambrel {' '.join(subcommand)} --help does not print this file"


def version_faults(root):
    build = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    match = re.search(r"project\(gambrel VERSION (\d+\.\d+\.\d+)", build)
    if not match:
        yield "CMakeLists.txt: no project(gambrel VERSION x.y.z"
        return
    version = match.group(1)
    again = re.compile(rf"(gambrel|version).*(?<![\d.]){re.escape(version)}(?![\d.])", re.IGNORECASE)
    for path, lines in text_files(root):
        if path.name in {"CMakeLists.txt", "CHANGELOG.md"}:
            continue
        for number, line in enumerate(lines, 1):
            if again.search(line):
                yield f"{path}:{number}: states version {version} again; CMakeLists.txt is the one place"
    changelog = root / "CHANGELOG.md"
    if not changelog.is_file() or f"## [{version}]" not in changelog.read_text(encoding="utf-8"):
        yield f"CHANGELOG.md: no heading ## [{version}]"


def decision_faults(root):
    for expected, file in enumerate(sorted((root / "docs/decisions").glob("*.md")), 1):
        heading = file.read_text(encoding="utf-8").splitlines()[0]
        if not file.name.startswith(f"{expected:04}-") or not heading.startswith(f"# {expected}. "):
            yield f"{file.relative_to(root)}: expected decision {expected}, found the heading {heading!r}"


def registry_faults(root):
    for path, lines in text_files(root):
        for number, line in enumerate(lines, 1):
            match = REGISTRY.search(line)
            if match:
                yield f"{path}:{number}: names the package registry {match.group(0)}"


def snippet_faults(root):
    readme = root / "README.md"
    sources = [file.read_text(encoding="utf-8") for file in (root / "examples").rglob("*.cpp")]
    for snippet in re.findall(r"^```cpp\n(.*?)^```$", readme.read_text(encoding="utf-8") if readme.is_file() else "", re.M | re.S):
        if snippet not in sources:
            yield f"README.md: the C++ that begins {snippet.splitlines()[0]!r} is not a file of examples/"


def citation_faults(root):
    for path, lines in text_files(root):
        if path.parts[0] not in USERS_READ:
            continue
        for number, line in enumerate(lines, 1):
            if PRIVATE.search(line):
                yield f"{path}:{number}: cites shared/, which no reader can open; name the public source"


def faults(root, binary=None):
    yield from tour_faults(root)
    yield from link_faults(root)
    yield from version_faults(root)
    yield from decision_faults(root)
    yield from registry_faults(root)
    yield from citation_faults(root)
    yield from snippet_faults(root)
    if binary:
        yield from cli_faults(root, binary)


GOOD_TREE = {
    "CMakeLists.txt": "project(gambrel VERSION 1.2.3)\n",
    "CHANGELOG.md": "## [1.2.3]\n",
    "README.md": "[tour](docs/tour.md#start) and [elsewhere](https://example.org)\n",
    "examples/a.cpp": "int x;\n",
    "docs/decisions/0001-a.md": "# 1. A\n",
    "docs/tour.md": "Read `docs/tour.md`, then call `f(x)`.\n",
    "docs/cli/analyze.md": "# gambrel analyze\n\n- `-o`, `--output FILE`: where\n- `--json [-|F]`: as JSON\n- plain\n",
}
# Stands for the binary: knows -o, --output and --json of analyze and prints its help.
FAKE_BINARY = """#!/bin/sh
[ "$1$2" != gone--help ] || { echo gambrel analyze; exit 0; }
[ "$1" = analyze ] || exit 2
case $2 in
--list-options) printf '%s\\n' -o --output --json --list-options ;;
--help) echo "gambrel analyze: -o, --output FILE where; --json [-|F]   as JSON; plain"
        echo "gambrel analyze -o --output FILE where --x --json --f" ;;
esac
"""


def self_test():
    # file, its text instead of the good one, and a word of the one fault that it must give; None: no fault.
    cases = [
        ("README.md", GOOD_TREE["README.md"], None),
        ("README.md", "[gone](docs/gone.md)\n", "README.md:1: link to docs/gone.md"),
        ("README.md", '<img src="gone.png">\n', "README.md:1: link to gone.png"),
        ("docs/tour.md", "\n`src/gone/gone.cpp`\n", "docs/tour.md:2: `src/gone/gone.cpp`"),
        ("docs/tour.md", "`gone.md`\n", "does not exist"),
        ("docs/cli/analyze.md", "# gambrel analyze\n- `-o`, `--output FILE` where\n", "--json is an option"),
        ("docs/cli/analyze.md", "# gambrel analyze\n- `-o`, `--output FILE` where `--x`\n- `--json`\n- `--f`\n", "--f is not an option"),
        ("docs/cli/analyze.md", GOOD_TREE["docs/cli/analyze.md"].replace("# gambrel analyze", "# else"), "does not print"),
        ("docs/cli/gone.md", "gambrel analyze\n", "gone --list-options gave exit status 2"),
        ("docs/decisions/0001-b.md", "# 1. B\n", "0001-b.md: expected decision 2"),
        ("docs/decisions/0002-b.md", "# 3. B\n", "0002-b.md: expected decision 2"),
        ("docs/decisions/0002-b.md", "# 2. B\n", None),
        ("src/a.hpp", 'const char* version = "1.2.3";\n', "src/a.hpp:1: states version"),
        ("src/a.hpp", 'const char* version = "11.2.3";\n', None),
        ("CHANGELOG.md", "## [1.2.2]\n", "no heading"),
        ("data/machines/a.json", '"cite": "shared/data/x.csv"\n', "data/machines/a.json:1: cites shared/"),
        ("README.md", "run it on `../shared/data`\n", "README.md:1: cites shared/"),
        ("README.md", "```cpp\nint main() {}\n```\n", "is not a file of examples/"),
        ("README.md", "```cpp\nint x;\n```\n", None),
        ("tests/a.cpp", "// reads ../shared/data in place\n", None),
        ("tools/a.sh", "get " + ".".join(REGISTRIES[0]) + "/x\n", "tools/a.sh:1: names the package registry"),
    ]
    wrong = 0
    for name, text, expected in cases:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as outside:
            for path, content in {**GOOD_TREE, name: text}.items():
                (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / path).write_text(content, encoding="utf-8")
            binary = Path(outside) / "gambrel"
            binary.write_text(FAKE_BINARY, encoding="utf-8")
            binary.chmod(0o755)
            found = list(faults(Path(folder), str(binary)))
        if (not found) if expected is None else (len(found) == 1 and expected in found[0]):
            continue
        wrong += 1
        print(f"check_docs: self-test: {name} with {text[:50]!r}: expected {expected!r}, found {found}", file=sys.stderr)
    return wrong


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    binary = None
    if arguments and arguments[0] == "--binary":
        binary, arguments = arguments[1], arguments[2:]
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found = list(faults(root, binary))
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
