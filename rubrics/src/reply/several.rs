//! From a reply to the verdict on a pair, or to the scores of several responses.
//!
//! What counts as a verdict is the same as for criteria: the last object of the shape that was asked
//! for and that was not copied, else the words. Where the material reads like a verdict itself, words
//! are not read: the judge may have copied them.

use std::cell::LazyCell;
use std::sync::LazyLock;

use super::error::ReplyError;
use super::json::{Member, Node};
use super::pair::{self, PairReply};
use super::revision;
use super::seen::Material;
use super::structure::{
    Structured, Taken, Unclear, answer_part, last_own, member, reasons, words_outside,
};
use crate::judge::JudgeReply;
use assay_verifiers::Pattern;

/// Members that hold a verdict on a pair, ours first.
const WINNER_KEYS: [&str; 11] = assay_verifiers::words::list(
    "verdict winner final_verdict preference preferred better choice decision answer result \
     judgement",
);
/// Members that hold the scores of several responses, ours first.
const SCORES_KEYS: [&str; 4] = ["scores", "score", "ratings", "verdict"];
/// A text of fewer bytes may be a bare label.
const SHORT_REPLY: usize = 24;

/// A list of numbers in brackets, or after the word "scores".
static LISTS: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    Pattern::new(concat!(
        r"(?i)(?:\\boxed\s*\{|\[|\bscores?\b[^\n\d\[{]{0,20}[:=]\s*)\s*",
        r"((?:\d{1,3}(?:\.\d{1,3})?\s*[,;]\s*)*\d{1,3}(?:\.\d{1,3})?)\s*(?:\}|\]|$|\n|\.\s|\.$)",
    ))
    .ok()
});

/// What a reply about several responses is read against.
#[derive(Clone, Copy, Debug)]
pub struct AskedSeveral<'a> {
    /// The code that the reply must repeat.
    pub code: &'a str,
    /// The texts that a careless judge might copy.
    pub material: &'a [&'a str],
}

/// What a judge said of a pair, in the order in which it was shown.
#[derive(Clone, Debug, PartialEq)]
pub struct PairVerdict {
    /// Which is preferred, and by how much where the verdict has grades.
    pub reply: PairReply,
    /// Why.
    pub reasons: String,
}

/// What a judge said of several responses.
#[derive(Clone, Debug, PartialEq)]
pub struct ListVerdict {
    /// The score of each, in the order in which they were shown, 1 to 10.
    pub scores: Vec<f64>,
    /// Why.
    pub reasons: String,
}

/// The verdict of a reply on a pair: a label such as `A`, `tie` or `A>>B`; where `graded`, also a
/// whole number from -3 (the second is far better) to 3.
///
/// # Errors
/// A reply without a verdict, or with one that is not its own.
pub fn read_pair(
    reply: &JudgeReply,
    asked: AskedSeveral<'_>,
    graded: bool,
) -> Result<PairVerdict, ReplyError> {
    let structured = |members: &[Member]| {
        let reply = match member(members, &WINNER_KEYS)? {
            Node::Text(words) | Node::Word(words) => of_words(words, graded),
            _ => None,
        };
        Some(reply.map(|reply| PairVerdict { reply, reasons: reasons(members) }).ok_or(Unclear))
    };
    let same = |a: &PairVerdict, b: &PairVerdict| a.reply.winner == b.reply.winner;
    let by_words = |text: &str| {
        let bare = text.trim().len() < SHORT_REPLY;
        let label = if bare { pair::of_label(text) } else { None };
        let reply = label.or_else(|| pair::read(text))?;
        Some(PairVerdict { reply, reasons: text.trim().to_owned() })
    };
    // A text that is a label is not an announcement, unless the reply is one too.
    let announces = |text: &str, reply: &str| {
        let as_bare = is_bare(reply);
        whole_or_line(text, |line| if is_bare(line) { as_bare } else { pair::read(line).is_some() })
    };
    read(reply, asked, structured, same, by_words, announces)
}

/// Whether a text is a label without a mark.
fn is_bare(text: &str) -> bool {
    let text = text.trim();
    let is_marked = text.contains(['[', '{', '<', '"']);
    text.len() < SHORT_REPLY && !is_marked && pair::of_label(text).is_some()
}

/// The scores of a reply on `count` responses: whole numbers or decimals from 1 to 10.
///
/// # Errors
/// A reply without as many scores, or with scores that are not its own.
pub fn read_list(
    reply: &JudgeReply,
    asked: AskedSeveral<'_>,
    count: usize,
) -> Result<ListVerdict, ReplyError> {
    let structured = |members: &[Member]| {
        let scores: Option<Vec<f64>> = match member(members, &SCORES_KEYS)? {
            Node::List(scores) => scores.iter().map(Node::as_f64).collect(),
            Node::Object(by_number) if by_number.len() == count => {
                let of = |at: usize| by_number.iter().find(|member| member.key == at.to_string());
                (1..=count).map(|at| of(at)?.value.as_f64()).collect()
            }
            _ => None,
        };
        let scores = scores.and_then(|scores| valid(scores, count)).ok_or(Unclear);
        Some(scores.map(|scores| ListVerdict { scores, reasons: reasons(members) }))
    };
    let same = |a: &ListVerdict, b: &ListVerdict| a.scores == b.scores;
    let by_words = |text: &str| {
        let lists = LISTS.as_ref()?;
        let found = lists.captures_iter(text).filter_map(|found| found.get(1));
        let read = |list: regex::Match<'_>| {
            let numbers = list.as_str().split([',', ';']).map(|number| number.trim().parse().ok());
            Some((list.start(), valid(numbers.collect::<Option<Vec<f64>>>()?, count)))
        };
        let lists: Vec<(usize, Option<Vec<f64>>)> = found.filter_map(read).collect();
        let (last_at, scores) = lists.last()?.clone();
        let scores = scores?;
        // Another list of as many scores must be taken back.
        let differs = |(_, other): &&(usize, Option<Vec<f64>>)| {
            other.as_ref().is_some_and(|other| *other != scores)
        };
        if let Some((at, _)) = lists.iter().rev().find(differs) {
            text.get(*at..last_at).filter(|between| revision::takes_back(between))?;
        }
        Some(ListVerdict { scores, reasons: text.trim().to_owned() })
    };
    let announces = |text: &str, _: &str| whole_or_line(text, |line| by_words(line).is_some());
    read(reply, asked, structured, same, by_words, announces)
}

fn read<T: PartialEq>(
    reply: &JudgeReply,
    asked: AskedSeveral<'_>,
    structured: impl Fn(&[Member]) -> Taken<T>,
    same: impl Fn(&T, &T) -> bool,
    by_words: impl Fn(&str) -> Option<T>,
    announces: impl Fn(&str, &str) -> bool,
) -> Result<T, ReplyError> {
    let (_, text) = answer_part(&reply.text);
    let text = text.as_ref();
    let material = LazyCell::new(|| Material::of(asked.material));
    let own = |raw: &str| !material.contains(raw);
    let copied = match last_own((reply, text), asked.code, own, structured, same)? {
        Structured::Own(read, _) => return Ok(read),
        Structured::None { copied } => copied,
    };
    if reply.finish_reason == "length" {
        return Err(ReplyError::Cut);
    }
    let words = words_outside(text, &copied);
    // What is left of a copy is a copy, and so is a whole text.
    let is_changed = words.trim() != reply.text.trim();
    let is_whole = asked.material.iter().any(|text| text.trim() == reply.text.trim());
    if is_whole || (is_changed && material.contains(&reply.text)) {
        return Err(ReplyError::Echo);
    }
    if asked.material.iter().any(|text| announces(text, &words)) {
        return Err(ReplyError::Echo);
    }
    by_words(&words).ok_or_else(|| ReplyError::of(reply, text, !copied.is_empty()))
}

/// Whether a text, or a line of it, reads like a verdict. It does not matter for whom it is, so that no
/// text can rule out a verdict by writing it.
fn whole_or_line(text: &str, holds: impl Fn(&str) -> bool) -> bool {
    holds(text) || text.lines().any(holds)
}

fn of_words(words: &str, graded: bool) -> Option<PairReply> {
    let number = words.trim().parse().ok().filter(|_| graded);
    number.and_then(|number| of_number(number, graded)).or_else(|| pair::of_label(words))
}

fn of_number(number: f64, graded: bool) -> Option<PairReply> {
    let fits = graded && number.fract() == 0.0 && (-3.0..=3.0).contains(&number);
    fits.then(|| PairReply::of_strength(number))
}

fn valid(scores: Vec<f64>, count: usize) -> Option<Vec<f64>> {
    let fits = scores.len() == count && scores.iter().all(|one| (1.0..=10.0).contains(one));
    fits.then_some(scores)
}
