"""What can be caught: each error by our class, and by the one of Python that says the same."""

from __future__ import annotations

import pickle
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
