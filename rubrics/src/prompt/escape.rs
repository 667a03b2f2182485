//! Escapes: what cannot be seen in a text, or is a mark of a chat template, is shown as `\u{...}`.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use assay_verifiers::Pattern;

/// Characters that are not seen: controls but for tab and line feed, format characters (zero width,
/// bidirectional, tags), surrogates of meaning (private use, unassigned), separators of lines, and
/// letters and marks that are drawn as nothing.
const UNSEEN: &str = concat!(
    r"[[\p{Cc}--[\n\t]]\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}",
    r"\x{34F}\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180F}\x{2800}\x{3164}",
    r"\x{FE00}-\x{FE0F}\x{FFA0}\x{E0100}-\x{E01EF}]"
);

/// Marks that chat templates or tokenizers give a meaning of their own, by their first character.
const MARKS: &str = concat!(
    r"<\|[^\s<>|]{1,48}\|>|<｜[^<>]{1,48}｜>",
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CALLS|TOOL_CONTENT|THINK)\]",
    r"|<</?SYS>>|</?(?:s|bos|eos|unk|pad|mask)>|<(?:start|end)_of_(?:turn|image|audio)>",
    r"|</?(?:tool_call|tool_response|tools|think|function_calls?|function_results?)>",
    r"|<(?:begin|end)_of_(?:text|sentence|solution|thought)>",
);

static UNSEEN_PATTERN: LazyLock<Option<Pattern>> = LazyLock::new(|| Pattern::new(UNSEEN).ok());
static MARKS_PATTERN: LazyLock<Option<Pattern>> = LazyLock::new(|| Pattern::new(MARKS).ok());

/// The text with everything shown that is hidden. Line ends are line feeds; joiners within scripts
/// and emoji that are written with them stay.
pub fn escaped(text: &str) -> Cow<'_, str> {
    let text = if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    };
    let (Some(unseen), Some(marks)) = (&*UNSEEN_PATTERN, &*MARKS_PATTERN) else {
        // The patterns are constants: a test compiles them.
        return text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect();
    };
    if !unseen.is_match(&text) && !marks.is_match(&text) {
        return text;
    }
    let seen = replaced(&text, unseen.find_iter(&text).map(|found| found.start()), |at, c| {
        !joins(&text, at, c)
    });
    let first = marks.find_iter(&seen).map(|found| found.start());
    Cow::Owned(replaced(&seen, first, |_, _| true))
}

/// The text with the characters at `places` as escapes, but for those that `hides` lets be.
fn replaced(
    text: &str,
    places: impl Iterator<Item = usize>,
    hides: impl Fn(usize, char) -> bool,
) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut from = 0;
    for at in places {
        let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { continue };
        if !hides(at, c) {
            continue;
        }
        out.push_str(&text[from..at]);
        let _ = write!(out, "\\u{{{:X}}}", u32::from(c));
        from = at + c.len_utf8();
    }
    out.push_str(&text[from..]);
    out
}

/// Whether a joiner or a variation selector does its work: between letters of a script that joins
/// them, or within an emoji.
fn joins(text: &str, at: usize, c: char) -> bool {
    let before = text.get(..at).and_then(|text| text.chars().next_back());
    let after = text.get(at + c.len_utf8()..).and_then(|text| text.chars().next());
    let is_emoji = |c: char| ('\u{2190}'..='\u{3299}').contains(&c) || c >= '\u{1F000}';
    let is_picture = |c: Option<char>| c.is_some_and(|c| is_emoji(c) || c == '\u{FE0F}');
    let is_joined = |c: Option<char>| {
        c.is_some_and(|c| ('\u{600}'..='\u{1AFF}').contains(&c) && !c.is_ascii_punctuation())
    };
    match c {
        '\u{200C}' => is_joined(before) && is_joined(after),
        '\u{200D}' => {
            (is_joined(before) && is_joined(after)) || (is_picture(before) && is_picture(after))
        }
        '\u{FE0F}' => {
            before.is_some_and(|c| is_emoji(c) || c.is_ascii_digit() || "#*©®".contains(c))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_plain_stays() {
        for text in [
            "a < b, [1, 2], x | y, <b>bold</b>\n\tdone",
            "naïve 日本語 العربية ١٢",
            "می\u{200C}خواهم",
            "👩\u{200D}🔬 ✌\u{FE0F} 1\u{FE0F}",
            "",
        ] {
            assert_eq!(escaped(text), text);
        }
    }

    #[test]
    fn what_is_hidden_is_shown() {
        for (text, shown) in [
            ("ye\u{200B}s", r"ye\u{200B}s"),
            ("a\u{202E}b", r"a\u{202E}b"),
            ("\u{E0041}x", r"\u{E0041}x"),
            ("a\u{200D}b", r"a\u{200D}b"),
            ("a\r\nb\rc", "a\nb\\u{D}c"),
            ("\u{FEFF}x\u{3164}", r"\u{FEFF}x\u{3164}"),
            ("<|im_end|>\n<|im_start|>system", "\\u{3C}|im_end|>\n\\u{3C}|im_start|>system"),
            ("[/INST] [INST]", r"\u{5B}/INST] \u{5B}INST]"),
            ("<｜User｜>", r"\u{3C}｜User｜>"),
            ("</s><s>", r"\u{3C}/s>\u{3C}s>"),
            ("<tool_call>", r"\u{3C}tool_call>"),
            ("<\u{200B}|im_end|>", r"<\u{200B}|im_end|>"),
        ] {
            assert_eq!(escaped(text), shown, "{text:?}");
        }
    }
}
