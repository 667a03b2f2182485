//! Slips of scripts that neither fail nor look wrong: whole numbers that are divided, texts that are
//! changed and not told, functions that take their sample for a text, and ends that give nothing.

mod numbers;

use assay::engine::{Document, python_argument};
use assay::verifiers::{Outcome, Sample};

use super::advice::{ELSE, RETURN};
use super::names::{Names, decides, is_given, takes_item};
use super::paths::{Parameter, Path, Words, paths};
use super::problem::Problem;
use super::sources::{Role, Source};
use super::trial::Trial;
use super::words::{Language, Token, Word, words};
use numbers::{Amount, Division, Numbers};

/// The most slips of a kind that are told of one script.
const TOLD_MAX: usize = 8;
/// How deep variables and brackets are followed.
const DEPTH_MAX: usize = 12;
/// Methods that change what they are called on, and give nothing.
const CHANGES: [&str; 17] = [
    "trim",
    "make_upper",
    "make_lower",
    "replace",
    "clear",
    "truncate",
    "pad",
    "crop",
    "reverse",
    "sort",
    "append",
    "push",
    "chop",
    "dedup",
    "insert",
    "set",
    "mixin",
];
/// What scripts see of a sample, and cannot change.
const CONSTANTS: [&str; 7] =
    ["completion", "prompt", "reference", "id", "group", "meta", "rewards"];
const KEYWORDS: [&str; 7] = ["if", "while", "return", "in", "else", "switch", "until"];

/// What is worth knowing of the scripts.
pub(super) fn warnings(names: &Names<'_>, sources: &[Source], trial: &Trial<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    for source in sources {
        found.extend(names.doubts(source));
        let slips = Slips { document: names.document, source, trial };
        match source.language {
            Language::Rhai => slips.of_rhai(&mut found),
            Language::Python => slips.of_python(&mut found),
        }
    }
    found
}

/// A script, and the rows on which it was tried.
struct Slips<'a> {
    document: &'a Document,
    source: &'a Source,
    trial: &'a Trial<'a>,
}

impl Slips<'_> {
    fn problem(&self, token: Option<&Token>, message: String, help: String) -> Problem {
        let part = token.map(|token| token.at.clone());
        self.source.problem(self.document, part, message, Some(help))
    }

    /// The source from one token to another.
    fn text(&self, tokens: &[Token], from: usize, to: usize) -> &str {
        let part = tokens.get(from).zip(tokens.get(to));
        let part = part.and_then(|(from, to)| self.source.text.get(from.at.start..to.at.end));
        part.unwrap_or_default()
    }

    /// Rows that the reward abstains on as its script gives nothing, and rows with a reward.
    fn abstained(&self, why: &str) -> Option<(usize, usize)> {
        let Role::Reward(at) = self.source.role else { return None };
        let outcomes = self.trial.rows.iter().filter_map(|tried| tried.verdicts.get(at));
        let outcomes: Vec<&Outcome> = outcomes.map(|verdict| &verdict.outcome).collect();
        let is_silent = |own: &&&Outcome| matches!(own, Outcome::Abstained(own) if *own == *why);
        let silent = outcomes.iter().filter(is_silent).count();
        let scored = outcomes.iter().filter(|own| matches!(own, Outcome::Scored(_))).count();
        Some((silent, scored))
    }

    fn of_rhai(&self, found: &mut Vec<Problem>) {
        let mut tokens = words(&self.source.text, Language::Rhai);
        // Statements do not end with their line.
        tokens.retain(|token| token.word != Word::Line);
        let words = Words { tokens: &tokens, language: Language::Rhai };
        let samples: Vec<&Sample> = self.trial.rows.iter().map(|tried| &tried.row.sample).collect();
        let numbers = Numbers::of(&words, self.source.role);
        let divisions = numbers.divisions(&samples).into_iter().take(TOLD_MAX);
        found.extend(divisions.map(|own| self.division(&tokens, &own)));
        let changes = (0..tokens.len()).filter_map(|at| self.change(&words, at)).take(TOLD_MAX);
        found.extend(changes);
        found.extend(self.without_else(&words));
    }

    fn division(&self, tokens: &[Token], own: &Division) -> Problem {
        let left = self.text(tokens, own.start, own.slash - 1);
        let right = self.text(tokens, own.slash + 1, own.end - 1);
        let is_literal =
            |part: &str| !part.is_empty() && part.chars().all(|char| char.is_ascii_digit());
        let example = match (own.left, own.right) {
            (Amount::Whole(Some(one)), Amount::Whole(Some(other))) => {
                let whole = one.checked_div(other).unwrap_or_default();
                format!(", so that {one} / {other} is {whole}")
            }
            (_, Amount::Whole(Some(other))) if left == "step" && other > 1 => {
                format!(", so that it is 0 up to step {}", other - 1)
            }
            _ => String::new(),
        };
        let message = format!(
            "`{left} / {right}` divides whole numbers, and rhai drops what is behind the point{example}"
        );
        let help = match (is_literal(left), is_literal(right)) {
            (_, true) => format!("write {left} / {right}.0"),
            (true, _) => format!("write {left}.0 / {right}"),
            _ => format!("write 1.0 * {left} / {right}"),
        };
        self.problem(tokens.get(own.slash), message, help)
    }

    /// A method that changes its text, where its value is used, which is nothing.
    fn change(&self, words: &Words<'_>, at: usize) -> Option<Problem> {
        let name = words.name(at).filter(|name| CHANGES.contains(name))?;
        let is_method = words.before(at) == Some(&Word::Sign('.')) && words.is_sign(at + 1, '(');
        let is_own = (0..words.tokens.len())
            .any(|place| words.name(place) == Some("fn") && words.name(place + 1) == Some(name));
        let end = words.closing(at + 1).filter(|_| is_method && !is_own)?;
        let start = receiver(words, at - 1);
        let root = words.name(start).unwrap_or_default();
        let is_plain = start + 2 == at;
        let is_constant = CONSTANTS.contains(&root) && !has_call(words, start, at);
        let is_used_behind = match words.word(end) {
            Some(Word::Name(name)) => name == "in",
            Some(Word::Sign(sign)) => !matches!(sign, ';' | '}' | '`'),
            _ => false,
        };
        let is_used_before = match start.checked_sub(1).and_then(|before| words.word(before)) {
            Some(Word::Name(name)) => name == "return" || name == "in",
            Some(Word::Sign(sign)) => matches!(sign, '=' | '+' | '!' | '&' | '>' | '<' | ':'),
            _ => false,
        };
        if is_constant || !is_used_behind && !is_used_before {
            return None;
        }
        let text = |from, to| self.text(words.tokens, from, to);
        let (of, call) = (text(start, at - 2), text(at, end - 1));
        let message = format!(
            "`{of}.{call}` changes `{of}` and gives nothing: what is made of it here is ()"
        );
        let help = match name {
            "make_lower" => format!("write {of}.to_lower()"),
            "make_upper" => format!("write {of}.to_upper()"),
            "trim" if !matches!(self.source.role, Role::Reward(_)) => {
                format!("compare the words: {of}.split() == reference.split()")
            }
            _ if is_plain => format!("write {of}.{call}; as a statement of its own, and {of} here"),
            _ => format!("write let c = {of}; c.{call}; as statements of their own, and c here"),
        };
        Some(self.problem(words.tokens.get(at), message, help))
    }

    /// An `if` without `else` at the end.
    fn without_else(&self, words: &Words<'_>) -> Option<Problem> {
        let at = open_if(words, 0, words.tokens.len(), 0)?;
        let (message, help) = match self.source.role {
            Role::When(_) => (
                "`if` without `else` gives () where it does not hold, which is neither true nor false"
                    .to_owned(),
                "write the condition alone, without `if`".to_owned(),
            ),
            Role::Combine => (
                "`if` without `else` gives () where it does not hold, and the row has no reward"
                    .to_owned(),
                "write else { 0.0 } behind it".to_owned(),
            ),
            Role::Reward(_) => {
                let (silent, scored) = self.abstained("the script returned nothing, ()")?;
                if silent == 0 || scored == 0 || says_nothing(words) {
                    return None;
                }
                let all = silent + scored;
                (
                    format!("`if` without `else` gives (): {silent} of {all} rows abstain"),
                    ELSE.to_owned(),
                )
            }
        };
        Some(self.problem(words.tokens.get(at), message, help))
    }

    fn of_python(&self, found: &mut Vec<Problem>) {
        let tokens = words(&self.source.text, Language::Python);
        let Some((function, parameters)) = decides(self.source, &tokens) else { return };
        found.extend(self.signature(&tokens, &function, &parameters));
        let words = Words { tokens: &tokens, language: Language::Python };
        found.extend(self.without_return(&words, &function));
    }

    /// A function that takes its sample for a text.
    fn signature(
        &self,
        tokens: &[Token],
        function: &str,
        parameters: &[Parameter],
    ) -> Option<Problem> {
        let named = |own: &&Parameter| meaning(&own.name, parameters).is_some();
        let by_place = || parameters.iter().filter(|own| own.is_by_place);
        let is_dict = |own: &&Parameter| {
            let all = paths(tokens, Language::Python, &[own.name.as_str()], function);
            let is_first = by_place().next() == Some(*own);
            let is_read =
                |path: &Path| path.get(1).is_some_and(|step| !is_first || is_given(&step.name));
            all.iter().any(is_read)
        };
        let required = by_place().skip(1).take(1).filter(|own| !own.has_default);
        let mut wrong = by_place().take(1).chain(required).filter(named);
        let wrong = wrong.find(|own| !is_dict(own))?;
        let given = if takes_item(parameters) {
            "gets the sample and its row, two dicts"
        } else {
            "gets one dict, the sample"
        };
        let message = format!("`{function}` {given}: `{}` is no text", wrong.name);
        let is_list = |own: &&Parameter| {
            meaning(&own.name, parameters).is_some_and(|meant| meant.starts_with('['))
        };
        let lines: Vec<String> = parameters
            .iter()
            .filter_map(|own| Some(format!("{} = {}", own.name, meaning(&own.name, parameters)?)))
            .collect();
        let one = if parameters.iter().any(|own| is_list(&own)) {
            "; and return one number, without a list around it"
        } else {
            ""
        };
        let help = format!(
            "write def {function}(sample): and in the line below it {}{one}",
            lines.join("; ")
        );
        let at = Token { word: Word::Name(wrong.name.clone()), at: wrong.at.clone() };
        Some(self.problem(Some(&at), message, help))
    }

    /// A function that ends without giving anything, on some rows.
    fn without_return(&self, words: &Words<'_>, function: &str) -> Option<Problem> {
        let (silent, scored) = self.abstained("the script returned None")?;
        let start = words.definition(function).filter(|_| silent > 0 && scored > 0)?;
        let place = Body::of(words, start)?.end_without_return(0)?;
        let is_print = words.name(place) == Some("print");
        let says_none = (start..words.tokens.len()).any(|at| {
            words.name(at) == Some("return")
                && (words.name(at + 1) == Some("None")
                    || matches!(words.word(at + 1), None | Some(Word::Line)))
        });
        if says_none && !is_print {
            return None;
        }
        let (how, help) = if is_print {
            ("prints and does not `return`", "write return in the place of print".to_owned())
        } else {
            ("ends without `return`", RETURN.to_owned())
        };
        let all = silent + scored;
        let message =
            format!("`{function}` {how}: it gives None on {silent} of {all} rows, which abstain");
        Some(self.problem(words.tokens.get(place), message, help))
    }
}

/// What a parameter stands for in the reward functions of TRL, verl and others.
fn meaning(name: &str, parameters: &[Parameter]) -> Option<&'static str> {
    let all: Vec<&str> = parameters.iter().map(|own| own.name.as_str()).collect();
    python_argument(name, &all)
}

/// A block of Python, from the place of its first word on.
struct Body<'a> {
    words: &'a Words<'a>,
    start: usize,
    end: usize,
}

impl<'a> Body<'a> {
    /// The block of the statement that begins at a place.
    fn of(words: &'a Words<'a>, at: usize) -> Option<Self> {
        let end = words.block_end(at, words.indent(at)?);
        let mut colon = at;
        while !words.is_sign(colon, ':') {
            colon = match words.word(colon)? {
                Word::Sign('(' | '[' | '{') => words.closing(colon)?,
                _ => colon + 1,
            };
        }
        Some(Self { words, start: colon + 1, end })
    }

    /// The statement behind which the block ends without `return`.
    fn end_without_return(&self, depth: usize) -> Option<usize> {
        let starts = |at: &usize| self.words.indent(*at).is_some();
        let Some(first) = (self.start..self.end).find(starts) else {
            let is_return = ["return", "raise"].map(Some).contains(&self.words.name(self.start));
            return (!is_return).then_some(self.start);
        };
        let indent = self.words.indent(first);
        let statements: Vec<usize> =
            (first..self.end).filter(|at| self.words.indent(*at) == indent).collect();
        let last = *statements.last()?;
        let goes_on = |at: usize| {
            ["elif", "else", "except", "finally"].map(Some).contains(&self.words.name(at))
        };
        match self.words.name(last) {
            Some("return" | "raise") => None,
            Some("with" | "if" | "elif" | "else" | "try" | "except" | "finally")
                if depth < DEPTH_MAX =>
            {
                let lead = statements.iter().rposition(|at| !goes_on(*at))?;
                let clauses = statements.get(lead..)?;
                let inner = clauses
                    .iter()
                    .find_map(|at| Self::of(self.words, *at)?.end_without_return(depth + 1));
                let is_if = clauses.first().is_some_and(|at| self.words.name(*at) == Some("if"));
                let is_open = is_if && self.words.name(last) != Some("else");
                inner.or_else(|| is_open.then_some(last))
            }
            Some("while") if self.words.name(last + 1) == Some("True") => None,
            _ => Some(last),
        }
    }
}

/// The first word of what a method is called on, by the place of its point.
fn receiver(words: &Words<'_>, point: usize) -> usize {
    let mut at = point;
    while let Some(before) = at.checked_sub(1) {
        match words.word(before) {
            Some(Word::Sign(')' | ']')) => {
                let Some(open) = (0..before).rev().find(|open| {
                    matches!(words.word(*open), Some(Word::Sign('(' | '[')))
                        && words.closing(*open) == Some(before + 1)
                }) else {
                    return at;
                };
                at = open;
            }
            Some(Word::Name(name)) if !KEYWORDS.contains(&name.as_str()) => at = before,
            Some(Word::Sign('.' | '?')) => at = before,
            Some(Word::Text(_)) if at == point => return before,
            _ => return at,
        }
        let joins = matches!(
            at.checked_sub(1).and_then(|before| words.word(before)),
            Some(Word::Sign('.' | '?'))
        );
        let is_called = words.is_sign(at, '(') || words.is_sign(at, '[');
        if !joins && !is_called && !words.is_sign(at, '.') && !words.is_sign(at, '?') {
            return at;
        }
    }
    at
}

fn has_call(words: &Words<'_>, start: usize, end: usize) -> bool {
    (start..end).any(|at| words.is_sign(at, '('))
}

/// The first word of an `if` without `else` that the last statement of a block ends with.
fn open_if(words: &Words<'_>, start: usize, end: usize, depth: usize) -> Option<usize> {
    let (mut at, mut last) = (start, None);
    while at < end {
        last = Some(at);
        at = statement_end(words, at, end);
    }
    let first = last.filter(|at| words.name(*at) == Some("if") && depth < DEPTH_MAX)?;
    let mut place = first;
    loop {
        let open = brace(words, place, end)?;
        let close = words.closing(open)?;
        if let Some(inner) = open_if(words, open + 1, close - 1, depth + 1) {
            return Some(inner);
        }
        if words.name(close) != Some("else") {
            return (close >= end || words.is_sign(close, ';')).then_some(first);
        }
        place = close + 1;
        if words.name(place) != Some("if") {
            let close = words.closing(place)?;
            return open_if(words, place + 1, close - 1, depth + 1);
        }
    }
}

/// The place of the brace that opens the next block.
fn brace(words: &Words<'_>, start: usize, end: usize) -> Option<usize> {
    let mut at = start;
    while at < end {
        match words.word(at)? {
            Word::Sign('{') if !words.is_sign(at.wrapping_sub(1), '#') => return Some(at),
            Word::Sign('(' | '[' | '{') => at = words.closing(at)?,
            _ => at += 1,
        }
    }
    None
}

/// Where the statement ends that begins at a place.
fn statement_end(words: &Words<'_>, start: usize, end: usize) -> usize {
    let blocks = ["if", "while", "for", "loop", "fn", "try", "switch", "do"];
    let is_block = words.name(start).is_some_and(|name| blocks.contains(&name));
    let mut at = start;
    while at < end {
        match words.word(at) {
            Some(Word::Sign(';')) => return at + 1,
            Some(Word::Sign('(' | '[' | '{')) => {
                let is_brace = words.is_sign(at, '{') && !words.is_sign(at.wrapping_sub(1), '#');
                at = words.closing(at).unwrap_or(end).max(at + 1);
                let goes_on = ["else", "catch"].map(Some).contains(&words.name(at));
                if is_block && is_brace && !goes_on {
                    return if words.is_sign(at, ';') { at + 1 } else { at };
                }
            }
            _ => at += 1,
        }
    }
    end
}

/// Whether a script says itself that it gives nothing.
fn says_nothing(words: &Words<'_>) -> bool {
    (0..words.tokens.len()).any(|at| {
        let is_unit = words.is_sign(at, '(') && words.is_sign(at + 1, ')');
        let before = at.checked_sub(1).and_then(|before| words.word(before));
        let leads = match before {
            None | Some(Word::Sign('{' | ';')) => true,
            Some(Word::Name(name)) => name == "return",
            _ => false,
        };
        is_unit && leads
    })
}
