#!/usr/bin/env python3
"""make_site.py FOLDER [--stub CORE.PYI]: stages the documentation for mkdocs, without a network.

FOLDER/pages gets docs/ with an entry page, one page for each command (docs/cli), one for each JSON Schema, and the Python API from the
package and the stub of its module; FOLDER/mkdocs.yml is tools/site.yml with the lists that depend on files. Links that leave docs/ point to
what the site has of them. `make docs` then runs mkdocs, whose strict build fails on a link that leads nowhere.
"""
import ast
import json
import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Files outside docs/ that the site has, by the page that they become.
OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md",
           "README.md": "index.md", "examples": "examples/index.md", "docs/decisions": "decisions/index.md",
           "docs/schemas": "schemas/index.md", "docs/cli": "cli/gambrel.md", "LICENSE": "license.md",
           "CITATION.cff": "citation.md", "examples/consumer": "examples/index.md"}
LINK = re.compile(r'(\]\(|<img src=")([^)\s"#:]+)(#[^)\s"]*)?(?=[)"])')


def page_of(path: Path) -> str:
    """The page that a file or folder of the tree is in the site."""
    name = path.relative_to(ROOT).as_posix()
    return OUTSIDE.get(name) or (name[len("docs/"):] if name.startswith("docs/") else name)


def linked(text: str, source: Path, page: str) -> str:
    """The text of a file with its links as the page has them; a link to what the site lacks stays, and mkdocs refuses it."""
    def replaced(match: re.Match) -> str:
        target = page_of(Path(os.path.normpath(source.parent / match[2])))
        return match[1] + os.path.relpath(target, Path(page).parent) + (match[3] or "")

    return LINK.sub(replaced, text)


def command_page(source: Path) -> str:
    """The help text of a command: prose and indented examples, under a heading of its own."""
    first, _, rest = source.read_text(encoding="utf-8").partition("\n")
    name = "gambrel" if source.stem == "gambrel" else f"gambrel {source.stem}"
    return f"# {name}\n\n{first.replace('<', '&lt;')}\n{rest}"


def schema_page(schemas: list) -> str:
    lines = ["# JSON Schemas", "", "What `--json` writes, by the value of its `schema`. A schema's number changes when a field changes its "
             "meaning or goes away; new fields do not change it.", "", "| schema | top-level fields |", "|---|---|"]
    for path in schemas:
        fields = ", ".join(f"`{name}`" for name in json.loads(path.read_text(encoding="utf-8")).get("properties", {}))
        lines.append(f"| [{path.name.removesuffix('.schema.json')}]({path.name}) | {fields} |")
    return "\n".join(lines) + "\n"


def signature(function: ast.FunctionDef) -> str:
    arguments = ast.unparse(function.args)
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"{function.name}({arguments}){returns}"


def entry(heading: str, documentation: str) -> list:
    return [heading, "", documentation, ""] if documentation else [heading, ""]


def property_line(function: ast.FunctionDef) -> str:
    kind = f": `{ast.unparse(function.returns)}`" if function.returns else ""
    text = (ast.get_docstring(function) or "").replace("\n", " ")
    return f"- `{function.name}`{kind}" + (f" {text}" if text else "")


def class_lines(node: ast.ClassDef) -> list:
    bases = ", ".join(ast.unparse(base) for base in node.bases if ast.unparse(base) != "object")
    lines = entry(f"### {node.name}" + (f"({bases})" if bases else ""), ast.get_docstring(node) or "")
    properties, methods = [], []
    for one in node.body:
        if not isinstance(one, ast.FunctionDef) or one.name.startswith("_"):
            continue
        decorators = {ast.unparse(decorator) for decorator in one.decorator_list}
        if "property" in decorators:
            properties.append(property_line(one))
        else:
            text = (ast.get_docstring(one) or "").replace("\n", " ")
            methods.append(f"- `{signature(one)}`" + (f" {text}" if text else ""))
    return lines + properties + methods + [""]


def definitions(path: Path, kind: type) -> dict:
    return {node.name: node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, kind)}


def api_page(stub: Path) -> str:
    """What `gambrel.__all__` names: functions from the package, classes from the package and the stub of its module."""
    package = ROOT / "python" / "gambrel"
    sources = [*sorted(package.glob("_*.py")), stub]
    functions, classes = {}, {}
    for source in sources:
        # The package's own definition wins over the module's function of the same name.
        functions = {**definitions(source, ast.FunctionDef), **functions}
        classes = {**definitions(source, ast.ClassDef), **classes}
    names = next(ast.literal_eval(node.value) for node in ast.parse((package / "__init__.py").read_text(encoding="utf-8")).body
                 if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
    lines = ["# Python reference", "", "From the stubs of the package; the [guide](python.md) shows how the parts go together.", "",
             "## Functions", ""]
    for name in names:
        if name in functions:
            lines += [f"### {name}", "", "```python", signature(functions[name]), "```", "", ast.get_docstring(functions[name]) or "", ""]
    lines += ["## Classes", ""]
    for name in names:
        if name in classes:
            lines += class_lines(classes[name])
    missing = [name for name in names if name not in functions and name not in classes and name != "__version__"]
    if missing:
        sys.exit(f"make_site: nothing describes {', '.join(missing)} of gambrel.__all__")
    return "\n".join(lines)


def write(pages: Path, name: str, text: str) -> None:
    (pages / name).parent.mkdir(parents=True, exist_ok=True)
    (pages / name).write_text(text, encoding="utf-8")


def decision_pages(pages: Path) -> list:
    nav, rows = [], ["# Decisions", "", "What was decided, why, and what it costs.", ""]
    for path in sorted((ROOT / "docs/decisions").glob("*.md")):
        title = path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        rows.append(f"- [{title}]({path.name})")
        nav.append(f"{json.dumps(title)}: decisions/{path.name}")
    write(pages, "decisions/index.md", "\n".join(rows) + "\n")
    return ['"All": decisions/index.md', *nav]


def stage(folder: Path, stub: Path) -> None:
    pages = folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    for path in sorted((ROOT / "docs").rglob("*")):
        page = path.relative_to(ROOT / "docs").as_posix()
        if path.suffix in (".png", ".svg", ".json"):
            (pages / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, pages / page)
        elif path.suffix == ".md":
            text = command_page(path) if path.parent.name == "cli" else path.read_text(encoding="utf-8")
            write(pages, page, linked(text, path, page))
    for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
        write(pages, OUTSIDE[name], linked((ROOT / name).read_text(encoding="utf-8"), ROOT / name, OUTSIDE[name]))
    for name, title in (("LICENSE", "Licence"), ("CITATION.cff", "Citation")):
        write(pages, OUTSIDE[name], f"# {title}\n\n```\n{(ROOT / name).read_text(encoding='utf-8')}```\n")
    examples = ROOT / "examples/README.md"
    write(pages, "examples/index.md", linked(examples.read_text(encoding="utf-8"), examples, "examples/index.md"))
    write(pages, "schemas/index.md", schema_page(sorted((ROOT / "docs/schemas").glob("*.json"))))
    write(pages, "python-api.md", api_page(stub))
    commands = [f"gambrel {p.stem}: cli/{p.name}" for p in sorted((ROOT / "docs/cli").glob("*.md")) if p.stem != "gambrel"]
    site = (ROOT / "tools/site.yml").read_text(encoding="utf-8")
    for word, items, indent in (("COMMANDS", ["gambrel: cli/gambrel.md", *commands], 6), ("DECISIONS", decision_pages(pages), 10)):
        site = site.replace(f" {word}\n", "\n" + "".join(f"{' ' * indent}- {item}\n" for item in items))
    (folder / "mkdocs.yml").write_text(site, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[2] != "--stub":
        sys.exit(__doc__)
    stage(Path(sys.argv[1]), Path(sys.argv[3]))
