"""What can be caught: each error by our class, and by the one of Python that says the same."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import assay
import pytest
from conftest import config

EXACT = {"name": "same", "verifier": "exact"}


@pytest.mark.parametrize("base", [assay.ConfigError, assay.AssayError, ValueError])
def test_a_bad_configuration_is_a_value_error(base: type[Exception]) -> None:
    with pytest.raises(base, match="no_such_verifier"):
        assay.Engine(config({"name": "same", "verifier": "no_such_verifier"}))


@pytest.mark.parametrize("base", [assay.DataTypeError, assay.DataError, assay.AssayError, TypeError])
@pytest.mark.parametrize(
    ("samples", "columns"),
    [([7], {}), ("text", {}), ([{"completion": object()}], {}), ([{1: "a"}], {}), (None, {"completions": "text"})],
)
def test_a_sample_of_a_wrong_type_is_a_type_error(base: type[Exception], samples: Any, columns: Any) -> None:
    engine = assay.Engine(config(EXACT))
    with pytest.raises(base):
        engine.score(samples, **columns) if samples is not None else engine.score(**columns)


def test_a_missing_column_is_no_type_error() -> None:
    with pytest.raises(assay.DataError) as caught:
        assay.Engine(config(EXACT)).score([{"prompt": "2 + 2?"}])
    assert not isinstance(caught.value, TypeError)


def test_errors_are_pickled() -> None:
    for error in (assay.ConfigError("a"), assay.DataTypeError("b"), assay.RunError("c")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.args) == (type(error), error.args)


@pytest.mark.parametrize(
    ("make", "code", "fields"),
    [
        (lambda: assay.Engine(Path("none.toml")), "unreadable_file", {"file": "none.toml"}),
        (lambda: assay.Engine(config(EXACT, lint=float("nan"))), "bad_value", {}),
        (lambda: assay.Engine(None), "wrong_type", {"found": "NoneType"}),  # type: ignore[arg-type]
        (lambda: assay.Engine(config(EXACT), jobs=-1), "bad_value", {"key": "jobs"}),
        (lambda: assay.Engine(config(EXACT)).score([7]), "wrong_type", {}),  # type: ignore[list-item]
        (lambda: assay.Engine(config(EXACT)).score([{}]), "missing_value", {}),
        (lambda: assay.Engine(config(EXACT)).score_file("none.jsonl", "out"), "unreadable_file", {"file": "none.jsonl"}),
    ],
)
def test_every_error_has_a_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[], object], code: str, fields: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(assay.AssayError) as caught:
        make()
    assert (caught.value.code, caught.value.fields) == (code, fields)
    assert (assay.TooManyFaults.code, assay.Unscored.code) == ("limit", "missing_value")


def test_what_is_no_json_is_left_out_of_metadata() -> None:
    pa = pytest.importorskip("pyarrow")
    engine = assay.Engine(config(EXACT, data={"reference": "right.text"}))
    odd = {"image": {"bytes": b"\xff", "path": "a.png"}, "x": math.inf, "y": [math.nan]}
    row = {"completion": "4", "right": {"text": "4", "image": b"\xff"}, **odd}
    plain = {"completion": "4", "right": {"text": "4"}, "image": {"path": "a.png"}, "y": [None]}
    due = [scored.to_json() for scored in engine.score([plain])]
    assert [scored.to_json() for scored in engine.score([row])] == due
    assert [scored.to_json() for scored in engine.score(columns={name: [own] for name, own in row.items()})] == due
    assert engine.score_arrow(pa.Table.from_pylist([row]))["reward"].to_pylist() == [1.0]
    for wrong in ({**row, "completion": b"\xff"}, {**row, "right": {"text": b"\xff"}}):
        with pytest.raises(assay.DataError, match="bytes that are not UTF-8"):
            engine.score([wrong])
