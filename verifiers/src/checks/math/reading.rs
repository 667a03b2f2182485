//! From text to the values that it may mean.

use std::borrow::Cow;

use super::Stop;
use super::ast::{Id, Tree};
use super::calendar::{self, Calendar};
use super::families::Parameter;
use super::lexer::{self, Commas};
use super::phrases::{self, Phrase};
use super::poly::Ctx;
use super::value::{Family, Value};
use super::{build, markup, parser, qualify, spelled, statement};

/// What a text may mean: a few trees, or nothing but a text.
pub(super) struct Reading {
    pub(super) trees: Vec<(Tree, Id)>,
    pub(super) text: String,
    /// A date or a time of day.
    calendar: Vec<Calendar>,
    /// The letter of a choice that came with its value.
    letter: Option<u8>,
    /// The letters that the text says stand for whole numbers.
    parameters: Vec<Parameter>,
    family: Option<Family>,
    /// The words that the trees stand behind.
    phrase: Option<Phrase>,
}

/// Reads `text`. An answer may use a decimal comma; a reference says by its form what it means.
pub(super) fn read(text: &str, answer: bool, ctx: &mut Ctx<'_, '_>) -> Result<Reading, Stop> {
    let marked = markup::plain(text);
    let clean = cleaned(&marked);
    let clean = trimmed(&clean);
    let family = qualify::congruence(clean);
    let whole = clean;
    let (clean, parameters) = qualify::qualified(clean);
    let clean = trimmed(&clean);
    let (phrase, clean) =
        phrases::begins(clean).map_or((None, clean), |(phrase, rest)| (Some(phrase), rest));
    ctx.meter.spend(20 + 2 * text.len() as u64)?;
    let mut trees = Vec::new();
    let mut ways = vec![Commas::Thousands];
    if clean.contains(',') {
        let (thousands, decimal) = comma_shapes(clean);
        ways.extend(thousands.then_some(Commas::Separate));
        let wanted = answer || decimal_comma(clean);
        ways.extend((wanted && decimal).then_some(Commas::Decimal));
    }
    if family.is_some() {
        ways.clear();
    }
    for commas in ways {
        trees.extend(tree(clean, commas, ctx)?);
    }
    let choice = choice(clean);
    if let Some((letter, rest)) = choice {
        trees.extend(tree(letter, Commas::Thousands, ctx)?);
        trees.extend(tree(rest, Commas::Thousands, ctx)?);
    }
    let letter = choice.and_then(|(letter, _)| letter.bytes().next());
    let calendar = calendar::read(clean);
    Ok(Reading { trees, text: plain_text(whole), calendar, letter, parameters, family, phrase })
}

/// A tree, `None` where the text is no mathematics, or too large for it.
fn tree(text: &str, commas: Commas, ctx: &mut Ctx<'_, '_>) -> Result<Option<(Tree, Id)>, Stop> {
    let tokens = match lexer::lex(text, commas, ctx.meter) {
        Ok(tokens) => tokens,
        Err(Stop::Fault(fault)) => return Err(Stop::Fault(fault)),
        Err(_) => return Ok(None),
    };
    ctx.meter.spend(20 * tokens.len() as u64)?;
    match parser::parse(&tokens) {
        Ok(parsed) => Ok(Some(parsed)),
        Err(Stop::Fault(fault)) => Err(Stop::Fault(fault)),
        Err(_) => Ok(None),
    }
}

impl Reading {
    /// Whether a sum, an integral, a limit or a derivative stands in any reading.
    pub(super) fn has_operator(&self) -> bool {
        self.trees.iter().any(|(tree, _)| tree.has_operator())
    }

    /// Whether it is a choice by its letter.
    pub(super) fn is_choice(&self) -> bool {
        self.letter.is_some()
    }

    /// Whether it is a date or a time of day.
    pub(super) fn is_calendar(&self) -> bool {
        !self.calendar.is_empty()
    }

    /// Whether two choices carry different letters: then their values do not matter.
    pub(super) fn names_another(&self, other: &Self) -> bool {
        self.letter.zip(other.letter).is_some_and(|(one, two)| one != two)
    }

    /// The values of the trees, and the text itself where it is no mathematics. Mathematics past a
    /// limit, or without a value, has none.
    pub(super) fn values(&self, ctx: &mut Ctx<'_, '_>) -> Result<Vec<Value>, Stop> {
        if let Some((value, noun)) = spelled::number(&self.text) {
            return Ok(vec![Value::counted(value, noun)]);
        }
        if let Some(kind) = statement::kind_of_number(&self.text) {
            return Ok(vec![Value::Text(kind.to_owned())]);
        }
        let mut values: Vec<Value> = self.calendar.iter().copied().map(Value::Calendar).collect();
        // A date is no difference of numbers, whatever its signs look like.
        let trees = if values.is_empty() { self.trees.as_slice() } else { &[] };
        values.extend(self.family.clone().map(Value::Family));
        values.extend(phrases::set_of(&self.text));
        let mut open = false;
        for (tree, root) in trees {
            match build::build(ctx, tree, *root) {
                Ok(Value::Text(_)) | Err(Stop::Unreadable) => {}
                Ok(value) => match self.repeated(value, ctx) {
                    Ok(value) => values.push(value),
                    Err(Stop::Fault(fault)) => return Err(Stop::Fault(fault)),
                    Err(Stop::Unreadable) => {}
                    Err(_) => open = true,
                },
                Err(Stop::Fault(fault)) => return Err(Stop::Fault(fault)),
                Err(Stop::Cap | Stop::Undefined) => open = true,
            }
        }
        if values.is_empty() && !open && !self.text.is_empty() {
            values.push(Value::Text(statement::winner(&self.text).to_owned()));
        }
        Ok(values)
    }
}

impl Reading {
    /// The value with what the words around it say: the set that they name, or a family.
    fn repeated(&self, value: Value, ctx: &mut Ctx<'_, '_>) -> Result<Value, Stop> {
        if let Some(phrase) = self.phrase {
            return ctx.phrased(phrase, &value);
        }
        if self.parameters.is_empty() {
            return Ok(value);
        }
        let repeated = ctx.over_whole(&value, &self.parameters)?;
        Ok(repeated.unwrap_or(value))
    }
}

/// Without Markdown's stars, outer dollars and a final dot.
pub(super) fn trimmed(text: &str) -> &str {
    let mut text = super::extract::trimmed_start(text).trim_end();
    for _ in 0..4 {
        let before = text;
        text = super::extract::trimmed_start(text.trim_matches(['`', '"', ' ', '\n', '\r']))
            .trim_end();
        if !text.ends_with("\\,") && !text.ends_with("\\;") {
            text = text.strip_suffix(['.', ',', ';', '^', '_']).unwrap_or(text);
        }
        text = text.strip_suffix("**").unwrap_or(text);
        text = text.strip_prefix("**").unwrap_or(text);
        for (open, close) in [("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")] {
            if let Some(inner) = text.strip_prefix(open).and_then(|text| text.strip_suffix(close)) {
                text = inner;
            }
        }
        if text == before {
            break;
        }
    }
    text
}

/// Characters that stand for several, and commands whose backslash an escape swallowed.
fn cleaned(text: &str) -> Cow<'_, str> {
    const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";
    const FRACTIONS: &[(char, &str)] = &[
        ('½', "\\frac12"),
        ('⅓', "\\frac13"),
        ('⅔', "\\frac23"),
        ('¼', "\\frac14"),
        ('¾', "\\frac34"),
        ('⅕', "\\frac15"),
        ('⅙', "\\frac16"),
        ('⅛', "\\frac18"),
        ('⅜', "\\frac38"),
        ('⅝', "\\frac58"),
        ('⅞', "\\frac78"),
    ];
    let special = |c: char| {
        c < ' ' || RAISED.contains(c) || c == '⁻' || FRACTIONS.iter().any(|(have, _)| *have == c)
    };
    if text.is_ascii() && !text.bytes().any(|byte| byte < b' ') || !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut raised = false;
    for c in text.chars() {
        let digit = RAISED.chars().position(|have| have == c);
        if (digit.is_some() || c == '⁻') != raised {
            out.push_str(if raised { "}" } else { "^{" });
            raised = !raised;
        }
        match (c, digit) {
            (_, Some(digit)) => {
                out.extend(u32::try_from(digit).ok().and_then(|d| char::from_digit(d, 10)));
            }
            ('⁻', _) => out.push('-'),
            // \frac, \text and \boxed after an escape sequence was taken for the control character.
            ('\u{c}', _) => out.push_str("\\f"),
            ('\t', _) => out.push_str("\\t"),
            ('\u{8}', _) => out.push_str("\\b"),
            _ => match FRACTIONS.iter().find(|(have, _)| *have == c) {
                Some((_, fraction)) => out.push_str(fraction),
                None => out.push(c),
            },
        }
    }
    if raised {
        out.push('}');
    }
    // A tab that stood for itself.
    Cow::Owned(if out.contains("\\t") { restore_tabs(&out) } else { out })
}

fn restore_tabs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\t") {
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        let after = tail.get(2..).unwrap_or_default();
        let command = [
            "ext", "imes", "frac", "heta", "an", "au", "o", "binom", "riangle", "ilde", "herefore",
        ];
        out.push_str(if command.iter().any(|name| after.starts_with(name)) { "\\t" } else { " " });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Whether the comma of a reference is more likely a decimal point than a list: `0,111`, `1,22`.
fn decimal_comma(text: &str) -> bool {
    let Some((whole, rest)) = text.split_once(',') else { return false };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole) && digits(rest) && (whole == "0" || !matches!(rest.len(), 1 | 3))
}

/// Whether a comma might separate thousands, and whether the only one might be a decimal point.
fn comma_shapes(text: &str) -> (bool, bool) {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let thousands = text.match_indices(',').any(|(at, _)| {
        at > 0 && digit(at - 1) && digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4)
    });
    let mut marks = text.match_indices(',');
    let decimal = match (marks.next(), marks.next()) {
        (Some((at, _)), None) => at > 0 && digit(at - 1) && digit(at + 1),
        _ => false,
    };
    (thousands, decimal)
}

/// `(C) 42`, `C. 42`, `\textbf{(C)}\ 42`: the letter and what it stands for.
fn choice(text: &str) -> Option<(&str, &str)> {
    let mut head = text;
    for wrapper in ["\\textbf{", "\\text{", "\\mathbf{", "\\mathrm{", "\\textrm{"] {
        head = head.strip_prefix(wrapper).unwrap_or(head);
    }
    let bracket = head.starts_with('(');
    let head = head.strip_prefix('(').unwrap_or(head);
    let letter =
        head.get(..1).filter(|letter| letter.starts_with(|c: char| ('A'..='J').contains(&c)))?;
    let tail = head.get(1..)?;
    let rest = match (tail.strip_prefix(')'), tail.strip_prefix(['.', ':'])) {
        (Some(rest), _) => rest,
        (None, Some(rest)) if !bracket && rest.starts_with(' ') => rest,
        _ => return None,
    };
    let rest = rest.trim_start_matches(['}', '.', ':', '\\', ' ', '~', ',']);
    (!rest.is_empty() || tail.starts_with(')')).then_some((letter, rest))
}

/// The words of a text without markup, punctuation, case and articles.
fn plain_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(256));
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '\\' {
            let tail = rest.get(1..).unwrap_or_default();
            let end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
            let name = tail.get(..end).unwrap_or_default();
            let markup = matches!(
                name,
                "text"
                    | "textbf"
                    | "textit"
                    | "mathrm"
                    | "mbox"
                    | "textrm"
                    | "left"
                    | "right"
                    | "operatorname"
            );
            if !markup {
                out.push_str(name);
            }
            rest = tail.get(end..).unwrap_or_default();
            continue;
        }
        if c.is_alphanumeric()
            || matches!(
                c,
                '+' | '-' | '<' | '>' | '=' | '/' | '^' | '*' | '|' | '(' | '[' | ')' | ']' | '_'
            )
        {
            out.extend(c.to_lowercase());
        } else if c.is_whitespace() || c == ',' || c == ';' {
            out.push(if c.is_whitespace() { ' ' } else { c });
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    let words = out.split_whitespace().filter(|word| !matches!(*word, "the" | "a" | "an"));
    words.collect::<Vec<_>>().join(" ")
}
