"""`python -m assay.export MODEL_DIR OUT --preset NAME`."""

from __future__ import annotations

import argparse
import errno
import logging
import sys
from pathlib import Path
from pickle import UnpicklingError

import torch
from jinja2 import TemplateError
from safetensors import SafetensorError

from . import memory
from .checkpoint import Checkpoint
from .export import STREAMED, TOLERANCES, Options, Report, export, part_of
from .presets import PRESETS
from .progress import on_stderr

logging.disable(logging.WARNING)
REFUSALS = (ValueError, OSError, TemplateError, SafetensorError, UnpicklingError)
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def refuse(name: str, error: Exception, out: Path) -> int:
    """Prints why no model folder was written, under a code of `docs/codes.md`, and returns the exit code."""
    code, ends, more = "bad_value", 2, ""
    if isinstance(error, SafetensorError | UnpicklingError):
        code, ends = "damaged", 3
    elif isinstance(error, OSError):
        is_ours = str(error.filename or "").startswith(str(out))
        code, ends = "unwritable" if is_ours or error.errno in UNWRITABLE else "unreadable_file", 3
        if (part := part_of(out)).exists():
            more = f"; the same command goes on with {part}"
    print(f"error[{code}]: {name}: {error}{more}", file=sys.stderr)
    return ends


def report(name: str, found: Report, given: float) -> None:
    """Prints how far the graph is from transformers, and the tolerance where it is not the one given."""
    for number, difference in enumerate(found.differences, 1):
        print(f"{name}  golden {number}  largest difference {difference:.2e}")
    if found.tolerance > given:
        print(f"{name}  tolerance of the golden pairs {found.tolerance:.1e}: rounding is above {given:.0e}")
    for way, rounding in found.rounding.items():
        print(f"{name}  weights in {way}: at most {rounding:.1e} from the checkpoint, by the root of the mean square")
    if found.layers:
        layer, apart = max(found.layers.items(), key=lambda item: item[1])
        print(f"{name}  {len(found.layers)} layers compared; {layer} is the furthest, {apart:.1e} of its size")
    if found.spearman is not None:
        print(f"{name}  Spearman against fp32 {found.spearman:.4f}")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="assay.export", description=__doc__)
    parser.add_argument("model", type=Path, help="a Hugging Face model folder")
    parser.add_argument("out", type=Path, help="the model folder to write")
    parser.add_argument("--preset", choices=sorted(PRESETS), required=True)
    parser.add_argument("--precision", choices=tuple(TOLERANCES), default="fp32")
    parser.add_argument("--in-memory", action="store_true", help="hold all weights in memory, also of a large model")
    parser.add_argument("--kv", action="store_true", help="take past keys and values")
    parser.add_argument("--opset", type=int, default=22)
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--chat-template", type=Path, help="a chat template, where the tokenizer has none")
    parser.add_argument("--reference", type=Path, help="the folder of the reference model, for implicit-prm")
    parser.add_argument("--name", help="the name in the manifest; default: that of the folder")
    parser.add_argument("--source", default="", help="where the weights came from")
    parser.add_argument("--licence", default="")
    parser.add_argument("--tolerance", type=float, help="of the golden pairs; default: 1e-5, fp16 2e-3, integers 1e-4")
    given = parser.parse_args()
    torch.set_num_threads(1)
    options = Options(
        given.name or given.model.resolve().name,
        given.precision,
        given.kv,
        given.opset,
        given.max_tokens,
        given.source,
        given.licence,
        given.tolerance,
    )
    folders = [given.model, *([given.reference] if given.reference else [])]
    for folder in folders:
        if not (folder / "config.json").exists():
            parser.error(f"{folder} is no Hugging Face model folder")
    try:
        chat = given.chat_template and given.chat_template.read_text(encoding="utf-8")
        tell = on_stderr()
        streamed = False if given.in_memory else True if options.precision in STREAMED else None
        checkpoints = [Checkpoint(folder, chat, tell, streamed) for folder in folders]
        parameters = sum(checkpoint.parameters for checkpoint in checkpoints)
        if checkpoints[0].streamed:
            bytes_needed = memory.needed_streamed(max(one.largest for one in checkpoints), options.precision)
        else:
            bytes_needed = memory.needed(parameters, options.precision)
        needed = memory.shown(bytes_needed)
        tell(f"{parameters / 1e6:,.1f} M parameters; this takes about {needed}")
        found = export(checkpoints, given.out, PRESETS[given.preset], options, tell)
        tell("done; that was the peak of memory")
        report(options.name, found, options.limit)
    except REFUSALS as refused:
        raise SystemExit(refuse(options.name, refused, given.out)) from refused


if __name__ == "__main__":
    main()
