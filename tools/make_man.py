#!/usr/bin/env python3
"""Man pages and shell completion from docs/cli, which is also what --help prints.

make_man.py FOLDER           writes FOLDER/man1/*.1, FOLDER/gambrel.bash, FOLDER/_gambrel (zsh) and FOLDER/gambrel.fish
make_man.py --check BINARY   are all commands of the program there, do man and the shells accept what is written?
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ITEM = re.compile(r"- ((?:`[^`]+`(?:, )?)+) ?(.*)")


def version():
    return re.search(r"project\(gambrel VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)


class Page:
    """One file of docs/cli: a first line, then blocks of text, examples and flags."""

    def __init__(self, path):
        self.command = path.stem
        lines = path.read_text(encoding="utf-8").splitlines()
        head, _, self.summary = lines[0].partition(" : " if " : " in lines[0] else ": ")
        self.synopsis = head if self.command != "gambrel" else "gambrel COMMAND [ARGUMENT...]"
        self.blocks = []  # ("text" | "example" | "heading", str) or ("flag", [names], str)
        for line in lines[1:]:
            self.add(line)

    def add(self, line):
        item = ITEM.match(line)
        last = self.blocks[-1] if self.blocks else None
        if item:
            self.blocks.append(["flag", re.findall(r"`([^`]+)`", item.group(1)), item.group(2)])
        elif not line.strip():
            self.blocks.append(["end", ""])
        elif line.startswith("    "):
            self.blocks.append(["example", line[4:]])
        elif last and last[0] == "flag" and line.startswith("  "):
            last[2] += " " + line.strip()
        elif last and last[0] == "text":
            last[1] += " " + line.strip()
        else:
            self.blocks.append(["text", line.strip()])

    def flags(self):
        """(names without values, takes a value, text) of each flag."""
        for block in self.blocks:
            if block[0] == "flag":
                names = [name.split()[0] for name in block[1] if name.startswith("-")]
                if names:
                    yield names, any(" " in name for name in block[1]), block[2]


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return "\\&" + text if text[:1] in ".'" else text


def man_page(page):
    name = "gambrel" if page.command == "gambrel" else f"gambrel-{page.command}"
    out = [f'.TH "{name.upper()}" "1" "" "gambrel {version()}" "gambrel"', ".SH NAME", f"{roff(name)} \\- {roff(page.summary)}",
           ".SH SYNOPSIS", f".B {roff(page.synopsis)}", ".SH DESCRIPTION"]
    blocks = [b for b in page.blocks]
    for i, block in enumerate(blocks):
        if block[0] == "flag":
            out += [".TP", ".B " + roff(", ".join(block[1])), roff(block[2]) or "\\&"]
        elif block[0] == "example":
            before, after = blocks[i - 1][0] if i else "", blocks[i + 1][0] if i + 1 < len(blocks) else ""
            out += ([".PP", ".RS", ".nf"] if before != "example" else []) + [roff(block[1])]
            out += [".fi", ".RE"] if after != "example" else []
        elif block[0] == "text":
            # A short line without a full stop, alone before a list, is its heading.
            follows = [b[0] for b in blocks[i + 1 : i + 3]]
            heading = follows == ["end", "flag"] and not block[1].endswith((".", ":")) and len(block[1]) < 60
            out += [f".SS {roff(block[1])}"] if heading else [".PP", roff(block[1])]
    if page.command == "gambrel":
        out += [".SH COMMANDS"]
        for other in pages():
            if other.command != "gambrel":
                out += [".TP", f".BR gambrel\\-{roff(other.command)} (1)", roff(other.summary)]
    return "\n".join(out) + "\n"


def pages():
    return [Page(path) for path in sorted((ROOT / "docs" / "cli").glob("*.md"))]


def bash(all_pages):
    commands = " ".join(p.command for p in all_pages if p.command != "gambrel")
    cases = "".join(f'    {p.command}) flags="{" ".join(n for names, _, _ in p.flags() for n in names)}" ;;\n'
                    for p in all_pages if p.command != "gambrel")
    return f"""# bash completion for gambrel, made by tools/make_man.py
_gambrel() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} last=${{COMP_WORDS[COMP_CWORD-1]}} flags=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word"))
    return
  fi
  case $last in
    --machine|--gpu) COMPREPLY=($(compgen -W "$("${{COMP_WORDS[0]}}" machines --csv 2>/dev/null | tail -n +2 | cut -d, -f1)" -- "$word")
                                $(compgen -f -X '!*.json' -- "$word")); return ;;
  esac
  case ${{COMP_WORDS[1]}} in
{cases}  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _gambrel gambrel
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(all_pages):
    commands = " ".join(quoted(f"{p.command}:{p.summary}".replace("`", "")) for p in all_pages if p.command != "gambrel")
    cases = ""
    for p in all_pages:
        if p.command == "gambrel":
            continue
        flags = [quoted(f"{n}[{re.sub(r'[`:]', '', text)[:70].replace('[', '(').replace(']', ')')}]" + (":value:_files" if takes else ""))
                 for names, takes, text in p.flags() for n in names]
        cases += f"    {p.command}) _arguments {' '.join(flags)} '*:file:_files' ;;\n"
    return f"""#compdef gambrel
# zsh completion for gambrel, made by tools/make_man.py
_gambrel() {{
  local -a commands
  commands=({commands})
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  local command=$words[2]
  shift words; (( CURRENT-- ))
  case $command in
{cases}  esac
}}
_gambrel "$@"
"""


def fish(all_pages):
    out = "# fish completion for gambrel, made by tools/make_man.py\n"
    for p in all_pages:
        if p.command == "gambrel":
            continue
        out += f"complete -c gambrel -n __fish_use_subcommand -a {p.command} -d {quoted(p.summary.replace('`', ''))}\n"
        for names, takes, text in p.flags():
            kinds = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in names)
            out += (f"complete -c gambrel -n '__fish_seen_subcommand_from {p.command}' {kinds} {'-r ' if takes else ''}"
                    f"-d {quoted(text.replace('`', '')[:70])}\n")
    return out


def write(folder):
    all_pages = pages()
    (folder / "man1").mkdir(parents=True, exist_ok=True)
    for page in all_pages:
        name = "gambrel" if page.command == "gambrel" else f"gambrel-{page.command}"
        (folder / "man1" / f"{name}.1").write_text(man_page(page), encoding="utf-8")
    for name, make in (("gambrel.bash", bash), ("_gambrel", zsh), ("gambrel.fish", fish)):
        (folder / name).write_text(make(all_pages), encoding="utf-8")


def run(*command, text=None):
    return subprocess.run(command, capture_output=True, text=True, input=text)


def check(binary):
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        shown = run(binary, "--help").stdout
        commands = {p.command for p in pages()} - {"gambrel"}
        wrong += [f"{c}: has a page and is not in --help" for c in sorted(commands) if not re.search(rf"^ *(gambrel )?{c} ", shown, re.M)]
        if shutil.which("groff"):
            for file in sorted((folder / "man1").iterdir()):
                warned = run("groff", "-man", "-Tutf8", "-ww", "-z", str(file)).stderr
                wrong += [f"{file.name}: {line}" for line in warned.splitlines() if "can't break line" not in line and "adjust" not in line]
        script = (f"source {folder}/gambrel.bash; COMP_WORDS=(gambrel pre); COMP_CWORD=1; _gambrel; echo \"${{COMPREPLY[@]}}\"; "
                  f"COMP_WORDS=(gambrel predict --prec); COMP_CWORD=2; _gambrel; echo \"${{COMPREPLY[@]}}\"; "
                  f"COMP_WORDS=({binary} predict --gpu v100-s); COMP_CWORD=3; _gambrel; echo \"${{COMPREPLY[@]}}\"")
        found = run("bash", "-c", script)
        if found.stdout.split("\n")[:3] != ["predict", "--precision", "v100-sxm2-16gb v100-sxm2-32gb"] or found.stderr:
            wrong.append(f"bash completion: {found.stdout!r} {found.stderr!r}")
    return wrong


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--check":
        wrong = check(arguments[1])
        for line in wrong:
            print(f"make_man: {line}", file=sys.stderr)
        return 1 if wrong else 0
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    write(Path(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
