#!/usr/bin/env python3
"""JSON Schemas of what gambrel writes, docs/schemas, against what it writes.

check_schemas.py --binary B    runs commands on the examples and validates each output; exit status 1 if one does not fit
check_schemas.py --write B     writes the schemas again from the same outputs, for a format that has changed (then read the difference)
check_schemas.py --self-test   plants faults in a document and fails if one goes unseen

A field may be added without a new schema, so more fields than a schema names are no fault. null is unknown, so a number or an object
may be null; what is always there is required.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "docs" / "schemas"
ORIGINS = ["datasheet", "measured", "derived", "assumed", "modelled", "simulated"]
STEP, FUSED, TRACE = (str(ROOT / "examples" / name) for name in ("step.ncu-rep", "fused.ncu-rep", "trace.json"))
# Objects that are everywhere: a number with where it comes from.
SHARED = {"amount": {"value", "origin", "rule"}, "fact": {"value", "origin", "cite"}}
DEFINITIONS = {
    "amount": {"type": ["null", "object"], "required": ["origin", "rule", "value"],
               "properties": {"value": {"type": "number"}, "origin": {"enum": ORIGINS}, "rule": {"type": "string"}}},
    "fact": {"type": ["null", "object"], "required": ["cite", "origin", "value"],
             "properties": {"value": {"type": ["number", "string"]}, "origin": {"enum": ORIGINS}, "cite": {"type": "string"}}},
}
COMMANDS = {
    "gambrel-analysis-1": [["analyze", STEP, "-q", "--json", "-"], ["analyze", TRACE, "-q", "--json", "-"],
                           ["analyze", STEP, "--group", "launch", "-q", "--json", "-"]],
    "gambrel-layers-1": [["predict", "alexnet", "--gpu", "v100", "-q", "--json", "-"],
                         ["predict", "--layers", str(ROOT / "examples" / "layers.csv"), "--gpu", "a100", "-q", "--json", "-"],
                         ["predict", "llama-3-8b", "--phase", "decode", "--gpu", "h100-sxm", "-q", "--json", "-"]],
    "gambrel-comparison-1": [["compare", STEP, FUSED, "-q", "--json", "-"]],
    "gambrel-check-1": [["check", STEP, "--min-roof", "50%", "--json", "-"]],
    "gambrel-baseline-1": [["check", STEP, "--write-baseline", "OUT"]],
    "gambrel-explore-1": [["explore", "alexnet", "--gpu", "v100", "-q", "--json", "-"],
                          ["explore", "alexnet", "--gpu", "v100", "--vary", "sms=1:2,clock=1:2", "-q", "--json", "-"]],
    "gambrel-machine-1": [["machines", name, "--json", "-"] for name in ("a100", "v100-pcie-32gb", "rtx-4090", "b200")],
}


def kind(value):
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    return {dict: "object", list: "array", str: "string"}.get(type(value), "number")


def inferred(values, nested=True):
    """The schema that all of these values fit."""
    kinds = sorted({kind(v) for v in values})
    if kinds == ["null"]:
        return {}
    objects = [v for v in values if isinstance(v, dict)]
    for name, keys in SHARED.items():
        if objects and set(kinds) <= {"object", "null"} and all(set(o) == keys for o in objects):
            return {"$ref": f"#/$defs/{name}"}
    if objects and all(str(o.get("schema", "")) in ("1", "gambrel-analysis-1") for o in objects) and nested:
        return {"type": "object", "$comment": "gambrel-machine-1, or gambrel-analysis-1"}
    schema = {"type": kinds[0] if len(kinds) == 1 else kinds}
    if set(kinds) & {"number", "object"} and "null" not in kinds:
        schema["type"] = sorted({*kinds, "null"})
    if objects:
        names = sorted({name for o in objects for name in o})
        schema["properties"] = {n: inferred([o[n] for o in objects if n in o]) for n in names}
        always = [n for n in names if all(n in o for o in objects)]
        if always and len(objects) > 1:
            schema["required"] = always
        if "origin" in names and all(o.get("origin") in ORIGINS for o in objects if "origin" in o):
            schema["properties"]["origin"] = {"enum": ORIGINS}
    items = [item for v in values if isinstance(v, list) for item in v]
    if items:
        schema["items"] = inferred(items)
    return schema


def faults(schema, value, place="$"):
    """Of the part of JSON Schema that the files here use."""
    schema = DEFINITIONS[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if "const" in schema and value != schema["const"]:
        yield f"{place}: {value!r}, expected {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r}, expected one of {schema['enum']}"
    allowed = schema.get("type")
    if allowed and kind(value) not in ([allowed] if isinstance(allowed, str) else allowed):
        yield f"{place}: {kind(value)}, expected {allowed}"
        return
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{place}: has no {name}"
        for name, part in value.items():
            if name in schema.get("properties", {}):
                yield from faults(schema["properties"][name], part, f"{place}.{name}")
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from faults(schema.get("items", {}), item, f"{place}[{i}]")


def outputs(binary, commands):
    for command in commands:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "out.json"
            run = subprocess.run([binary, *(str(file) if a == "OUT" else a for a in command)], capture_output=True, text=True)
            if run.returncode not in (0, 1):
                raise SystemExit(f"check_schemas: gambrel {' '.join(command)}: exit status {run.returncode}: {run.stderr}")
            yield command, json.loads(file.read_text(encoding="utf-8") if file.exists() else run.stdout)


def write(binary):
    SCHEMAS.mkdir(exist_ok=True)
    for name, commands in COMMANDS.items():
        documents = [document for _, document in outputs(binary, commands)]
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": name, "title": f"What gambrel writes as {name}",
                  **inferred(documents, nested=False), "type": "object", "$defs": DEFINITIONS}
        schema["properties"]["schema"] = {"const": documents[0]["schema"]}
        schema["required"] = [n for n in schema["properties"] if all(n in d for d in documents)]
        (SCHEMAS / f"{name}.schema.json").write_text(json.dumps(schema, indent=1) + "\n", encoding="utf-8")


def check(binary):
    wrong = 0
    schemas = {name: json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")) for name in COMMANDS}
    for name, commands in COMMANDS.items():
        if schemas[name]["$defs"] != DEFINITIONS:
            print(f"check_schemas: {name}: its $defs are not those of this script", file=sys.stderr)
            wrong += 1
        for command, document in outputs(binary, commands):
            inner = list(faults(schemas["gambrel-analysis-1"], document["roofline"], "$.roofline")) if "roofline" in document else []
            for fault in [*faults(schemas[name], document), *inner]:
                wrong += 1
                print(f"check_schemas: {name}: gambrel {' '.join(command)}: {fault}", file=sys.stderr)
    return wrong


def self_test():
    good = {"schema": "x-1", "rows": [{"name": "a", "time": {"value": 1.5, "origin": "measured"}}, {"name": "b", "time": None}]}
    schema = inferred([good, good])
    schema["properties"]["schema"] = {"const": "x-1"}
    planted = [("schema", lambda d: d.update(schema="x-2")), ("has no rows", lambda d: d.pop("rows")),
               ("rows[1].name", lambda d: d["rows"][1].update(name=3)), ("rows[0].time.value", lambda d: d["rows"][0]["time"].update(value="fast")),
               ("origin", lambda d: d["rows"][0]["time"].update(origin="guessed")), ("has no name", lambda d: d["rows"][0].pop("name"))]
    wrong = list(faults(schema, good))
    for expected, plant in planted:
        document = json.loads(json.dumps(good))
        plant(document)
        if not any(expected in fault for fault in faults(schema, document)):
            wrong.append(f"self-test: {expected} went unseen")
    for line in wrong:
        print(f"check_schemas: {line}", file=sys.stderr)
    return len(wrong)


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    if len(arguments) == 2 and arguments[0] == "--binary":
        return 1 if check(arguments[1]) else 0
    if len(arguments) == 2 and arguments[0] == "--write":
        return write(arguments[1]) or 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
