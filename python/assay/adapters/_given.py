"""What a user gives an adapter: a configuration and settings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from assay._core import ConfigError
from assay._engine import Engine, coded

Config: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | Engine


def config_of_environment(config: Config | None) -> Config:
    """The configuration that is given, else that of the variable ``ASSAY_CONFIG``: a path."""
    if config is not None:
        return config
    if path := os.environ.get("ASSAY_CONFIG"):
        return Path(path)
    wrong = ConfigError("no configuration: pass one, or set ASSAY_CONFIG to its path")
    raise coded(wrong, "missing_key", key="ASSAY_CONFIG")


def plain(value: Any) -> Any:
    """Mappings and lists of other libraries as dicts and lists."""
    if isinstance(value, Mapping):
        return {str(key): plain(member) for key, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(member) for member in value]
    return value


def config_of(config: Config | None, options: Mapping[str, Any]) -> Config:
    """A configuration that does not change with the folder of a process."""
    config = config_of_environment(config)
    if isinstance(config, Engine):
        if options:
            raise TypeError(f"an engine is given: {', '.join(options)} cannot be set beside it")
        return config
    if isinstance(config, Mapping):
        return dict(plain(config))
    if isinstance(config, str):
        if "\n" in config or not config.endswith((".toml", ".json")):
            return config
        config = Path(config)
    path = Path(os.path.abspath(config))
    if not path.is_file():
        raise coded(ConfigError(f"{path}: no such file"), "unreadable_file", file=str(path))
    return path
