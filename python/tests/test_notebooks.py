"""The notebooks of examples/: stored without outputs, every cell runs, and with Jupyter's own client results show themselves."""
import json
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def code_of(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_there_is_a_notebook_for_each_task():
    assert {path.stem for path in NOTEBOOKS} == {"deepcam", "a100-or-l40s", "llama-on-three-gpus", "next-gpu", "my-trace"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs_and_none_stores_its_output(path, monkeypatch, capsys):
    monkeypatch.chdir(FOLDER)
    names = {}
    for cell in code_of(path):
        assert cell["outputs"] == [] and cell["execution_count"] is None
        exec("".join(cell["source"]), names)
    assert len(capsys.readouterr().out.splitlines()) > 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_jupyter_runs_it_and_shows_results_as_pages(path):
    client = pytest.importorskip("nbclient", reason="nbclient is not installed: make test-notebooks brings it")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    client.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert shown and not [output for output in shown if output.output_type == "error"]
    if path.stem == "deepcam":
        page = next(output.data for output in shown if "text/html" in output.get("data", {}))
        assert page["text/html"].startswith("<iframe sandbox=") and page["image/svg+xml"].startswith("<svg")
