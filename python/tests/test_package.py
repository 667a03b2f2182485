"""The installed wheel: one version, the command, the guests, the library of ONNX Runtime."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import assay
from assay import _installed
from conftest import FIXTURES, config

HEAVY = {"asyncio", "inspect", "json", "importlib.metadata", "numpy", "pyarrow", "torch", "typing_extensions"}


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in an environment that names neither assets nor a home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "ORT_", "XDG_"))}
    return subprocess.run(
        command, env={**kept, **environment}, capture_output=True, text=True, timeout=300, check=False
    )


def files() -> set[str]:
    """What the wheel has installed."""
    return {str(path) for path in metadata.files("assay") or ()}


def command() -> str:
    """The console script of the command."""
    [found] = [path for path in metadata.files("assay") or () if path.name == "assay" and path.parent.name == "bin"]
    return str(Path(str(found.locate())).resolve())


def test_there_is_one_version() -> None:
    by_command = run(command(), "--version").stdout.split()
    by_module = run(sys.executable, "-m", "assay", "--version").stdout.split()
    assert by_command == by_module == ["assay", assay.__version__]
    assert metadata.version("assay") == assay.__version__


def test_the_wheel_has_types_and_no_tests() -> None:
    names = files()
    assert {"assay/py.typed", "assay/_core.pyi", "assay/__main__.py", "assay/export/__init__.py"} <= names
    unwanted = ("tests", "arithmetic_prm", ".gitignore", "src", "Cargo.toml")
    assert not [name for name in names if set(Path(name).parts) & set(unwanted)]
    assert len([name for name in names if name.endswith(".wasm")]) == 2


def test_the_metadata_name_the_extras() -> None:
    about = metadata.metadata("assay")
    assert {"onnx", "ray", "export"} <= set(about.get_all("Provides-Extra") or ())
    assert about["Requires-Python"] == ">=3.11"
    required = metadata.requires("assay") or []
    assert all("extra ==" in requirement for requirement in required), "the package itself needs nothing"


def test_the_command_needs_no_path_and_gives_its_exit_code() -> None:
    words = ("check", "exact", "--completion", "a", "--reference", "a")
    for start in ([command()], [sys.executable, "-m", "assay"]):
        found = run(*start, *words, PATH="")
        assert (found.returncode, found.stderr) == (0, "")
        assert "scored 1" in found.stdout
    assert run(command(), "check", "nothing").returncode == 2
    assert run(command(), "score", "nowhere.toml").returncode == 2


PROGRAM = """
import assay, sys
suite = {"test_list": ["assert add(1, 2) == 3"]}
engine = assay.Engine({"version": 1, "reward": [{"name": "runs", "verifier": "unit_tests"}]}, cache=False)
right = "```python\\ndef add(a, b):\\n    return a + b\\n```"
wrong = "```python\\ndef add(a, b):\\n    return a - b\\n```"
for scored in engine.score(completions=[right, wrong], references=[suite, suite]):
    print(scored.outcome, scored.reward, scored.why or "")
"""


def test_guests_of_the_wheel_run_programs(tmp_path: Path) -> None:
    places = {"XDG_DATA_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    found = run(sys.executable, "-c", PROGRAM, **places)
    assert found.stdout.splitlines() == ["scored 1.0 ", "scored 0.0 "], found.stderr


def test_models_run_on_the_library_of_the_package_onnxruntime() -> None:
    library = _installed.onnxruntime()
    assert library is not None and [name for name in os.listdir(library) if name.startswith("libonnxruntime.so")]
    folder = str(FIXTURES / "models" / "skywork-reward")
    model = config({"name": "model", "verifier": "outcome_model", "config": {"model": folder}})
    engine = assay.Engine(model, allow_paths=[FIXTURES / "models"], cache=False)
    [scored] = engine.score(prompts=["2 + 2?"], completions=["4"])
    assert scored.verdicts["model"].evidence["backend"] == f"onnxruntime {metadata.version('onnxruntime')} cpu"


def test_importing_the_package_loads_nothing_heavy() -> None:
    bare = run(sys.executable, "-c", "import sys; print(*sys.modules)")
    light = run(sys.executable, "-c", "import sys, assay; print(*sys.modules)")
    loaded = set(light.stdout.split()) - set(bare.stdout.split())
    assert "assay._core" in loaded
    assert not loaded & HEAVY
