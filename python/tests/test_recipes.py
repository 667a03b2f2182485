"""Recipes: what Python sees of the files, and of what they compute."""

import math
from pathlib import Path

import pytest

import assay


def test_a_recipe_is_a_function_of_columns() -> None:
    opo = assay.recipe("opo")
    assert opo.id == "opo"
    assert opo.formula is not None
    assert opo(r=[1.0, 0.0], length=[3, 1]) == [0.25, -0.75]


def test_settings_and_numbers() -> None:
    found = assay.recipe("2.4", max=100, cache=50)(r=[1.0, 1.0], length=[75, 200])
    assert found == [0.5, 0.0]
    with pytest.raises(assay.ConfigError, match="cache is 200") as refused:
        assay.recipe("overlong", max=100, cache=200)(r=[1.0], length=[1])
    assert refused.value.code == "bad_value"
    assert refused.value.fields["key"] == "cache"


def test_groups_are_apart() -> None:
    found = assay.recipe("dr_grpo")(r=[1.0, 0.0, 5.0, 7.0], groups=[2, 2])
    assert found == [0.5, -0.5, -1.0, 1.0]


def test_every_recipe_has_a_file() -> None:
    ids = assay.recipes()
    assert len(ids) >= 168
    for name in ids:
        assert assay.recipe(name).title, name


def test_what_is_missing_is_no_zero() -> None:
    found = assay.recipe("dr_grpo")(r=[1.0, None, 0.0])
    assert found[0] == 0.5
    assert found[1] is None
    with pytest.raises(KeyError):
        assay.recipe("no such recipe")
    with pytest.raises(assay.ConfigError, match="length"):
        assay.recipe("opo")(r=[1.0])


def test_a_file_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        'id = "own"\ntitle = "Half"\npapers = []\nbasis = "known"\nplace = "reward"\n'
        'about = "Half of a column."\nformula = "meta.x / 2"\n',
        encoding="utf-8",
    )
    own = assay.recipe(path)
    assert own({"meta.x": [3.0]}) == [1.5]
    assert math.isclose(own({"meta.x": [1e-9]})[0], 5e-10)
