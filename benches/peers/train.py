"""The same training by `assay train` and in PyTorch, one thread each, in one run.

    python benches/peers/train.py ASSAY CONFIG.toml [--steps N] [--rounds N] [--set KEY=VALUE ...]

ASSAY is the program (built with `--features train`), CONFIG a configuration of `assay train` of a new
`llama`, whose rewards `reward_of` below knows: those of fixtures/training. The warm-up is made once, by
assay. From its weights both ways make the same steps in turns: the same prompts, as many completions of
each, the same temperature, length limit and end token, the same loss and learning rates. Rewards are no
part of a time: assay's are computed behind the sampling, and what it waits for them is left out; a few
lines of Python earn those of the peer. Needs benches/peers/requirements-train.txt.

The peer is what one gets out of PyTorch with care: fused QKV and gate/up layers, one rotation for queries
and keys, one prefill of each prompt, all completions in one batch, a cache that is written in place, logits
of completions alone, no entropies, fused AdamW, and memory that the allocator keeps. Measured for the demo:

- Sequences are sorted by length and padded in 16 passes: 2 took 50 % longer, 4 and 32 about 10 %, 8 3 %.
- Completions that ended leave the cache once they are 10 % of its rows: each time was 15 % slower, at 50 % 16 %.
- `scaled_dot_product_attention` beat matrix products and a softmax, and `enable_gqa` keys that are repeated;
  `rms_norm` beat the same by hand. A draw from sums took an eighth of the time of `multinomial`.
- `torch.compile` left the time of an update as it was, and took 15 s.
"""

from __future__ import annotations

import os
import sys

sys.path.pop(0)  # A neighbour of this file must not hide the module `math`.

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    # Memory that PyTorch frees is kept for the next tensor, not given back page by page.
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
}
if any(os.environ.get(name) != value for name, value in ONE_THREAD.items()):
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE_THREAD)

import argparse
import gzip
import json
import math
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

Row = dict[str, Any]

BUCKETS = 16
"""Passes of an update: sequences are sorted by length, and each pass is padded to its longest."""
COMPACT = 0.9
"""Rows that ended leave the cache when less than this share of it goes on."""


@dataclass
class Phases:
    """What steps took: seconds by the wall and of the processor, and tokens."""

    steps: int = 0
    sampling: float = 0.0
    training: float = 0.0
    cpu: float = 0.0
    sampled: int = 0
    trained: int = 0
    padded: int = 0
    rewards: list[float] = field(default_factory=list)

    def rate(self) -> float:
        return self.steps / (self.sampling + self.training)

    def cpu_rate(self) -> float:
        return self.steps / self.cpu


# The policy in PyTorch.


class Llama:
    """A Llama as plain tensors, of its `config.json` and the weights of its `model.safetensors`."""

    def __init__(self, shape: Row, weights: dict[str, Tensor]) -> None:
        if shape["model_type"] != "llama":
            raise SystemExit(f"a {shape['model_type']}: the peer is a llama")
        self.heads, self.kv_heads = shape["num_attention_heads"], shape["num_key_value_heads"]
        self.head_dim, self.eps = shape["head_dim"], shape["rms_norm_eps"]
        positions = torch.arange(shape["max_position_embeddings"], dtype=torch.float32)
        powers = torch.arange(0, self.head_dim, 2, dtype=torch.float32) / self.head_dim
        angles = positions[:, None] / shape["rope_theta"] ** powers
        self.cos, self.sin = angles.cos(), angles.sin()
        self.embedding = weights["model.embed_tokens.weight"].requires_grad_()
        head = self.embedding if shape["tie_word_embeddings"] else weights["lm_head.weight"]
        self.head = head.requires_grad_()
        self.norm = weights["model.norm.weight"].requires_grad_()
        self.layers = [self.layer(weights, f"model.layers.{at}.") for at in range(shape["num_hidden_layers"])]

    @staticmethod
    def layer(weights: dict[str, Tensor], name: str) -> dict[str, Tensor]:
        def joined(*parts: str) -> Tensor:
            return torch.cat([weights[f"{name}{part}.weight"] for part in parts]).requires_grad_()

        return {
            "norm": joined("input_layernorm"),
            "qkv": joined("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
            "o": joined("self_attn.o_proj"),
            "mlp_norm": joined("post_attention_layernorm"),
            "gate_up": joined("mlp.gate_proj", "mlp.up_proj"),
            "down": joined("mlp.down_proj"),
        }

    def parameters(self) -> list[Tensor]:
        all_of = [self.embedding, self.norm, *(weight for layer in self.layers for weight in layer.values())]
        return all_of if self.head is self.embedding else [*all_of, self.head]

    def hidden(self, ids: Tensor, rope: tuple[Tensor, Tensor], attend: Any) -> Tensor:
        """The last hidden states of `ids` of shape `[rows, tokens]`, before the output layer."""
        x = F.embedding(ids, self.embedding)
        for at, layer in enumerate(self.layers):
            normed = F.rms_norm(x, x.shape[-1:], layer["norm"], self.eps)
            mixed = F.linear(normed, layer["qkv"]).unflatten(-1, (-1, self.head_dim))
            query_key, value = mixed.split((self.heads + self.kv_heads, self.kv_heads), dim=2)
            query, key = rotated(query_key, rope).split((self.heads, self.kv_heads), dim=2)
            x = x + F.linear(attend(at, query, key, value), layer["o"])
            normed = F.rms_norm(x, x.shape[-1:], layer["mlp_norm"], self.eps)
            gate, up = F.linear(normed, layer["gate_up"]).chunk(2, dim=-1)
            x = x + F.linear(F.silu(gate) * up, layer["down"])
        return F.rms_norm(x, x.shape[-1:], self.norm, self.eps)

    def causal(self, ids: Tensor) -> Tensor:
        """The hidden states of rows that are padded on the right, which a causal mask hides."""

        def attend(_: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            heads = [part.transpose(1, 2) for part in (query, key, value)]
            mixed = F.scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=self.heads != self.kv_heads)
            return mixed.transpose(1, 2).flatten(2)

        width = ids.shape[1]
        return self.hidden(ids, (self.cos[:width, None], self.sin[:width, None]), attend)


def rotated(x: Tensor, rope: tuple[Tensor, Tensor]) -> Tensor:
    """The rotary positions of heads, `[rows, tokens, heads, width]`."""
    (cos, sin), (first, last) = rope, x.chunk(2, dim=-1)
    return torch.cat((first * cos - last * sin, last * cos + first * sin), dim=-1)


class Cache:
    """Keys and values of rows that are padded on the left: all rows write the same column."""

    def __init__(self, policy: Llama, prompts: list[list[int]], size: int, room: int) -> None:
        self.policy = policy
        self.width = max(map(len, prompts))
        pads = torch.tensor([self.width - len(prompt) for prompt in prompts])
        self.ids = torch.tensor([[0] * (self.width - len(prompt)) + prompt for prompt in prompts])
        columns = torch.arange(self.width + room)
        self.hides = torch.zeros(len(prompts), 1, 1, self.width + room)
        self.hides.masked_fill_((columns < pads[:, None])[:, None, None], -torch.inf)
        self.pads = pads
        self.layers: list[tuple[Tensor, Tensor]] = []
        self.prompt_rows, self.size = len(prompts), size

    def prefill(self) -> Tensor:
        """The hidden state at the end of each prompt; keys and values are then there for each completion."""
        policy, width = self.policy, self.width
        places = torch.arange(width)
        seen = (places[:, None] >= places) & (places >= self.pads[:, None])[:, None]
        seen = (seen | torch.eye(width, dtype=torch.bool))[:, None]
        columns = self.hides.shape[-1]

        def attend(_: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            query, key, value = (part.transpose(1, 2) for part in (query, key, value))
            kept = []
            for part in (key, value):
                room = torch.empty(self.prompt_rows, self.size, policy.kv_heads, columns, policy.head_dim)
                room[..., :width, :] = part[:, None]
                kept.append(room.flatten(0, 1))
            self.layers.append((kept[0], kept[1]))
            grouped = policy.heads != policy.kv_heads
            mixed = F.scaled_dot_product_attention(query, key, value, seen, enable_gqa=grouped)
            return mixed.transpose(1, 2).flatten(2)

        at = (places - self.pads[:, None]).clamp(min=0)
        rope = policy.cos[at][:, :, None], policy.sin[at][:, :, None]
        last = policy.hidden(self.ids, rope, attend)[:, -1]
        self.pads = self.pads.repeat_interleave(self.size)
        self.hides = self.hides.repeat_interleave(self.size, dim=0)
        return last.repeat_interleave(self.size, dim=0)

    def step(self, tokens: Tensor) -> Tensor:
        """The hidden states behind one token more for each row."""
        policy, column = self.policy, self.width
        self.width += 1
        hides = self.hides[..., : self.width]

        def attend(at: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            keys, values = self.layers[at]
            keys[:, :, column] = key[:, 0]
            values[:, :, column] = value[:, 0]
            # The heads that share keys stand as several queries of one head: nothing is repeated.
            query = query.view(len(tokens), policy.kv_heads, -1, policy.head_dim)
            keys, values = keys[:, :, : self.width], values[:, :, : self.width]
            return F.scaled_dot_product_attention(query, keys, values, hides).view(len(tokens), 1, -1)

        places = column - self.pads
        rope = policy.cos[places][:, None, None], policy.sin[places][:, None, None]
        return policy.hidden(tokens[:, None], rope, attend)[:, 0]

    def keep(self, rows: Tensor) -> None:
        self.pads, self.hides = self.pads[rows], self.hides[rows]
        for at, parts in enumerate(self.layers):
            kept = []
            for part in parts:
                room = part.new_empty(len(rows), *part.shape[1:])
                room[:, :, : self.width] = part[rows, :, : self.width]
                kept.append(room)
            self.layers[at] = (kept[0], kept[1])


@torch.inference_mode()
def sample(policy: Llama, prompts: list[list[int]], settings: Row, end: int) -> list[list[int]]:
    """Completions of each prompt, prompt by prompt."""
    size, room = settings["group_size"], settings["generation"]["max_new_tokens"]
    room = min(room, len(policy.cos) - max(map(len, prompts)))
    cache = Cache(policy, prompts, size, room)
    out = torch.full((len(prompts) * size, room), end)
    rows = torch.arange(len(out))
    hidden = cache.prefill()
    for at in range(room):
        tokens = drawn(F.linear(hidden, policy.head), settings["generation"]["temperature"])
        out[rows, at] = tokens
        is_open = out[rows, at] != end
        left = int(is_open.sum())
        if left == 0 or at + 1 == room:
            break
        if left < COMPACT * len(rows):
            kept = is_open.nonzero()[:, 0]
            rows, tokens = rows[kept], tokens[kept]
            cache.keep(kept)
        hidden = cache.step(tokens)
    ended = (out == end).int()
    lengths = torch.where(ended.any(1), ended.argmax(1) + 1, room)
    return [row[:length] for row, length in zip(out.tolist(), lengths.tolist())]


def drawn(logits: Tensor, temperature: float) -> Tensor:
    """A token of each row. Sums of the probabilities and one number a row were faster than `multinomial`."""
    sums = (logits / temperature).softmax(-1).cumsum(-1)
    chance = torch.rand(len(logits), 1) * sums[:, -1:]
    return torch.searchsorted(sums, chance, right=True)[:, 0].clamp(max=logits.shape[-1] - 1)


class Update:
    """GRPO as TRL's `dapo` loss has it, without a reference, and AdamW."""

    def __init__(self, policy: Llama, settings: Row) -> None:
        given = settings["optimizer"]
        self.policy, self.settings = policy, settings
        decayed = [weight for weight in policy.parameters() if weight.dim() > 1]
        groups = [
            {"params": decayed, "weight_decay": given["weight_decay"]},
            {"params": [weight for weight in policy.parameters() if weight.dim() == 1], "weight_decay": 0.0},
        ]
        betas = (given["adam_beta1"], given["adam_beta2"])
        self.optimizer = torch.optim.AdamW(groups, lr=0.0, betas=betas, eps=given["adam_epsilon"], fused=True)
        self.causal = policy.causal

    def update(self, rows: list[tuple[list[int], list[int]]], rewards: list[float], rate: float) -> int:
        """One update; says how many tokens its passes had, padding included."""
        by_group = torch.tensor(rewards).view(-1, self.settings["group_size"])
        centred = by_group - by_group.mean(1, keepdim=True)
        advantages = (centred / (by_group.std(1, keepdim=True) + 1e-4)).flatten()
        count = sum(len(completion) for _, completion in rows)
        order = sorted(range(len(rows)), key=lambda at: len(rows[at][0]) + len(rows[at][1]))
        padded = 0
        for bucket in range(BUCKETS):
            chosen = order[bucket * len(order) // BUCKETS : (bucket + 1) * len(order) // BUCKETS]
            if chosen:
                padded += self.backward([rows[at] for at in chosen], advantages[chosen], count)
        if self.settings["optimizer"]["max_grad_norm"] > 0:
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.settings["optimizer"]["max_grad_norm"])
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return padded

    def backward(self, rows: list[tuple[list[int], list[int]]], advantages: Tensor, count: int) -> int:
        width = max(len(prompt) + len(completion) for prompt, completion in rows)
        ids = torch.tensor([[*prompt, *completion] + [0] * (width - len(prompt) - len(completion))
                            for prompt, completion in rows])
        starts = torch.tensor([len(prompt) for prompt, _ in rows])[:, None]
        ends = torch.tensor([len(prompt) + len(completion) for prompt, completion in rows])[:, None]
        places = torch.arange(1, width)
        row, place = ((places >= starts) & (places < ends)).nonzero(as_tuple=True)
        # The last token of a row is never read: what it would predict is not there.
        hidden = self.causal(ids[:, :-1])[row, place]
        logits = F.linear(hidden, self.policy.head) / self.settings["generation"]["temperature"]
        log_probs = -F.cross_entropy(logits, ids[row, place + 1], reduction="none")
        ratio = (log_probs - log_probs.detach()).exp()
        earned = advantages[row]
        loss = -torch.minimum(ratio * earned, ratio.clamp(0.8, 1.2) * earned).sum() / count
        loss.backward()
        return ids[:, :-1].numel()


# Rewards: what the verifiers of fixtures/training say, in short.


def reward_of(task: Row, completion: str) -> float:
    kind, reference = task["meta"]["kind"], task["reference"]
    if kind not in ("countdown", "program"):
        found = re.findall(r"Answer: (-?\d+)", completion)
        return float(bool(found) and found[-1] == str(reference))
    found = re.fullmatch(r"[^<]*<answer>([^<]*)</answer>", completion)
    if not found:
        return 0.0
    right = countdown(task["meta"], found[1]) if kind == "countdown" else program(reference, found[1])
    return right + 0.1


def countdown(meta: Row, answer: str) -> bool:
    if not re.fullmatch(r"\d{1,5}([+*-]\d{1,5})*", answer):
        return False
    used = [int(number) for number in re.findall(r"\d+", answer)]
    return sorted(used) == sorted(meta["numbers"]) and value(answer) == meta["target"]


def program(reference: Row, answer: str) -> bool:
    found = re.fullmatch(r"f=lambda x:(\(x[+*-]\d{1,5}\)|x)([+*-]\d{1,5})*", answer)
    return bool(found) and all(value(in_numbers(answer, case)) == case["expected"] for case in reference["cases"])


def in_numbers(answer: str, case: Row) -> str:
    """The body of the function, with its argument; a sum in parentheses is a number."""
    body = answer.removeprefix("f=lambda x:").replace("x", str(case["args"][0]))
    return re.sub(r"\((.*)\)", lambda inner: str(value(inner[1])), body)


def value(expression: str) -> int:
    """Of numbers and the signs + - *."""
    terms = re.findall(r"[+-]?\d+(?:\*-?\d+)*", expression)
    return sum(math.prod(map(int, term.split("*"))) for term in terms)


# The two ways.


class Peer:
    """The steps of a run folder of assay, in PyTorch."""

    def __init__(self, folder: Path, config: Path) -> None:
        self.folder = folder
        self.settings = json.loads((folder / "config.resolved.json").read_text())["train"]
        self.shape = json.loads((folder / "model/config.json").read_text())
        self.end = self.shape["eos_token_id"]
        self.tokenizer = Tokenizer.from_file(str(folder / "model/tokenizer.json"))
        paths = [config.parent / name for name in self.settings["tasks"]]
        self.tasks = {task["id"]: task for path in paths for task in lines(path)}

    def run(self) -> Phases:
        """The steps that stand in the run folder, from its first weights."""
        policy = Llama(self.shape, load_file(self.folder / "checkpoints/checkpoint-0/model.safetensors"))
        update = Update(policy, self.settings)
        metrics = [row for row in lines(self.folder / "metrics.jsonl") if "step_time" in row]
        tasks = tasks_by_step(self.folder / "rollouts.jsonl")
        phases = Phases()
        for row in metrics:
            self.step((policy, update), tasks[row["step"]], row["learning_rate"], phases)
        return phases

    def step(self, made: tuple[Llama, Update], names: list[str], rate: float, phases: Phases) -> None:
        policy, update = made
        size = self.settings["group_size"]
        tasks = [self.tasks[name] for name in names]
        prompts = [self.tokenizer.encode(task["prompt"]).ids for task in tasks]
        began, cpu = time.perf_counter(), time.process_time()
        completions = sample(policy, prompts, self.settings, self.end)
        phases.sampling += time.perf_counter() - began
        phases.cpu += time.process_time() - cpu
        texts = self.tokenizer.decode_batch(completions)
        rewards = [reward_of(tasks[at // size], text) for at, text in enumerate(texts)]
        began, cpu = time.perf_counter(), time.process_time()
        rows = [(prompts[at // size], completion) for at, completion in enumerate(completions)]
        phases.padded += update.update(rows, rewards, rate)
        phases.training += time.perf_counter() - began
        phases.cpu += time.process_time() - cpu
        phases.steps += 1
        phases.sampled += sum(map(len, completions))
        phases.trained += sum(len(prompt) + len(completion) for prompt, completion in rows)
        phases.rewards.append(statistics.fmean(rewards))


def lines(path: Path) -> list[Row]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def tasks_by_step(rollouts: Path) -> dict[int, list[str]]:
    """The task of each group of each step, in their order."""
    found: dict[int, dict[int, str]] = {}
    for row in lines(rollouts):
        found.setdefault(row["step"], {})[row["group"]] = row["task"]
    return {step: [task for _, task in sorted(groups.items())] for step, groups in found.items()}


class Assay:
    """`assay train` from one warm-up."""

    def __init__(self, program: Path, config: Path, sets: list[str], folder: Path) -> None:
        fixed = ["evaluation.every=0", "evaluation.samples=0", "evaluation.tasks_max=1", "checkpoint.keep=0"]
        sets = [*(f"train.{setting}" for setting in fixed), *sets]
        flags = [flag for setting in sets for flag in ("--set", setting)]
        self.command = [program, "train", config, "--threads", "1", "--jobs", "1", "--no-cache", "--quiet", *flags]
        self.folder = folder
        self.call(folder / "warm", 1)
        # Without the checkpoint after it, the training goes on from the one before its first step.
        shutil.rmtree(folder / "warm/checkpoints/checkpoint-1")
        manifest = json.loads((folder / "warm/manifest.json").read_text())
        (folder / "warm/manifest.json").write_text(json.dumps(manifest | {"complete": False}))
        self.cpu_of_one = self.from_warm(1)

    def call(self, run: Path, steps: int) -> float:
        """Makes steps, and says how many seconds of the processor that took."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [*self.command, "--steps", str(steps), "--output", run]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def from_warm(self, steps: int) -> float:
        """Makes the steps anew in the folder `run`."""
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        shutil.copytree(self.folder / "warm", self.folder / "run")
        return self.call(self.folder / "run", steps)

    def run(self, steps: int) -> Phases:
        """The steps. Seconds of the processor are those of all but one step, which leaves out the start;
        rewards are among them."""
        run = self.folder / "run"
        cpu = self.from_warm(steps) - self.cpu_of_one
        phases = Phases(cpu=cpu * steps / (steps - 1))
        for row in lines(run / "metrics.jsonl"):
            if "step_time" in row:
                phases.steps += 1
                phases.training += row["time/training"]
                # All that is neither training nor waiting for rewards.
                phases.sampling += row["step_time"] - row["time/training"] - row["time/rewards"]
                phases.rewards.append(row["reward"])
        prompts = {row["id"]: row["prompt"] for row in self.tasks(run)}
        tokenizer = Tokenizer.from_file(str(run / "model/tokenizer.json"))
        tokens = {name: len(tokenizer.encode(prompt).ids) for name, prompt in prompts.items()}
        for row in lines(run / "rollouts.jsonl"):
            phases.sampled += row["tokens"]
            phases.trained += row["tokens"] + tokens[row["task"]]
        phases.padded = phases.trained
        return phases

    def tasks(self, run: Path) -> list[Row]:
        settings = json.loads((run / "config.resolved.json").read_text())["train"]
        config = Path(self.command[2])
        return [row for name in settings["tasks"] for row in lines(config.parent / name)]


def shown(name: str, phases: Phases) -> str:
    steps = phases.steps
    return (
        f"{name:8}{phases.rate():9.2f}{phases.sampling / steps:12.3f}{phases.training / steps:12.3f}"
        f"{phases.cpu / steps:10.3f}{phases.sampled / steps:10.0f}{phases.trained / steps:10.0f}"
        f"{phases.padded / steps:10.0f}{phases.sampled / phases.sampling:12.0f}"
        f"{phases.trained / phases.training:12.0f}{statistics.fmean(phases.rewards):9.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay", type=Path)
    parser.add_argument("config", type=Path)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = given.config.resolve()
    with tempfile.TemporaryDirectory() as work:
        ours = Assay(given.assay.resolve(), config, given.set, Path(work))
        Peer(Path(work) / "warm", config).run()  # PyTorch's first step is slower, and not counted.
        print(f"{'':17}{'s a step:':>12}{'':22}{'tokens a step:':>20}{'':10}{'tokens/s:':>12}")
        columns = ("sampling", 12), ("training", 12), ("cpu", 10), ("sampled", 10), ("trained", 10), ("padded", 10)
        columns = ("steps/s", 17), *columns, ("sampling", 12), ("training", 12), ("reward", 9)
        print("".join(f"{name:>{width}}" for name, width in columns))
        ratios, cpu_ratios = [], []
        for _ in range(given.rounds):
            made = ours.run(given.steps)
            peer = Peer(Path(work) / "run", config).run()
            print(shown("assay", made), shown("PyTorch", peer), sep="\n", flush=True)
            ratios.append(made.rate() / peer.rate())
            cpu_ratios.append(made.cpu_rate() / peer.cpu_rate())
    for name, found in (("steps/s", ratios), ("steps a second of the processor", cpu_ratios)):
        told = " ".join(f"{ratio:.2f}" for ratio in found)
        print(f"assay / PyTorch, {name}: {told}, median {statistics.median(found):.2f} (bar: 0.90)")


if __name__ == "__main__":
    main()
