//! The marks of thinking and of the end of a turn.

use memchr::{memchr2_iter, memchr3_iter};

/// How models mark the beginning and the end of their thinking, the case of letters aside.
const KINDS: [(&str, &str); 15] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<antThinking>", "</antThinking>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|begin_of_thought|>", "<|begin_of_solution|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|START_THINKING|>", "<|START_RESPONSE|>"),
];

/// How a channel begins; its name follows, and what is said in it behind [`MESSAGE`].
const CHANNEL: &str = "<|channel|>";

const MESSAGE: &str = "<|message|>";

/// The longest name of a channel with its recipient, in bytes.
const CHANNEL_NAME_MAX: usize = 80;

/// Tokens that end a turn.
const TURN_ENDS: [&str; 17] = assay_math::words::list(
    "<|im_end|> <|im_start|> <|endoftext|> <|end_of_text|> <|eot_id|> <|eom_id|> \
     <|start_header_id|> <|end|> <|return|> <|end_of_solution|> <|END_RESPONSE|> \
     <|END_OF_TURN_TOKEN|> <|user|> <end_of_turn> <start_of_turn> <｜end▁of▁sentence｜> <｜User｜>",
);

/// What marks a thought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A tag, by its opening mark.
    Tag(&'static str),
    Channel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Opens(Kind),
    Closes(Kind),
    EndsTurn,
}

/// A mark and the bytes on which it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) what: What,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Mark {
    pub(super) fn ends_turn(&self) -> bool {
        self.what == What::EndsTurn
    }
}

/// All marks of a text, in their order.
pub(super) fn marks(text: &str) -> Vec<Mark> {
    let bytes = text.as_bytes();
    let known = |at: &usize| may_begin(bytes.split_at(*at).1);
    if !memchr2_iter(b'<', b'[', bytes).any(|at| known(&at)) && text.is_ascii() {
        return Vec::new();
    }
    memchr3_iter(b'<', b'[', TRIANGLE[0], bytes)
        .filter(known)
        .filter_map(|at| {
            let (what, length) = mark(text.get(at..)?)?;
            let quoted = what == What::EndsTurn
                && text.get(..at).is_some_and(|before| before.ends_with(['"', '\'', '`']));
            (!quoted).then_some(Mark { what, start: at, end: at + length })
        })
        .collect()
}

/// The bytes of the sign with which some marks begin.
const TRIANGLE: [u8; 3] = [0xe2, 0x97, 0x81];

/// Of the many brackets and signs of relation, few go on as a mark does.
fn may_begin(bytes: &[u8]) -> bool {
    match bytes {
        [b'[', next, ..] => matches!(next, b'T' | b't' | b'/'),
        [b'<', next, ..] => next.is_ascii_alphabetic() || matches!(next, b'/' | b'|' | 0xef),
        _ => bytes.starts_with(&TRIANGLE),
    }
}

/// The mark at the start of `rest`, and its length.
fn mark(rest: &str) -> Option<(What, usize)> {
    if let Some(name) = rest.strip_prefix(CHANNEL) {
        let near = name.get(..name.floor_char_boundary(CHANNEL_NAME_MAX))?;
        let (name, _) = near.split_once(MESSAGE)?;
        let length = CHANNEL.len() + name.len() + MESSAGE.len();
        let last = name.split_whitespace().next() == Some("final");
        let what = if last { What::Closes(Kind::Channel) } else { What::Opens(Kind::Channel) };
        return Some((what, length));
    }
    for (open, close) in KINDS {
        if starts_with(rest, open) {
            return Some((What::Opens(Kind::Tag(open)), open.len()));
        }
        if starts_with(rest, close) {
            return Some((What::Closes(Kind::Tag(open)), close.len()));
        }
    }
    let end = TURN_ENDS.iter().find(|token| rest.starts_with(**token))?;
    // The end of one message of several.
    let goes_on = rest.get(end.len()..)?.trim_start().starts_with("<|start|>assistant");
    (!goes_on).then_some((What::EndsTurn, end.len()))
}

fn starts_with(rest: &str, mark: &str) -> bool {
    rest.as_bytes().get(..mark.len()).is_some_and(|head| head.eq_ignore_ascii_case(mark.as_bytes()))
}
