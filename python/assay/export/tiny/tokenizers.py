"""Tokenizers of each make, with a vocabulary of a few hundred."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from . import templates
from .corpus import sentences
from .vocabulary import unigrams, word_pieces

SENTENCES = sentences()
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")


def _wrap(tokenizer: Tokenizer, chat: str = "", **named: str) -> PreTrainedTokenizerFast:
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named)
    if chat:
        wrapped.chat_template = chat
    return wrapped


def _byte_level(
    pattern: str,
    special: Sequence[str],
    plain: Sequence[str] = (),
    texts: Iterable[str] = SENTENCES,
    size: int = 370,
) -> Tokenizer:
    """Byte-level BPE. `plain` are added tokens that are not special."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size - len(special) - len(plain),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in special])
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=False) for text in plain])
    return tokenizer


def _frame(tokenizer: Tokenizer, single: str, pair: str) -> None:
    """Special tokens around one text and around two."""
    names = {name.split(":")[0] for name in (single + " " + pair).split() if not name.startswith("$")}
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(name, tokenizer.token_to_id(name)) for name in sorted(names)]
    )


def qwen(texts: Iterable[str] = SENTENCES, size: int = 370) -> PreTrainedTokenizerFast:
    """As Qwen 2, 2.5 and 3: no BOS, ChatML, and the step tag of Qwen2.5-Math-PRM."""
    tokenizer = _byte_level(QWEN, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], ["<extra_0>"], texts, size)
    return _wrap(tokenizer, templates.CHATML, eos_token="<|im_end|>", pad_token="<|endoftext|>")


def qwen_with_bos() -> PreTrainedTokenizerFast:
    """As Skywork-o1-PRM: Qwen with a BOS that is written out."""
    tokenizer = _byte_level(QWEN, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    named = {"bos_token": "<|endoftext|>", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
    return _wrap(tokenizer, templates.CHATML, **named)


def llama3() -> PreTrainedTokenizerFast:
    """As Llama 3: the tokenizer and the chat template both add a BOS."""
    special = ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|pad|>"]
    tokenizer = _byte_level(LLAMA3, special)
    bos = special[0]
    _frame(tokenizer, f"{bos} $A", f"{bos} $A {bos}:1 $B:1")
    return _wrap(tokenizer, templates.LLAMA3, bos_token=bos, eos_token="<|eot_id|>", pad_token="<|pad|>")


def _metaspace(special: Sequence[str], size: int, prepend: bool) -> Tokenizer:
    """BPE of SentencePiece: spaces are "▁", and what is unknown falls apart into bytes."""
    steps = [normalizers.Prepend("▁")] if prepend else []
    normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", "▁")])
    learner = Tokenizer(models.BPE(unk_token="<unk>"))
    learner.normalizer = normalizer
    learner.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    trainer = trainers.BpeTrainer(vocab_size=size - 256, special_tokens=list(special), show_progress=False)
    learner.train_from_iterator(SENTENCES, trainer)
    learned = json.loads(learner.to_str())["model"]
    ordered = sorted(learned["vocab"], key=learned["vocab"].get)
    names = [*special, *(f"<0x{byte:02X}>" for byte in range(256)), *(t for t in ordered if t not in special)]
    tokenizer = Tokenizer(
        models.BPE(
            vocab={name: number for number, name in enumerate(names)},
            merges=[tuple(merge) for merge in learned["merges"]],
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    tokenizer.normalizer = normalizer
    start = [decoders.Strip(" ", 1, 0)] if prepend else []
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *start]
    )
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in special])
    return tokenizer


def mistral() -> PreTrainedTokenizerFast:
    """As Mistral: SentencePiece BPE with a BOS."""
    tokenizer = _metaspace(["<unk>", "<s>", "</s>"], 490, prepend=True)
    _frame(tokenizer, "<s> $A", "<s> $A <s>:1 $B:1")
    named = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<unk>"}
    return _wrap(tokenizer, templates.MISTRAL, **named)


def gemma() -> PreTrainedTokenizerFast:
    """As Gemma: SentencePiece BPE without the space in front."""
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"]
    tokenizer = _metaspace(special, 490, prepend=False)
    _frame(tokenizer, "<bos> $A", "<bos> $A <bos>:1 $B:1")
    named = {"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>"}
    return _wrap(tokenizer, templates.GEMMA, **named)


def bert() -> PreTrainedTokenizerFast:
    """As BERT: WordPiece, lower case."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    normalizer, splitter = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    words = [
        word for sentence in SENTENCES for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(sentence))
    ]
    tokenizer = Tokenizer(models.WordPiece(word_pieces(words, special, 360), unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, splitter
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in special])
    _frame(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    return _wrap(tokenizer, **_bert_names())


def roberta() -> PreTrainedTokenizerFast:
    """As RoBERTa: byte-level BPE."""
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    tokenizer = _byte_level(pattern, ["<s>", "<pad>", "</s>", "<unk>"])
    _frame(tokenizer, "<s> $A </s>", "<s> $A </s> </s> $B </s>")
    named = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>"}
    return _wrap(tokenizer, unk_token="<unk>", **named)


def modernbert() -> PreTrainedTokenizerFast:
    """As ModernBERT: byte-level BPE with the special tokens of BERT."""
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    tokenizer = _byte_level(pattern, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    _frame(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    return _wrap(tokenizer, **_bert_names())


def deberta(*more: str) -> PreTrainedTokenizerFast:
    """As DeBERTa-v2 and v3: Unigram of SentencePiece. `more` are further special tokens."""
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    words = [f"▁{word}" for sentence in SENTENCES for word in sentence.split()]
    tokenizer = Tokenizer(models.Unigram(unigrams(words, special, 300), unk_id=special.index("[UNK]")))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in (*special, *more)])
    _frame(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    return _wrap(tokenizer, **_bert_names())


def pairrm() -> PreTrainedTokenizerFast:
    """As PairRM: DeBERTa with a tag for the source and for each candidate."""
    return deberta("<|source|>", "<|candidate1|>", "<|candidate2|>")


def _bert_names() -> dict[str, str]:
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    return {f"{name}_token": text for name, text in names.items()}
