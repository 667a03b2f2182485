"""Exports that are refused, stopped or out of space; needs what `assay.export` needs (`make test-export`)."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
transformers = pytest.importorskip("transformers")

from assay.export import __main__ as command
from assay.export import weights
from assay.export.tiny import models, tokenizers
from assay.export.tiny.models import Extra

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
Change = Callable[[Path], Any]


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny checkpoint of two files."""
    folder = tmp_path_factory.mktemp("checkpoint")
    auto = transformers.AutoModelForSequenceClassification
    models.make(folder, auto, "qwen3", tokenizers.qwen(), Extra(), 0, num_labels=1, intermediate_size=96)
    model = auto.from_pretrained(folder)
    (folder / WEIGHTS).unlink()
    model.save_pretrained(folder, max_shard_size="40KB")
    assert (folder / INDEX).exists()
    return folder


@pytest.fixture
def checkpoint(whole: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(whole, tmp_path / "checkpoint"))


def _run(*arguments: Any) -> tuple[int, str]:
    """The exit code of the command, and what it says at its end."""
    argv, sys.argv = sys.argv, ["assay.export", *map(str, arguments)]
    try:
        command.main()
    except SystemExit as ended:
        code = ended.code
        return (code, "") if isinstance(code, int) else (1, str(code))
    finally:
        sys.argv = argv
    return 0, ""


def _set(**values: Any) -> Change:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        given = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(given | values), encoding="utf-8")

    return change


def _write(name: str, text: str) -> Change:
    return lambda folder: (folder / name).write_text(text, encoding="utf-8")


def _shard(folder: Path) -> Path:
    return sorted(folder.glob("*.safetensors"))[-1]


def _cut(folder: Path) -> None:
    path = _shard(folder)
    path.write_bytes(path.read_bytes()[:-64])


def _bare(folder: Path) -> None:
    for path in folder.glob("*.safetensors*"):
        path.unlink()


def _pickle(folder: Path) -> None:
    _bare(folder)
    (folder / "pytorch_model.bin").write_bytes(b"PK\3\4 cut")


def _index(folder: Path) -> Any:
    return json.loads((folder / INDEX).read_text(encoding="utf-8"))


def _unlisted(folder: Path) -> None:
    """The index names a tensor that its file does not hold."""
    files = _index(folder)
    name = next(name for name, file in files["weight_map"].items() if file != _shard(folder).name)
    files["weight_map"][name] = _shard(folder).name
    (folder / INDEX).write_text(json.dumps(files), encoding="utf-8")


BROKEN: dict[str, tuple[Change, int, list[str]]] = {
    "another family": (_set(model_type="mamba9"), 2, ["bad_value", "no architecture 'mamba9'"]),
    "a family of another type": (_set(model_type=["qwen3"]), 2, ["bad_value", "config.json", "model_type"]),
    "no object": (_write("config.json", "[]"), 2, ["bad_value", "config.json", "expected an object"]),
    "no JSON": (_write("config.json", '{"model_type": '), 2, ["bad_value", "config.json", "line 1"]),
    "a number as a text": (_set(hidden_size="32"), 2, ["bad_value", "config.json", "hidden_size"]),
    "a text as a number": (_set(num_hidden_layers="two"), 2, ["bad_value", "config.json", "num_hidden_layers"]),
    "no heads": (_set(num_attention_heads=0), 2, ["bad_value", "config.json"]),
    "a negative width": (_set(intermediate_size=-96), 2, ["bad_value", "config.json"]),
    "an unknown activation": (_set(hidden_act="swishy"), 2, ["bad_value", "config.json", "swishy"]),
    "another width": (_set(intermediate_size=64), 2, ["bad_value", "does not fit its config.json"]),
    "integers": (_set(quantization_config={"quant_method": "fp8"}), 2, ["bad_value", "config.json", "fp8"]),
    "a tokenizer that is none": (_write("tokenizer.json", "{}"), 2, ["bad_value", "tokenizer.json"]),
    "a shard that is cut": (_cut, 3, ["damaged", ".safetensors"]),
    "a shard that is empty": (lambda folder: _shard(folder).write_bytes(b""), 3, ["damaged", ".safetensors"]),
    "a shard that is gone": (lambda folder: _shard(folder).unlink(), 3, ["unreadable_file", ".safetensors"]),
    "an index that is no JSON": (_write(INDEX, "{"), 2, ["bad_value", INDEX]),
    "an index without a map": (_write(INDEX, "{}"), 2, ["bad_value", INDEX, "weight_map"]),
    "an index that names others": (_unlisted, 3, ["damaged", ".safetensors"]),
    "a pickle that is cut": (_pickle, 3, ["damaged", "pytorch_model.bin"]),
    "no weights": (_bare, 2, ["model.safetensors"]),
}


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_checkpoint_that_is_broken_is_named(
    name: str, precision: str, checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, code, words = BROKEN[name]
    change(checkpoint)
    out = checkpoint.parent / "out"
    given = _run(checkpoint, out, "--preset", "skywork-reward", "--precision", precision)
    told = capsys.readouterr().err
    assert given[0] == code, (given, told)
    assert "error[" in told and all(word in told for word in words), told
    assert not out.exists()


@pytest.mark.parametrize(
    ("preset", "word"), [("skywork-o1-prm", "bos_token"), ("internlm2-reward", "reward_token_id")]
)
def test_a_preset_of_another_family_says_what_is_missing(
    preset: str, word: str, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(whole, tmp_path / "out", "--preset", preset)[0] == 2
    assert word in capsys.readouterr().err


def _export(checkpoint: Path, out: Path, precision: str = "bf16") -> tuple[int, str]:
    return _run(checkpoint, out, "--preset", "skywork-reward", "--precision", precision, "--name", "tiny")


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class Killed(BaseException):
    """Nothing is put away after it."""


@pytest.fixture(scope="session")
def exported(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of an export that nothing disturbed."""
    out = tmp_path_factory.mktemp("exported") / "out"
    assert _export(whole, out) == (0, "")
    return _bytes(out)


@pytest.mark.parametrize("moved", [2, 5])
def test_an_export_that_is_killed_while_files_are_moved_goes_on(
    moved: int, checkpoint: Path, exported: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "model.toml").write_text("an older model")
    left, replace = [moved], Path.replace

    def stop(path: Path, target: Path) -> Path:
        if Path(target).parent == out:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(Killed):
        _export(checkpoint, out)
    monkeypatch.undo()
    assert not (out / "model.toml").exists(), "files of two models have no manifest"
    assert _export(checkpoint, out) == (0, "")
    assert _bytes(out) == exported
    assert not (tmp_path / "out.part").exists()


def test_what_another_export_left_is_not_taken(
    checkpoint: Path, exported: dict[str, bytes], tmp_path: Path
) -> None:
    out, part = tmp_path / "out", tmp_path / "out.part"
    _stopped(checkpoint, out, "int8_blocks")
    for name in ("reference.onnx", "chat.jinja", "tmp.onnx.data"):
        (part / name).write_text("left")
    assert _export(checkpoint, out) == (0, "")
    assert _bytes(out) == exported
    # A folder that no export left is not touched.
    part.mkdir()
    (part / "mine").write_text("kept")
    code, _ = _export(checkpoint, out)
    assert code == 2 and (part / "mine").read_text() == "kept"


def _stopped(checkpoint: Path, out: Path, precision: str) -> None:
    """An export that is killed when its first weight is written."""
    store = weights._store

    def fail(*given: Any) -> float:
        store(*given)
        raise Killed

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr(weights, "_store", fail)
        _export(checkpoint, out, precision)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_full_disk_is_told_before_it_fills(
    precision: str, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10_000))
    assert _export(checkpoint, out, precision)[0] == 3
    told = capsys.readouterr().err
    assert "error[unwritable]" in told and "are free" in told, told
    assert not out.exists()


def test_an_export_goes_on_once_there_is_space(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, store = tmp_path / "out", weights._store
    written: list[str] = []
    most = 3

    def stored(weight: Any, *given: Any) -> float:
        if len(written) == most:
            raise OSError(28, "No space left on device")
        written.append(weight.origin)
        return store(weight, *given)

    monkeypatch.setattr(weights, "_store", stored)
    assert _export(checkpoint, out)[0] == 3
    told = capsys.readouterr().err
    assert "error[unwritable]" in told and "goes on" in told, told
    most = 1000
    assert _export(checkpoint, out) == (0, "")
    assert len(written) > 3 and len(written) == len(set(written)), "none is written twice"
