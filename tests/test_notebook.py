"""The notebook of the examples runs from top to bottom, and is kept without outputs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
NOTEBOOK = CHECKOUT / "examples" / "first_steps.ipynb"


def test_no_outputs_are_kept():
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    assert len(cells) > 20
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    nbformat = pytest.importorskip("nbformat", reason="needs nbclient: pip install nbclient ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient: pip install nbclient ipykernel")
    pytest.importorskip("ipykernel", reason="needs ipykernel: pip install ipykernel")
    pytest.importorskip("pandas", reason="the notebook shows tables with pandas")
    pytest.importorskip("trimesh", reason="the notebook exports with trimesh")
    paths = [str(CHECKOUT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    cards = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    for name in ("Contacts", "Step", "Intersections", "Sequence", "Scan"):
        assert any(f"<b>{name}" in card for card in cards)
    assert any("image/png" in output.get("data", {}) for output in shown)
    assert any("check of TriMesh" in output.get("text", "") for output in shown)
    assert (tmp_path / "offenders.ply").stat().st_size > 10_000
