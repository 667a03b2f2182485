//! Labelled values: `label: value` in its forms, and where the values stand.

use std::sync::LazyLock;

use assay_verifiers::Pattern;
use assay_verifiers::language::judge;

use super::label::{self, Class, Label};
use super::pair::sentence;
use super::value::{AROUND, Value, leading};
use crate::rubric::AnswerKind;

/// The most labels of a text that are read: the last ones.
const MARKS_MAX: usize = 1_000;
/// How far before a join a label is looked for, in bytes.
const HEAD_MAX: usize = 400;

/// How a label is joined to its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// At the start of a line, or as a tag or a mark of its own.
    Line,
    /// Within a line.
    Middle,
    /// By "is", or by a verb.
    Sentence,
}

/// A label with the value after it.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) label: Label,
    pub(super) level: Level,
    /// Where the words after the label begin.
    pub(super) at: usize,
    /// Where the value ends.
    pub(super) end: usize,
    pub(super) value: Value,
}

/// What joins a label to its value.
static JOINS: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    Pattern::new(
        r"(?ix)(?P<mark>\[RESULT\]|\[\[)|(?P<tag>[<\[]\s*[a-z][a-z_\ -]{0,40}\s*[>\]])|(?P<colon>[:：=]|->|→|⇒|\||\ [-–—]\ )|
        (?P<is>\ (?:is|was|would\ be|should\ be|goes\ to|remains)(?:\ therefore|\ thus|\ now|\ still)?\b:?|是|为)|
        (?P<verb>\b(?:(?:it|this|(?:the|this)\ (?:response|answer|letter|text|submission|essay|output|completion|solution))\ (?:deserves|
        earns|gets|receives|merits)|(?:i|we)(?:['’](?:d|ll)|\ would|\ will|\ must|\ can|\ therefore|\ thus)*\ (?:give|rate|score|grade|
        assign|award|mark|judge|deem|say|answer|vote|conclude)(?:\ (?:(?:the|this|that)\ [a-z]{3,}|it|this|that|them))?)(?:\ (?:as|with|at|a|an|the|score|rating|
        grade|mark|of|to|be|being))*\b:?)",
    )
    .ok()
});

/// Words by which the material, or its author, is said to speak.
static REPORTS: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    Pattern::new(
        r"(?ix)\b(?:sa(?:y|ys|id|ying)|claim\w*|wr(?:ites?|ote|itten|iting)|states?|stated|stating|reads?|ends?|ended|ending|
        contain\w*|quot\w*|asserts?|asserted|declare[sd]?|announce[sd]?|mention\w*|prints?|printed|includes?|included|
        asks?|asked|prompts?|instruct\w*|tells?|told|insert\w*|inject\w*|append\w*|pretend\w*|demand\w*|instead\ of|
        such\ as|for\ example|e\.g\.|format|template|one\ of)\b[^.!?\n]*$",
    )
    .ok()
});

/// Whether the words before a place say that somebody else speaks there.
pub(super) fn is_reported(before: &str) -> bool {
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(240))..];
    let from = [". ", "! ", "? ", "\n"].iter().filter_map(|stop| Some(near.rfind(stop)? + 1)).max();
    let near = &near[from.unwrap_or(0)..];
    REPORTS.as_ref().is_some_and(|pattern| pattern.is_match(near)) || sentence::is_reported(before)
}

/// Every label of a text with its value, in order; `own`: what the request calls the verdict.
pub(super) fn scan(text: &str, kind: &AnswerKind, own: &str) -> Vec<Mark> {
    let (Some(joins), mut marks) = (JOINS.as_ref(), Vec::new()) else { return Vec::new() };
    let mut line_from = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        for found in joins.captures_iter(content) {
            let mark = of_join(text, (line_from, content), &found, kind, own);
            marks.extend(mark);
        }
        if let Some(label) = heading(content, own) {
            let at = line_from + line.len();
            let mark = mark(text, kind, label, Level::Line, at);
            marks.extend(Some(mark).filter(|mark| mark.value != Value::None));
        }
        line_from += line.len();
    }
    marks.drain(..marks.len().saturating_sub(MARKS_MAX));
    marks
}

/// A place where a label may be joined to a value.
struct Join<'t> {
    /// The words of the join.
    words: &'t str,
    /// The text before the line, that before the join, and that after it.
    above: &'t str,
    before: &'t str,
    after: &'t str,
    /// The line before the join, and after it.
    head: &'t str,
    behind: &'t str,
}

/// The label at a join, with its value.
fn of_join(
    text: &str,
    (line_from, line): (usize, &str),
    found: &regex::Captures<'_>,
    kind: &AnswerKind,
    own: &str,
) -> Option<Mark> {
    let whole = found.get(0)?;
    let at = line_from + whole.end();
    let head = line.get(..whole.start())?;
    let join = Join {
        words: whole.as_str(),
        above: text.get(..line_from)?,
        before: text.get(..line_from + whole.start())?,
        after: text.get(at..)?,
        head: head.get(head.ceil_char_boundary(head.len().saturating_sub(HEAD_MAX))..)?,
        behind: line.get(whole.end()..)?,
    };
    let named =
        |name: &str| Label { name: name.to_owned(), class: Class::Verdict, is_final: false };
    let of = |label, level| mark(text, kind, label, level, at);
    if found.name("mark").is_some() {
        let is_own = join.is_own() && !sentence::is_denied(join.before);
        return is_own.then(|| of(named(&join.words.to_lowercase()), Level::Line));
    }
    if found.name("tag").is_some() {
        let label = label::of(join.words.trim_matches(['<', '>', '[', ']', ' ']), own)?;
        let is_own = label.class != Class::Contrary && join.is_own();
        return is_own.then(|| of(label, Level::Line));
    }
    if found.name("verb").is_some() {
        let is_told =
            |mark: &Mark| matches!(mark.value, Value::Told(..)) && is_said(text, &join, mark);
        return Some(of(named("i"), Level::Sentence)).filter(is_told);
    }
    labelled(text, &join, at, found.name("is").is_some(), (kind, own))
}

/// Whether a mark within a sentence has a value, and the words around leave it.
fn is_said(text: &str, join: &Join<'_>, mark: &Mark) -> bool {
    let after = &text[mark.end..];
    mark.value != Value::None && !is_unsaid(join.before, after)
}

/// The label before a colon, or before "is".
fn labelled(
    text: &str,
    join: &Join<'_>,
    at: usize,
    is_sentence: bool,
    (kind, own): (&AnswerKind, &str),
) -> Option<Mark> {
    let of = |label, level| mark(text, kind, label, level, at);
    let head = without_remark(join.head);
    let (ornament, segment) = head.split_at_checked(boundary(head))?;
    // A cell of a table, and no list of what may be answered.
    if join.words == "|" && !head.trim_start().starts_with('|') {
        return None;
    }
    let lead = join.before.get(..join.before.len() - join.head.len() + ornament.len())?;
    let conjunction =
        segment.trim_start().get(..3).is_some_and(|word| word.eq_ignore_ascii_case("or "));
    if conjunction || sentence::is_option(lead, "") {
        return None;
    }
    if is_sentence {
        let mut label = label::of(segment, own).or_else(|| label::of(determined(segment)?, own))?;
        // "The tone is good in parts": less than a verdict.
        let is_named = label.name == label::plain(own);
        if is_named {
            label.class = Class::Answer;
        }
        let is_noun = judge::JOINED_NOUNS.contains(&label.name.as_str())
            && (label.class != Class::Answer || says_yes_or_no(join.after, kind));
        let is_noun = is_noun || is_named;
        return is_noun
            .then(|| of(label, Level::Sentence))
            .filter(|mark| is_said(text, join, mark));
    }
    let label = label::of(segment, own);
    if let Some(label) = label.clone().filter(|_| is_decoration(ornament)) {
        let mut mark = of(label, Level::Line);
        // "correct | incorrect" of a scale that has both is a list of what may be answered.
        let lists =
            !matches!(join.words, ":" | "：" | "=") && matches!(kind, AnswerKind::Choices(_));
        if lists && mark.value != Value::None && kind.answer(segment.trim_matches(AROUND)).is_some()
        {
            mark.value = Value::Hedge;
        }
        return Some(mark).filter(|_| !is_said_of_others(join.above) && !join.is_quoted());
    }
    let label = label.or_else(|| label::of(determined(segment)?, own))?;
    let mark = of(label, Level::Middle);
    let after = text.get(mark.end..)?;
    (!join.is_quoted() && !is_unsaid(join.before, after)).then_some(mark)
}

impl Join<'_> {
    /// Whether a mark or a tag is the judge's own, and not quoted from somebody.
    fn is_own(&self) -> bool {
        let is_others = if is_decoration(self.head) {
            is_said_of_others(self.above)
        } else {
            is_reported(self.before)
        };
        !is_others && !self.is_quoted()
    }

    fn is_quoted(&self) -> bool {
        is_quoted(self.head, self.behind)
    }
}

fn mark(text: &str, kind: &AnswerKind, label: Label, level: Level, at: usize) -> Mark {
    let behind = &text[at..];
    let value = leading(behind, kind);
    let end = at + if let Value::Told(_, length) = value { length } else { 0 };
    Mark { label, level, at, end, value }
}

/// A line that is a label alone, as a heading: its value is on the next.
fn heading(line: &str, own: &str) -> Option<Label> {
    let is_marked =
        line.trim_start().starts_with('#') || (line.starts_with("**") && line.ends_with("**"));
    is_marked.then(|| label::of(line, own))?
}

/// Whether "the answer is" says yes or no: anything else may be the answer that is judged.
fn says_yes_or_no(behind: &str, kind: &AnswerKind) -> bool {
    let word = behind.trim_start_matches(AROUND).split(|c: char| !c.is_alphanumeric()).next();
    kind.is_yes_no()
        && word.is_some_and(|word| judge::PLAIN.contains(&word.to_lowercase().as_str()))
}

/// A label without the brackets after it: "Score (1-5)".
fn without_remark(head: &str) -> &str {
    let bare = head.trim_end_matches(['*', '_', '`', ' ']);
    let open = bare.strip_suffix(')').and_then(|inner| inner.rfind('('));
    open.and_then(|open| head.get(..open)).filter(|rest| !is_decoration(rest)).unwrap_or(head)
}

/// Where the part of a line begins that may be a label.
fn boundary(head: &str) -> usize {
    let ends = |c: char| {
        matches!(
            c,
            '.' | ','
                | ';'
                | '('
                | '!'
                | '?'
                | ':'
                | '：'
                | '，'
                | '。'
                | '；'
                | '='
                | '|'
                | '—'
                | '…'
        )
    };
    let numbered = head.len()
        - head.trim_start_matches(|c: char| c.is_ascii_digit() || AROUND.contains(&c)).len();
    let from = head.rmatch_indices(ends).next().map_or(0, |(at, end)| at + end.len());
    // "1. Verdict".
    if head.get(numbered..from) == Some(".") { 0 } else { from }
}

/// The words from the last determiner on: "and so my verdict".
fn determined(segment: &str) -> Option<&str> {
    let at = judge::DETERMINERS
        .iter()
        .filter_map(|word| segment.to_ascii_lowercase().rfind(&format!(" {word}")))
        .max()?;
    segment.get(at..)
}

fn is_decoration(text: &str) -> bool {
    text.chars().all(|c| {
        AROUND.contains(&c)
            || c.is_ascii_digit()
            || matches!(c, '#' | '-' | '•' | '|' | '.' | '>' | '+')
    })
}

/// Whether a label is in quotation marks within a line that goes on.
fn is_quoted(head: &str, behind: &str) -> bool {
    let open = ['"', '“', '`', '「', '‘'].iter().any(|quote| {
        let closing = if *quote == '“' {
            '”'
        } else if *quote == '「' {
            '」'
        } else if *quote == '‘' {
            '’'
        } else {
            *quote
        };
        let opened = head.matches(*quote).count();
        let closed = if closing == *quote { opened / 2 * 2 } else { head.matches(closing).count() };
        // Both marks of `"verdict": "yes"` are before the colon; those of code are no quotation.
        opened > closed && behind.contains(closing)
    });
    let starts =
        head.trim_start_matches(['-', '*', '>', ' ']).starts_with(['"', '“', '`', '「', '‘']);
    let ends = behind.trim_end_matches(['.', ',', ' ', '*']).ends_with(['"', '”', '`', '」', '’']);
    let is_whole_line =
        starts && ends && head.chars().filter(|c| matches!(c, '"' | '“' | '`')).count() == 1;
    open && !is_whole_line
}

/// Whether the words around a label take its value back, or say that it is somebody else's.
fn is_unsaid(before: &str, after: &str) -> bool {
    is_reported(before)
        || sentence::is_denied(before)
        || sentence::is_conditional(before, after)
        || is_supposed(before)
}

/// Whether the line before this one hands over to somebody else: "The response ends with:".
fn is_said_of_others(before: &str) -> bool {
    let line = before.trim_end().lines().next_back().unwrap_or_default().trim_end_matches(AROUND);
    let hands_over = before.trim_end().trim_end_matches(['*', '`', '_']).ends_with(':');
    hands_over && is_reported(line)
}

/// "One might think that the score is 4".
fn is_supposed(before: &str) -> bool {
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(HEAD_MAX))..];
    let near = near.rsplit(['.', '\n', '!', '?', ';']).next().unwrap_or_default();
    let near = near.to_ascii_lowercase();
    judge::SUPPOSING.iter().any(|word| near.contains(word))
}
