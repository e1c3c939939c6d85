#!/usr/bin/env python3
"""Does every command that the documents show run, and does it print what they show?

check_examples.py --binary GAMBREL [ROOT]   runs the examples of README.md, docs and docs/cli; exit status 1 if one is wrong
check_examples.py --list [ROOT]             lists them, with the reason where one is not run
check_examples.py --update --binary GAMBREL puts what the commands print into the ```console blocks
check_examples.py --self-test               plants each fault in a tree of its own and fails if one goes unseen

An example is a line `$ gambrel ...` in a fenced ```console block, whose output follows it, a line `gambrel ...` in a fenced
```sh block, or one of a docs/cli page that is indented by four spaces (`mpirun ... gambrel` counts, too). It runs in bash in a
copy of examples/ of its document's own, in the order of the document, so that one example may read what another wrote.

A shown line `...` stands for any number of lines. `# status N` behind a command says that it ends with N instead of 0.
`# needs ...` or `# takes ...` behind a command is its reader's warning and the reason why it is not run here.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

FENCE = re.compile(r"^```(\w*)\s*$")
NOT_RUN = re.compile(r"#\s*((?:needs|takes) .+)$")
STATUS = re.compile(r"#\s*status (\d+)\s*$")
CLI_LINE = re.compile(r"^    (mpirun .*)?gambrel ")
SECONDS = 120


class Example:
    def __init__(self, document, line, command):
        self.document, self.line, self.command = document, line, command
        self.shown = None  # the lines that follow in a console block; None: nothing is shown
        self.end = line    # the last line of them

    def reason(self):
        match = NOT_RUN.search(self.command)
        return match.group(1) if match else None

    def status(self):
        match = STATUS.search(self.command)
        return int(match.group(1)) if match else 0

    def place(self):
        return f"{self.document}:{self.line}"


def examples_of(document, text):
    found, fence = [], None
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if match:
            fence = None if fence is not None else match.group(1)
            continue
        if fence == "console":
            if line.startswith("$ "):
                found.append(Example(document, number, line[2:]))
                found[-1].shown = []
            elif found and found[-1].document == document and found[-1].end == number - 1:
                if found[-1].command.endswith("\\"):
                    found[-1].command = found[-1].command[:-1] + line.strip()
                else:
                    found[-1].shown.append(line)
            if found:
                found[-1].end = number
        elif fence == "sh" and line.startswith("gambrel "):
            found.append(Example(document, number, line))
        elif fence is None and document.parts[:2] == ("docs", "cli") and CLI_LINE.match(line):
            found.append(Example(document, number, line.strip()))
    return [example for example in found if "gambrel " in example.command]


def documents_of(root):
    files = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return [(file.relative_to(root), file.read_text(encoding="utf-8")) for file in files if file.is_file()]


def matches(shown, printed):
    """Shown lines with `...` for any number of lines, against printed ones. Blanks at the ends of lines do not count."""
    if not shown:
        return not printed
    if shown[0].strip() == "...":
        return any(matches(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and shown[0].rstrip() == printed[0].rstrip() and matches(shown[1:], printed[1:])


def run(example, folder, environment):
    """The exit status and the lines that a terminal would show."""
    process = subprocess.Popen(["bash", "-c", example.command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        printed, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the whole pipeline, and what it started
        process.communicate()
        return None, [f"took more than {SECONDS} s"]
    return process.returncode, printed.decode(errors="replace").splitlines()


def fault(example, status, printed):
    if status != example.status():
        last = printed[-1].strip() if printed else "nothing was printed"
        return f"{example.place()}: `{example.command}` ended with status {status}, not {example.status()}: {last}"
    if example.shown and not matches(example.shown, printed):
        missing = next((line for line in example.shown if line.strip() != "..." and line.rstrip() not in [p.rstrip() for p in printed]), None)
        detail = f"it does not print the line {missing!r}" if missing is not None else "its lines come in another order"
        return f"{example.place()}: `{example.command}` prints something else: {detail}"
    return None


class Runner:
    """Runs the examples of one document after another, each document in a fresh copy of examples/."""

    def __init__(self, root, binary, work):
        self.root, self.work = root, Path(work)
        programs = self.work / "programs"
        programs.mkdir()
        (programs / "gambrel").symlink_to(Path(binary).resolve())
        self.environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(self.work), "LANG": "C.UTF-8", "COLUMNS": "100", "NO_COLOR": "1",
                            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}

    def folder(self, document):
        folder = self.work / str(document).replace("/", "_")
        if not folder.exists():
            shutil.copytree(self.root / "examples", folder)
        return folder

    def __call__(self, example):
        return run(example, self.folder(example.document), self.environment)


def all_examples(root):
    return [example for document, text in documents_of(root) for example in examples_of(document, text)]


def check(root, binary):
    with tempfile.TemporaryDirectory() as work:
        runner = Runner(root, binary, work)
        for example in all_examples(root):
            if example.reason() is None:
                found = fault(example, *runner(example))
                if found:
                    yield found


def update(root, binary):
    """Replaces what console blocks show where it no longer matches. A block that ends with `...` keeps its length."""
    with tempfile.TemporaryDirectory() as work:
        runner = Runner(root, binary, work)
        for document, text in documents_of(root):
            lines = text.splitlines()
            shift = 0
            for example in examples_of(document, text):
                if example.reason() is not None:
                    continue
                _, printed = runner(example)
                if not example.shown or matches(example.shown, printed):
                    continue
                if example.shown[-1].strip() == "...":
                    printed = printed[:len(example.shown) - 1] + ["..."]
                first, last = example.end - len(example.shown) + shift, example.end + shift
                lines[first:last] = [line.rstrip() for line in printed]
                shift += len(printed) - len(example.shown)
            (root / document).write_text("\n".join(lines) + "\n", encoding="utf-8")


FAKE_BINARY = """#!/bin/sh
case $1 in
hello) echo one; echo two; echo three ;;
write) echo x > "$2" ;;
read) cat "$2" ;;
fail) echo no >&2; exit 2 ;;
esac
"""


def self_test():
    def console(*lines):
        return "\n".join(["text", "```console", *lines, "```", ""])

    # document, its text, and a word of the one fault that it must give; None: no fault.
    cases = [
        ("README.md", console("$ gambrel hello", "one", "two", "three"), None),
        ("README.md", console("$ gambrel hello", "one", "...", "three"), None),
        ("README.md", console("$ gambrel hello", "..."), None),
        ("README.md", console("$ gambrel hello"), None),
        ("README.md", console("$ gambrel \\", "  hello", "one", "..."), None),
        ("README.md", console("$ gambrel hello", "one", "three"), "in another order"),
        ("README.md", console("$ gambrel hello", "one", "2", "three"), "does not print the line '2'"),
        ("README.md", console("$ gambrel hello", "one", "two"), "in another order"),
        ("README.md", console("$ gambrel fail"), "ended with status 2"),
        ("README.md", console("$ gambrel fail  # status 2", "no"), None),
        ("README.md", console("$ gambrel hello  # status 1"), "ended with status 0, not 1"),
        ("README.md", console("$ gambrel fail  # needs a GPU"), None),
        ("README.md", console("$ gambrel write a", "$ gambrel read a", "x"), None),
        ("README.md", console("$ gambrel read input.csv", "made up"), None),
        ("README.md", "```sh\ngambrel fail\n```\n", "README.md:2"),
        ("README.md", "```\ngambrel fail\n```\n", None),
        ("docs/a.md", console("$ gambrel read gone"), "docs/a.md:3"),
        ("docs/cli/a.md", "gambrel a\n\n    gambrel hello | head -1\n    gambrel fail\n", "docs/cli/a.md:4"),
        ("docs/cli/a.md", "    gambrel fail        # takes an hour\n", None),
    ]
    wrong = 0
    for name, text, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, content in {"examples/input.csv": "made up\n", name: text}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content, encoding="utf-8")
            binary = root / "fake"
            binary.write_text(FAKE_BINARY, encoding="utf-8")
            binary.chmod(0o755)
            found = list(check(root, binary))
        if (not found) if expected is None else (len(found) == 1 and expected in found[0]):
            continue
        wrong += 1
        print(f"check_examples: self-test: {name} with {text!r}: expected {expected!r}, found {found}", file=sys.stderr)
    return wrong


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    action = arguments.pop(0) if arguments and arguments[0] in ("--list", "--update") else "--check"
    binary = None
    if arguments and arguments[0] == "--binary":
        binary, arguments = arguments[1], arguments[2:]
    root = Path(arguments[0]).resolve() if arguments else Path(__file__).resolve().parent.parent
    if action == "--list":
        for example in all_examples(root):
            print(f"{example.place()}: {example.command}" + (f"   [not run: {example.reason()}]" if example.reason() else ""))
        return 0
    if binary is None:
        print(__doc__, file=sys.stderr)
        return 2
    if action == "--update":
        update(root, binary)
        return 0
    found = list(check(root, binary))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
