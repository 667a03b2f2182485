"""What the adapters share, without any trainer."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import math
import multiprocessing
import os
import pickle
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

import assay
import pytest
from assay.adapters import openrlhf, trl, verl
from assay.adapters._adapter import Adapter, Trainer
from assay.adapters._response import response_of
from assay.adapters.openrlhf_server import server

DOCS = Path(__file__).parents[2] / "docs" / "trainers"

MASKS = Trainer("it", masks=True, groups=True, on_fault="mask")
ALONE = Trainer("it", masks=False, groups=False, on_fault="raise")


@assay.verifier
def judge(sample: assay.Sample) -> float | None:
    """Reads the number in the completion; cannot judge what is broken."""
    if sample.completion == "broken":
        raise OSError("the judge is down")
    return None if sample.completion == "none" else float(sample.completion)


JUDGED: dict[str, Any] = {"version": 1, "reward": [{"name": "judged", "verifier": "judge"}]}
EXACT: dict[str, Any] = {"version": 1, "reward": [{"name": "right", "verifier": "exact"}]}


def adapter(trainer: Trainer = MASKS, **settings: Any) -> Adapter:
    combine = settings.pop("combine", {})
    return Adapter({**JUDGED, "combine": combine}, trainer, verifiers=[judge], cache=False, **settings)


def test_a_fault_and_an_abstention_have_no_reward_and_count_apart() -> None:
    batch = adapter().score(completions=["1", "broken", "none", "3"])
    assert batch.rewards == [1.0, None, None, 3.0]
    metrics = batch.metrics
    assert metrics["assay/fault_rate"] == 0.25
    assert metrics["assay/abstained_rate"] == 0.25
    assert metrics["assay/reward/judged"] == 2.0
    assert metrics["assay/latency_ms"] > 0.0
    assert list(batch.sample_metrics(1)) == list(metrics)
    assert math.isnan(batch.sample_metrics(1)["assay/reward/judged"])
    outcomes = batch.outcomes()
    assert outcomes[0] == "scored"
    assert outcomes[1].startswith("failed: Internal: judged: judge: OSError: the judge is down")
    assert outcomes[2].startswith("abstained: ")


def test_the_mean_of_the_group_gives_no_advantage() -> None:
    filled = adapter(on_fault="mean_of_group")
    batch = filled.score(completions=["1", "3", "broken", "none"], groups_by=["a", "a", "a", "b"])
    assert batch.rewards == [1.0, 3.0, 2.0, 2.0]
    with pytest.raises(assay.Unscored, match="the judge is down"):
        filled.score(completions=["broken", "broken"])


def test_an_error_names_the_sample_and_why() -> None:
    with pytest.raises(assay.Unscored, match=r"sample s7: failed: Internal: .*judge is down.* it needs"):
        adapter(ALONE).score(completions=["1", "broken"], ids=["s6", "s7"])
    with pytest.raises(assay.Unscored, match="abstained: .*returned None"):
        adapter(ALONE).score(completions=["none"])


def test_the_floor_of_the_configuration_pays_and_still_counts_as_a_fault() -> None:
    batch = adapter(ALONE, combine={"on_fault": "floor", "floor": -1.0}).score(
        completions=["1", "broken"]
    )
    assert batch.rewards == [1.0, -1.0]
    assert batch.metrics["assay/fault_rate"] == 0.5


def test_a_group_is_dropped_as_the_configuration_says() -> None:
    dropping = adapter(combine={"on_fault": "drop_group"})
    batch = dropping.score(completions=["1", "broken", "2"], prompts=["p", "p", "q"])
    assert batch.rewards == [None, None, 2.0]
    assert batch.metrics["assay/fault_rate"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("trainer", "settings", "why"),
    [
        (ALONE, {"on_fault": "mask"}, "it cannot leave a sample out"),
        (ALONE, {"on_fault": "mean_of_group"}, "one sample at a time"),
        (ALONE, {"on_fault": "floor"}, "combine.on_fault"),
        (ALONE, {"combine": {"on_fault": "drop_group"}}, "one sample at a time"),
    ],
)
def test_a_rule_that_the_trainer_cannot_keep_is_refused(
    trainer: Trainer, settings: dict[str, Any], why: str
) -> None:
    with pytest.raises(assay.ConfigError, match=why):
        adapter(trainer, **settings).engine  # noqa: B018


def test_what_no_engine_takes_is_refused_when_an_adapter_is_made() -> None:
    one = {"version": 1, "reward": [{"name": "correct", "verifier": "math"}]}
    with pytest.raises(assay.ConfigError, match="referense"):
        trl.reward_function(one, columns={"referense": "answer"})
    with pytest.raises(TypeError, match="onfault"):
        trl.reward_function(one, onfault="mask")
    with pytest.raises(assay.ConfigError, match="reward"):
        trl.reward_function({"version": 1})


def test_too_many_faults_name_the_most_frequent_one() -> None:
    stopping = adapter(max_fault_rate=0.5)
    assert stopping.score(completions=["broken"] * 30 + ["1"] * 30).rewards[0] is None
    with pytest.raises(assay.TooManyFaults) as raised:
        stopping.score(completions=["broken"] * 2)
    assert "32 of the last 62 samples" in str(raised.value)
    assert "32 of them are Internal, the last one: judged: judge: OSError" in str(raised.value)
    with pytest.raises(ValueError, match="max_fault_rate"):
        adapter(max_fault_rate=1.5)


def test_a_fault_rate_is_of_the_last_samples_alone() -> None:
    window = adapter(max_fault_rate=0.5)
    window.score(completions=["1"] * 1000)
    window.score(completions=["broken"] * 500)
    with pytest.raises(assay.TooManyFaults, match="501 of the last 1000"):
        window.score(completions=["broken"])


def test_an_adapter_pickles_and_is_used_by_threads_loops_and_forks() -> None:
    made = adapter()
    shipped: Adapter = pickle.loads(pickle.dumps(made))
    with ThreadPoolExecutor(8) as pool:
        engines = set(pool.map(lambda _: id(shipped.engine), range(32)))
    assert len(engines) == 1
    assert asyncio.run(shipped.score_async(completions=["2"])).rewards == [2.0]
    child = os.fork()
    if child == 0:
        is_scored = shipped.score(completions=["3"]).rewards == [3.0]
        os._exit(0 if is_scored else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_path_stays_the_same_when_the_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assay.toml").write_text('version = 1\n[[reward]]\nname = "r"\nverifier = "exact"\n')
    monkeypatch.chdir(tmp_path)
    made = Adapter("assay.toml", MASKS)
    monkeypatch.chdir("/")
    assert made.engine.names == ["r"]
    with pytest.raises(assay.ConfigError, match=r"/none\.toml: no such file"):
        Adapter("none.toml", MASKS)
    with pytest.raises(assay.ConfigError, match="set ASSAY_CONFIG"):
        openrlhf.reward_function()


def test_functions_of_one_configuration_judge_a_batch_once() -> None:
    calls: list[str] = []

    @assay.verifier
    def counted(sample: assay.Sample) -> float:
        calls.append(sample.completion)
        return 1.0

    rewards = [
        {"name": "a", "verifier": "counted"},
        {"name": "b", "verifier": "regex", "config": {"pattern": "."}},
    ]
    first, second = trl.reward_functions(
        {"version": 1, "reward": rewards}, verifiers=[counted], cache=False
    )
    prompts, completions = ["p", "p"], ["x", "y"]
    told: list[str] = []
    for function in (first, second):
        function(prompts, completions, log_metric=lambda name, value: told.append(name))
    assert sorted(calls) == ["x", "y"]
    assert len(told) == len(set(told)), "what is judged once is logged once"
    first(prompts, completions)
    assert len(calls) == 4, "the same function asks again for a new judgement"


def test_trainers_load_a_function_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "assay.json"
    config.write_text(json.dumps({**EXACT, "data": {"reference": "answer"}}))
    monkeypatch.setenv("ASSAY_CONFIG", str(config))
    lists: dict[str, Any] = {"prompts": ["p"] * 2, "completions": ["a", "b"], "answer": ["a", "a"]}
    for name in ("reward", "reward_async"):
        function = getattr(importlib.import_module("assay.adapters.trl"), name)
        assert inspect.isfunction(function)
        assert function.__name__ == name
        assert len(inspect.signature(function).parameters) >= 2
        found = function(**lists, completion_ids=[[1], [2]], trainer_state=None, log_extra=None)
        is_async = inspect.iscoroutinefunction(function)
        assert is_async == (name == "reward_async")
        assert (asyncio.run(found) if is_async else found) == [1.0, 0.0]


@pytest.mark.parametrize("is_async", [False, True])
def test_made_functions_are_what_every_version_asks_for(is_async: bool) -> None:
    for function in (
        trl.reward_function(EXACT, is_async=is_async),
        *trl.reward_functions(EXACT, is_async=is_async),
    ):
        shipped = pickle.loads(pickle.dumps(function))
        assert inspect.iscoroutinefunction(shipped) == inspect.iscoroutinefunction(function) == is_async
        assert shipped.__name__ in ("assay", "right")
        assert len(inspect.signature(shipped).parameters) >= 2
        found = shipped(["p"], ["a"], reference=["a"])
        assert (asyncio.run(found) if is_async else found) == [1.0]


def test_a_trainer_that_counts_nothing_as_zero_gets_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(_: str) -> str:
        return "1.5.1"

    monkeypatch.setattr(metadata, "version", version)
    assert not trl._masks()
    monkeypatch.setattr(trl, "MASKS", False)
    rewards = [
        {"name": "judged", "verifier": "judge"},
        {"name": "same", "verifier": "exact", "weight": 0.5, "when": 'meta.kind == "exact"'},
    ]
    options: dict[str, Any] = {"verifiers": [judge], "cache": False, "max_fault_rate": 1.0}
    config = {"version": 1, "reward": rewards}
    prompts, completions = ["a", "a", "a", "b", "b"], ["1", "3", "broken", "broken", "broken"]
    kinds = ["exact", "other", "exact", "exact", "exact"]
    columns: dict[str, Any] = {"reference": ["1"] * 5, "kind": kinds}
    parts = [one(prompts, completions, **columns) for one in trl.reward_functions(config, **options)]
    # The second reward does not apply to the second sample, whose sum has nothing of it.
    assert parts == [[1.0, 3.0, 2.0, 2.0, 2.0], [1.0, None, 0.5, 0.5, 0.5]]
    combined = trl.reward_function(config, **options)(prompts, completions, **columns)
    assert combined == [1.5, 3.0, 2.25, 2.25, 2.25]
    nothing = trl.reward_function(config, **options)(["b"], ["broken"], reference=["1"], kind=["exact"])
    assert math.isnan(nothing[0] or 0.0)


def test_columns_of_the_dataset_are_named_and_objects_are_left_out() -> None:
    function = trl.reward_function(EXACT, columns={"reference": "answer"})
    said = [[{"role": "assistant", "content": "a"}], [{"role": "assistant", "content": "b"}]]
    images = [object(), object()]
    assert function(["p", "q"], said, answer=["a", "a"], image=images) == [1.0, 0.0]
    for key, value in (("how", "min"), ("normalise", "then_sum"), ("on_abstain", "renormalise")):
        config = {**EXACT, "data": {"group": "prompt"}, "combine": {key: value}}
        with pytest.raises(assay.ConfigError, match=rf"combine\.{key} = '{value}' would be lost"):
            trl.reward_functions(config)
    ramp = {"kind": "linear", "from": 0.0, "to": 1.0, "start": 1, "end": 9}
    with pytest.raises(assay.ConfigError, match="changes with the training step"):
        trl.reward_functions({**EXACT, "reward": [{**EXACT["reward"][0], "weight": ramp}]})


def test_the_training_step_is_known_to_the_configuration() -> None:
    class State:
        global_step = 5

    late = {**EXACT, "combine": {"how": "expression", "expression": "right * step"}}
    assert trl.reward_function(late)(["p"], ["a"], trainer_state=State(), reference=["a"]) == [5.0]


def test_compute_score_has_the_same_keys_for_every_sample() -> None:
    async def all_scores() -> list[dict[str, Any]]:
        calls = (
            verl.compute_score("set", text, "4", {"split": "train"}, assay_config=EXACT)
            for text in ("4", "5", "")
        )
        return list(await asyncio.gather(*calls))

    told = asyncio.run(all_scores())
    assert [one["score"] for one in told] == [1.0, 0.0, 0.0]
    assert len({tuple(one) for one in told}) == 1
    assert asyncio.iscoroutinefunction(verl.compute_score)
    alone = verl.compute_score_sync("set", "4", "4", assay_config=EXACT)
    assert list(alone) == list(told[0])


def test_what_has_one_name_is_not_taken_for_the_same() -> None:
    """Engines, and functions that were defined again in a notebook."""

    def paid(value: float) -> Any:
        @assay.verifier(id="paid")
        def verifier(sample: assay.Sample) -> float:
            return value

        return verifier

    engines = [assay.Engine(EXACT), assay.Engine(EXACT, settings={"reward.right.weight": 0.5})]
    scores = [verl.compute_score_sync("set", "4", "4", assay_config=one)["score"] for one in engines]
    assert scores == [1.0, 0.5]
    paying = {"version": 1, "reward": [{"name": "paid", "verifier": "paid"}]}
    for value in (1.0, 0.5):
        options = {"verifiers": [paid(value)], "cache": False}
        told = verl.compute_score_sync("set", "4", "4", assay_config=paying, assay_options=options)
        assert told["score"] == value


def test_rows_of_a_trainer_are_what_its_samples_are() -> None:
    config = {**EXACT, "data": {"reference": "truth.text"}, "reward": [
        {"name": "right", "verifier": "exact"},
        {"name": "kind", "verifier": "exact", "weight": 0.0, "when": '"image" in meta || "kind" in meta'},
    ]}
    adapter = Adapter(config, MASKS)
    rows: list[dict[str, Any]] = [
        {"truth": {"text": "a"}, "image": object(), "pixels": [object()]},
        {"truth": {"text": "b"}, "kind": None},
        {"completion": "c", "extra": 1, "truth": {"text": "c"}, "kind": "text"},
        {},
    ]
    said = ["a", "b", "b", "c"]
    given: dict[str, Any] = {"completions": said, "references": ["z"] * 4, "taken": ("extra",)}
    batch = adapter.score_rows(rows, **given)
    assert batch.rewards == [1.0, 1.0, 0.0, None], "a column of the reference counts for all rows"
    names = ("truth", "image", "completion", "extra", "kind")
    columns = {name: [row.get(name) for row in rows] for name in names}
    lines = [one.to_json() for one in adapter.score_rows(columns, **given).scored]
    assert [one.to_json() for one in batch.scored] == lines
    assert [one.rewards["kind"] for one in batch.scored] == [None, None, 0.0, None]
    alone = [
        adapter.score_row(row, text, reference="z", taken=("extra",)).scored[0].to_json()
        for row, text in zip(rows[:3], said, strict=False)
    ]
    assert alone == lines[:3]
    nested: Any = []
    for _ in range(200_000):
        nested = [nested]
    for row, why in [({"a": nested}, "nested more than"), ({"a": "\ud800"}, "lone surrogate")]:
        with pytest.raises(assay.DataTypeError, match=why):
            adapter.score_row(row, "a")
    with pytest.raises(assay.DataTypeError, match=r"rows\[0\]: expected a dict, found int"):
        adapter.score_rows([1], completions=["a"])  # type: ignore[list-item]


def test_many_tasks_and_threads_share_one_adapter() -> None:
    texts = [str(at) for at in range(64)]

    def alone(text: str) -> float:
        return float(verl.compute_score_sync("set", text, "7", assay_config=EXACT)["score"])

    async def together() -> list[float]:
        calls = (verl.compute_score("set", text, "7", assay_config=EXACT) for text in texts)
        return [one["score"] for one in await asyncio.gather(*calls)]

    right = [float(text == "7") for text in texts]
    assert asyncio.run(together()) == asyncio.run(together()) == right, "a second event loop too"
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(alone, texts)) == right


def told(queue: Any, function: Any, lists: dict[str, Any]) -> None:
    """What a process of its own makes of a reward function."""
    queue.put(function(**lists))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_reward_functions_go_to_other_processes(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "assay.json"
    config.write_text(json.dumps(EXACT))
    monkeypatch.setenv("ASSAY_CONFIG", str(config))
    lists: dict[str, Any] = {"prompts": ["p"] * 2, "completions": ["a", "b"], "reference": ["a", "a"]}
    functions: list[Any] = [trl.reward, trl.reward_function(EXACT), *trl.reward_functions(EXACT)]
    for function in functions:
        assert function(**lists) == [1.0, 0.0], "the parent has an engine already"
    context: Any = multiprocessing.get_context(method)
    queue = context.Queue()
    processes = [context.Process(target=told, args=(queue, one, lists)) for one in functions]
    for process in processes:
        process.start()
    assert [queue.get(timeout=60) for _ in processes] == [[1.0, 0.0]] * 3
    for process in processes:
        process.join(30)
        assert process.exitcode == 0


@pytest.mark.parametrize(
    ("query", "prompt", "response"),
    [
        ("Q: 1+1? A: 2", "Q: 1+1? A:", " 2"),
        ("Q: 1+1? A: 2<|im_end|>", "Q: 1+1? A:", " 2"),
        ("Q A <b>2</b></s> <pad><pad>", "Q A", " <b>2</b>"),
        ("Q:  1+1?\nA: 2", "Q: 1+1? A:", " 2"),
        ("tail of a very long prompt? 2", "the head and the tail of a very long prompt?", " 2"),
        ("something else", "Q: 1+1? A:", None),
        ("ends? 2", "the head and the tail of a very long prompt that ends?", None),
        ("", "", ""),
        ("Q", "Q", ""),
    ],
)
def test_the_response_is_what_follows_the_prompt(query: str, prompt: str, response: str | None) -> None:
    assert response_of(query, prompt) == response


def posted(url: str, body: bytes) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=body), timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_the_server_refuses_what_it_cannot_judge() -> None:
    with server(EXACT, port=0) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        root = f"http://127.0.0.1:{running.server_port}"
        url = f"{root}/get_reward"
        query = {"query": ["1+1=2"], "prompts": ["1+1="], "labels": ["2"]}
        status, told = posted(url, json.dumps(query).encode())
        assert (status, told["rewards"], told["scores"]) == (200, [1.0], [1.0])
        assert told["extra_logs"]["assay/reward/right"] == [1.0]
        for body, code, why in [
            (b"{", 400, "not JSON"),
            (b"[" * 100_000, 400, "not JSON"),
            (b'{"query": "1"}', 400, "query: expected a list of texts"),
            (b'{"query": ["a"], "labels": []}', 503, "no reference"),
            (json.dumps({**query, "labels": [None]}).encode(), 503, "no reference"),
            (json.dumps({**query, "labels": ["1", "2"]}).encode(), 400, "2 labels"),
            (json.dumps({**query, "prompts": ["another"]}).encode(), 400, "its prompt"),
        ]:
            status, told = posted(url, body)
            assert (status, why in told["error"]) == (code, True), told
        assert posted(f"{root}/other", b"{}")[0] == 404
        running.shutdown()


def documented(page: str, config: Path | None = None) -> dict[str, Any]:
    """What the first Python of a page defines, with a configuration in the place of its own."""
    code = (DOCS / page).read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    defined: dict[str, Any] = {}
    exec(compile(code.replace("/data/assay.toml", str(config)), page, "exec"), defined)
    return defined


def test_the_documented_files_are_reward_functions(tmp_path: Path) -> None:
    config = tmp_path / "assay.json"
    config.write_text(json.dumps(EXACT))
    told = documented("openrlhf.md", config)["reward_func"](["1+1=2"], ["1+1="], ["2"])
    assert [float(one) for one in told["rewards"]] == [1.0]

    compute_score = documented("verl.md")["compute_score"]
    assert asyncio.run(compute_score("set", "please", None))["score"] == 1.0
    assert asyncio.run(compute_score("set", "now", None, {"index": 1}))["score"] == 0.0


def test_what_a_trainer_trains_on_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "train"
    monkeypatch.setenv("ASSAY_RECORD", str(folder))
    monkeypatch.setenv("ASSAY_RECORD_EVERY", "2")
    rows: list[dict[str, Any]] = [{}, {}, {}, {}]
    said = ["1", "3", "broken", "none"]
    for step in (1, 2):
        adapter().score_rows(rows, completions=said, prompts=["p", "p", "p", "q"], step=step)

    def lines(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (folder / name).read_text().splitlines()]

    metrics = lines("metrics.jsonl")
    assert [line["step"] for line in metrics] == [1, 2]
    assert metrics[0]["reward"] == metrics[0]["rewards/judged/mean"] == 2.0
    assert metrics[0]["reward_faults"] == 0.25
    rollouts = lines("rollouts.jsonl")
    assert [line["group"] for line in rollouts] == [0, 0, 0, 1]
    assert [line["advantage"] for line in rollouts] == [-1.0, 1.0, 0.0, 0.0]
    assert [line["fault"] for line in rollouts] == [None, None, "Internal", None]
    assert {line["step"] for line in rollouts} == {2}
