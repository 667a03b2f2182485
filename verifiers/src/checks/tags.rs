//! `tags`: the parts of a completion stand in their tags, once each and in order.

use std::ops::Range;

use crate::extract::hidden;
use crate::prelude::*;

/// Right when every tag is opened and closed exactly once, in the order given, around some text.
///
/// For `["think", "answer"]` that is `<think>...</think> <answer>...</answer>`: tags that are
/// missing, doubled, nested, unclosed, empty or out of order are refused. A tag that holds nothing
/// that can be seen (white space, zero-width characters, blank signs, comments, `&nbsp;`, `<br>`) is empty. Without `tags`,
/// the reference lists them. Where the template of the chat opens a tag, name it in `opened`.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tags {
    /// The names of the tags, in their order.
    #[serde(rename = "tags")]
    names: Vec<String>,
    /// The tags that the template of the chat opens at the end of the prompt, so that completions
    /// lack their opening marks: `["think"]`. That is the first of `tags`, or none. A completion that
    /// opens it by itself is right too.
    opened: Vec<String>,
    /// Nothing but white space and the token that ends the turn may stand outside the tags.
    strict: bool,
    /// Pay for a part of the way, as the tag-count reward of open-r1 does: each opening or closing
    /// mark that comes exactly once earns its share. A completion that is not right earns at most
    /// all shares but one.
    partial: bool,
}

/// The most tags.
const TAGS_MAX: usize = 64;

/// The marks of a tag, in bytes; that of a template is empty.
struct Marks {
    open: Option<Range<usize>>,
    close: Option<Range<usize>>,
}

/// What is wrong, and with which tag.
type Flaw<'a> = (&'static str, &'a str);

impl Check for Tags {
    const ID: &'static str = "tags";
    const VERSION: u32 = 3;
    const ASPECT: Aspect = Aspect::Form;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        if let Some(why) = flaw_in_names(&names).filter(|_| !names.is_empty()) {
            return Err(BuildError::new("tags", why));
        }
        // Nothing can precede the first mark that a template writes.
        let is_first = |name: &String| names.is_empty() || names.first() == Some(&name.as_str());
        if self.opened.len() > 1 || !self.opened.iter().all(is_first) {
            let first = names.first().copied().unwrap_or("think");
            let why = format!("a template opens the first of the tags alone: [\"{first}\"]");
            return Err(BuildError::new("opened", why));
        }
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        if !self.names.is_empty() {
            let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
            return self.judge(sample.completion(), &names, meter);
        }
        if sample.reference().is_none() {
            return Ok(Verdict::no_reference());
        }
        let references = sample.references();
        let names: Vec<&str> = references.iter().map(AsRef::as_ref).collect();
        match flaw_in_names(&names) {
            Some(why) => Err(Fault::bad_reference(format!(
                "the settings name no tags, and the reference no names of tags: {why}"
            ))),
            None => self.judge(sample.completion(), &names, meter),
        }
    }

    /// Tags in the place of those that are asked for, of which no completion has one.
    fn slips(&self, samples: &[&Sample]) -> Vec<Slip> {
        let is_asked = |sample: &&Sample| {
            let text = sample.completion();
            self.names.iter().any(|name| text.contains(&format!("</{name}>")))
        };
        let close = samples.iter().find_map(|sample| {
            let (_, behind) = sample.completion().split_once("</")?;
            let (name, _) = behind.split_once('>')?;
            Some(name).filter(|name| name.chars().all(|char| char.is_alphanumeric() || char == '_'))
        });
        let found = close.filter(|_| samples.len() > 1 && !samples.iter().any(is_asked));
        let slip = found.map(|name| Slip {
            code: "other_tags",
            setting: "tags",
            samples: Vec::new(),
            message: format!("no completion has these tags, and some have <{name}>"),
            help: "write the tags as the prompt asks for them, in the same case".to_owned(),
        });
        slip.into_iter().filter(|_| !self.names.is_empty()).collect()
    }

    /// Tags that the reference lists are a form, and no answer.
    fn gold(&self, _: &Sample) -> Option<Vec<String>> {
        self.names.is_empty().then(Vec::new)
    }
}

impl Tags {
    fn judge(&self, text: &str, names: &[&str], meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        meter.spend(2 * text.len() as u64 * names.len() as u64)?;
        let marks: Vec<Marks> = names.iter().map(|name| self.marks(text, name)).collect();
        let Some((reason, name)) = self.flaw(text, names, &marks) else {
            return Ok(Verdict::graded(true).because("well-formed"));
        };
        let reward = if self.partial { share(&marks) } else { Reward::ZERO };
        Ok(Verdict::scored(reward).with("tag", name).because(reason))
    }

    fn marks(&self, text: &str, name: &str) -> Marks {
        let mark = format!("<{name}>");
        let by_template = self.opened.iter().any(|opened| opened == name) && !text.contains(&mark);
        let open = if by_template { Some(0..0) } else { only(text, &mark) };
        Marks { open, close: only(text, &format!("</{name}>")) }
    }

    /// The first thing that is wrong.
    fn flaw<'a>(&self, text: &str, names: &[&'a str], marks: &[Marks]) -> Option<Flaw<'a>> {
        // Tokens that end a turn are no text.
        let text = without_turn_ends(text);
        let mut at = 0;
        for (name, mark) in names.iter().copied().zip(marks) {
            let Marks { open: Some(open), close: Some(close) } = mark else {
                return Some(("not-once", name));
            };
            let before = text.get(at..open.start);
            let (Some(before), Some(inner)) = (before, text.get(open.end..close.start)) else {
                return Some(("out-of-order", name));
            };
            if shows_nothing(inner) {
                return Some(("empty", name));
            }
            if self.strict && !before.trim().is_empty() {
                return Some(("text-outside", name));
            }
            at = close.end;
        }
        // The last mark may be what ends a turn: `</s>`.
        let is_outside = text.get(at..).is_some_and(|rest| !rest.trim().is_empty());
        (self.strict && is_outside).then(|| ("text-outside", *names.last().unwrap_or(&"")))
    }
}

/// Where `mark` stands, if it occurs once.
fn only(text: &str, mark: &str) -> Option<Range<usize>> {
    let at = text.find(mark)?;
    (text.rfind(mark) == Some(at)).then_some(at..at + mark.len())
}

/// A text without the tokens at its end that end a turn: `<|im_end|>`, `</s>`.
fn without_turn_ends(text: &str) -> &str {
    let mut rest = text;
    loop {
        let bare = rest.trim_end();
        let token = [("<|", "|>"), ("<｜", "｜>")].into_iter().find_map(|(open, close)| {
            let (head, name) = bare.strip_suffix(close)?.rsplit_once(open)?;
            let is_name =
                !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_▁".contains(c));
            is_name.then_some(head)
        });
        let named = || TURN_ENDS.iter().find_map(|end| bare.strip_suffix(end));
        match token.or_else(named) {
            Some(head) => rest = head,
            None => return rest,
        }
    }
}

/// Tokens that end a turn and look like tags.
const TURN_ENDS: [&str; 3] = ["</s>", "<eos>", "<end_of_turn>"];

/// Names of elements that show nothing by themselves.
const SILENT: [&str; 16] = [
    "br", "wbr", "p", "span", "b", "i", "em", "strong", "u", "s", "small", "sub", "sup", "font",
    "div", "center",
];

/// Whether nothing of a text is seen: blanks, comments, elements and entities that stand for blanks.
fn shows_nothing(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(hidden::is_blank);
        if rest.is_empty() {
            return true;
        }
        match silent_length(rest).and_then(|length| rest.get(length..)) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
}

/// The length of the comment, the tag or the entity at the start of a text, if it shows nothing.
fn silent_length(text: &str) -> Option<usize> {
    if let Some(comment) = text.strip_prefix("<!--") {
        return Some(comment.find("-->").map_or(text.len(), |end| end + "<!---->".len()));
    }
    let near = text.get(..text.floor_char_boundary(MARK_BYTES_MAX))?;
    if let Some(tag) = near.strip_prefix('<') {
        let name = tag.trim_start_matches('/');
        let name = name.split(|c: char| !c.is_alphanumeric()).next()?.to_ascii_lowercase();
        let end = tag.find('>')?;
        return SILENT.contains(&name.as_str()).then_some(end + "<>".len());
    }
    let entity = near.strip_prefix('&')?;
    let (name, _) = entity.split_once(';')?;
    let code = name.strip_prefix('#').and_then(|code| match code.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => code.parse().ok(),
    });
    let is_silent = BLANKS.contains(&name) || code.and_then(char::from_u32).is_some_and(hidden::is_blank);
    is_silent.then_some(name.len() + "&;".len())
}

/// Entities of blanks.
const BLANKS: [&str; 10] =
    ["nbsp", "ensp", "emsp", "thinsp", "hairsp", "zwnj", "zwj", "shy", "Tab", "NewLine"];

/// The longest tag or entity that is read.
const MARK_BYTES_MAX: usize = 200;

/// The share of the marks that come once; never all of it.
fn share(marks: &[Marks]) -> Reward {
    let all = 2 * marks.len().min(TAGS_MAX);
    let once: usize = marks
        .iter()
        .map(|mark| usize::from(mark.open.is_some()) + usize::from(mark.close.is_some()))
        .sum();
    let whole = |count: usize| f64::from(u8::try_from(count).unwrap_or(u8::MAX));
    Reward::new(whole(once.min(all.saturating_sub(1))) / whole(all)).unwrap_or(Reward::ZERO)
}

/// Why these names cannot be used as tags.
fn flaw_in_names(names: &[&str]) -> Option<String> {
    let is_name = |name: &str| {
        let mut chars = name.chars();
        chars.next().is_some_and(char::is_alphabetic)
            && chars.all(|c| c.is_alphanumeric() || "_-".contains(c))
    };
    if names.is_empty() || names.len() > TAGS_MAX {
        return Some(format!("from 1 to {TAGS_MAX} tags are needed, not {}", names.len()));
    }
    let bad = names.iter().enumerate().find(|(at, name)| {
        !is_name(name) || names.iter().take(*at).any(|earlier| earlier == *name)
    });
    bad.map(|(_, name)| {
        let bare = name.trim_matches(['<', '>', '/', ' ']);
        if is_name(name) {
            format!("tag \"{name}\" is given twice: name it once")
        } else if is_name(bare) {
            format!("tag \"{name}\" is not a name: write \"{bare}\", without < and >")
        } else {
            format!("tag \"{name}\" is not a name")
        }
    })
}
