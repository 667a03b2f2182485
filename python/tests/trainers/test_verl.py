"""``compute_score`` under verl's own reward loop: its workers are actors of Ray."""

from __future__ import annotations

import importlib.util
import math
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import assay
import pytest

pytest.importorskip("ray")
pytest.importorskip("verl")

import numpy as np
import ray
import torch
from omegaconf import OmegaConf
from tensordict import TensorDict
from tiny import save, tokenizer
from verl import DataProto
from verl.experimental.reward_loop import RewardLoopManager
from verl.trainer.ppo.metric_utils import process_validation_metrics
from verl.workers.reward_manager import get_reward_manager_cls

if TYPE_CHECKING:
    from collections.abc import Iterator

Row: TypeAlias = tuple[str, str, Any]
PROMPT, RESPONSE = 8, 16
CONFIG = """
version = 1
[[reward]]
name = "right"
verifier = "math"
[[reward]]
name = "brief"
verifier = "length"
weight = 0.5
when = 'meta.data_source == "short"'
config = { max = 4 }
"""
BROKEN = """
import assay
from assay.adapters import verl

@assay.verifier
def judge(sample):
    if "x" in sample.completion:
        raise OSError("the judge is down")
    return 1.0

CONFIG = {"version": 1, "reward": [{"name": "judge", "verifier": "judge"}]}

async def compute_score(data_source, solution_str, ground_truth, extra_info=None, on_fault="mask", **more):
    floor = {"floor": -1.0} if on_fault == "floor" else {}
    config = {**CONFIG, "combine": {"on_fault": on_fault, **floor}}
    return await verl.compute_score(
        data_source, solution_str, ground_truth, extra_info,
        assay_config=config, assay_options={"verifiers": [judge], "cache": False, "max_fault_rate": 0.5},
    )
"""


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save(folder)
    return folder


def batch(rows: list[Row]) -> DataProto:
    """Responses as a rollout leaves them: source, text and ground truth."""
    known = tokenizer()
    responses = torch.full((len(rows), RESPONSE), known.pad_token_id)
    mask = torch.zeros((len(rows), PROMPT + RESPONSE), dtype=torch.int64)
    mask[:, :PROMPT] = 1
    for at, (_, text, _) in enumerate(rows):
        ids = known(text, add_special_tokens=False)["input_ids"]
        responses[at, : len(ids)] = torch.tensor(ids, dtype=torch.int64)
        mask[at, PROMPT : PROMPT + len(ids)] = 1
    tensors = {
        "prompts": torch.zeros((len(rows), PROMPT), dtype=torch.int64),
        "responses": responses,
        "attention_mask": mask,
    }
    others = {
        "data_source": [row[0] for row in rows],
        "reward_model": [{"ground_truth": row[2], "style": "rule"} for row in rows],
        "extra_info": [{"index": at, "split": "train"} for at in range(len(rows))],
    }
    arrays = {name: np.array(values, dtype=object) for name, values in others.items()}
    return DataProto(batch=TensorDict(tensors, batch_size=len(rows)), non_tensor_batch=arrays)


@contextmanager
def manager(
    model: Path, path: str, workers: int = 1, **reward_kwargs: Any
) -> Iterator[RewardLoopManager]:
    """verl's manager with its own defaults, but for the lines of the documentation."""
    function = {"path": path, "reward_kwargs": reward_kwargs}
    with running(model, custom_reward_function=function, num_workers=workers) as made:
        yield made


@contextmanager
def running(model: Path, **ours: Any) -> Iterator[RewardLoopManager]:
    """verl's manager with its own defaults, but for some settings of its rewards."""
    package = importlib.util.find_spec("verl")
    assert package is not None and package.origin is not None
    defaults = OmegaConf.load(Path(package.origin).parent / "trainer/config/reward/reward.yaml")
    reward = OmegaConf.merge(defaults, ours)
    policy = {"model": {"path": str(model), "tokenizer_path": None}}
    made = RewardLoopManager(OmegaConf.create({"actor_rollout_ref": policy, "reward": reward}))
    try:
        yield made
    finally:
        for worker in made.reward_loop_workers:
            ray.kill(worker)


def test_the_reward_loop_scores_every_sample_with_the_same_keys(model: Path, tmp_path: Path) -> None:
    config = tmp_path / "assay.toml"
    config.write_text(CONFIG)
    rows: list[Row] = [
        ("short", "4", "4"),
        ("long", "It is 4.", "4"),
        ("long", "5", "4"),
        ("short", "", "4"),
    ]
    rows.append(("long", "\\boxed{4}", ["3", "4"]))

    with manager(model, "pkg://assay.adapters.verl", 2, assay_config=str(config)) as made:
        told = made.compute_rm_score(batch(rows))

    rewards = told.batch["rm_scores"].sum(dim=1).tolist()
    assert rewards[:3] == [1.5, 1.0, 0.0]
    assert rewards[4] == 1.0
    assert told.batch["rm_scores"][1].nonzero().flatten().tolist() == [len("It is 4.") - 1]
    keys = told.meta_info["reward_extra_keys"]
    assert {"score", "assay/fault_rate", "assay/latency_ms", "assay/reward/right"} <= set(keys)
    extra = told.non_tensor_batch
    assert extra["assay/reward/right"].tolist() == [1.0, 1.0, 0.0, 0.0, 1.0]
    assert extra["assay/reward/brief"].tolist()[1:3] == [None, None]
    assert extra["assay/fault_rate"].tolist() == [0.0] * 5

    # What verl makes of them after a validation leaves out what has no number.
    sources = [source for source, _, _ in rows]
    infos = {key: extra[key].tolist() for key in keys}
    metrics = process_validation_metrics(sources, [str(at) for at in range(5)], infos)
    assert metrics["short"]["assay/reward/brief"]["mean@1"] == 1.0
    assert "assay/reward/brief" not in metrics["long"]
    assert metrics["long"]["assay/reward/right"]["mean@1"] == pytest.approx(2 / 3)


def test_a_reward_manager_of_the_adapter(model: Path, tmp_path: Path) -> None:
    config = tmp_path / "assay.toml"
    config.write_text(CONFIG)
    own = {
        "source": "importlib",
        "name": "RewardManager",
        "module": {"path": "pkg://assay.adapters.verl_manager"},
    }
    kwargs = {"assay_config": str(config)}
    rows: list[Row] = [("short", "4", "4"), ("long", "It is 4.", "4"), ("long", "5", "4")]
    with running(model, reward_manager=own, reward_kwargs=kwargs, num_workers=2) as made:
        told = made.compute_rm_score(batch(rows))
    assert told.batch["rm_scores"].sum(dim=1).tolist() == [1.5, 1.0, 0.0]
    assert told.non_tensor_batch["assay/reward/right"].tolist() == [1.0, 1.0, 0.0]


def test_a_fault_is_an_error(model: Path, tmp_path: Path) -> None:
    own = tmp_path / "reward.py"
    own.write_text(BROKEN)
    with (
        manager(model, str(own)) as made,
        pytest.raises(assay.Unscored, match="the judge is down"),
    ):
        made.compute_rm_score(batch([("s", "fine", None), ("s", "x", None)]))


def test_a_fault_is_the_floor_until_there_are_too_many(model: Path, tmp_path: Path) -> None:
    own = tmp_path / "reward.py"
    own.write_text(BROKEN)
    rows: list[Row] = [("s", "fine", None), ("s", "x", None), ("s", "good", None)]
    with manager(model, str(own), on_fault="floor") as made:
        told = made.compute_rm_score(batch(rows))
        assert told.batch["rm_scores"].sum(dim=1).tolist() == [1.0, -1.0, 1.0]
        assert told.non_tensor_batch["assay/fault_rate"].tolist() == [0.0, 1.0, 0.0]
        assert told.non_tensor_batch["assay/reward/judge"].tolist() == [1.0, None, 1.0]
        with pytest.raises(assay.TooManyFaults, match="above max_fault_rate = 0.5"):
            made.compute_rm_score(batch([("s", "x", None)] * 64))


def test_the_managers_before_the_reward_loop_take_the_plain_function(tmp_path: Path) -> None:
    from assay.adapters import verl

    def compute_score(*args: Any, **kwargs: Any) -> dict[str, Any]:
        return verl.compute_score_sync(*args, assay_config=CONFIG, **kwargs)

    old: Any = get_reward_manager_cls("naive")(
        tokenizer=tokenizer(), num_examine=0, compute_score=compute_score
    )
    told = old(batch([("short", "4", "4"), ("long", "5", "4")]), return_dict=True)
    assert told["reward_tensor"].sum(dim=1).tolist() == [1.5, 0.0]
    brief = told["reward_extra_info"]["assay/reward/brief"]
    assert brief[0] == 1.0 and (brief[1] is None or math.isnan(brief[1]))
