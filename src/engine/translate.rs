//! Conditions and expressions as Python, Jinja or SQL have them, in rhai: what to type in their place.

use assay_verifiers::script::Script;

/// What stands in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// A text, without its quotes, and the quote.
    Text(String, char),
    Word(String),
    Sign(char),
}

/// Words of other languages, and what stands for them.
const WORDS: [(&str, &str); 13] = [
    ("and", "&&"),
    ("AND", "&&"),
    ("or", "||"),
    ("OR", "||"),
    ("None", "()"),
    ("null", "()"),
    ("nil", "()"),
    ("NULL", "()"),
    ("True", "true"),
    ("False", "false"),
    ("is", "=="),
    ("var", "let"),
    ("undefined", "()"),
];

/// Functions of other languages, and ours.
const FUNCTIONS: [(&str, &str); 7] = [
    ("startswith", "starts_with"),
    ("startsWith", "starts_with"),
    ("endswith", "ends_with"),
    ("endsWith", "ends_with"),
    ("lower", "to_lower"),
    ("upper", "to_upper"),
    ("includes", "contains"),
];

/// What is to be typed in the place of an expression: the same in rhai, where it parses and differs.
/// `names` are those of the rewards; `is_number` says that it gives one.
pub fn in_rhai(source: &str, names: &[String], is_number: bool) -> Option<String> {
    let mut text = source.replace("{{", "").replace("}}", "");
    if is_number && let Some(value) = assigned(&text) {
        text = value;
    }
    for name in names.iter().filter(|name| !is_variable(name)) {
        let member = format!("rewards[{}]", quoted(name));
        text = text.replace(&format!("rewards.{name}"), &member);
        if !text.contains(&member) {
            text = text.replace(name.as_str(), &member);
        }
    }
    let form = if is_number { Form::Number } else { Form::Condition };
    let text = conditional(&rewritten(&pieces(&text), form));
    let text = text.trim().to_owned();
    let differs = text != source.trim();
    (differs && Script::expression(&text).is_ok()).then_some(text)
}

/// Whether an expression can have a variable of this name.
fn is_variable(name: &str) -> bool {
    let starts = name.starts_with(|char: char| char.is_alphabetic() || char == '_');
    starts
        && name.chars().all(|char| char.is_alphanumeric() || char == '_')
        && Script::expression(name).is_ok()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// What is assigned, where an expression assigns.
fn assigned(source: &str) -> Option<String> {
    let (name, value) = source.split_once('=')?;
    let is_plain = is_variable(name.trim()) && !value.starts_with('=');
    is_plain.then(|| value.trim().trim_end_matches(';').to_owned())
}

fn pieces(source: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut chars = source.chars().peekable();
    while let Some(char) = chars.next() {
        if char == '"' || char == '\'' {
            let mut text = String::new();
            while let Some(next) = chars.next().filter(|next| *next != char) {
                text.push(next);
                if next == '\\' {
                    text.extend(chars.next());
                }
            }
            pieces.push(Piece::Text(text, char));
        } else if char.is_alphanumeric() || char == '_' {
            let mut word = String::from(char);
            while let Some(next) = chars.next_if(|next| next.is_alphanumeric() || *next == '_') {
                word.push(next);
            }
            pieces.push(Piece::Word(word));
        } else {
            pieces.push(Piece::Sign(char));
        }
    }
    pieces
}

/// What is written in rhai.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Condition,
    Number,
    /// Statements, which assign.
    Script,
}

/// Writes pieces with the words and the signs of rhai.
struct Writer<'a> {
    pieces: &'a [Piece],
    /// The next piece.
    at: usize,
    form: Form,
    text: String,
    depth: usize,
    /// Brackets that are open behind `!`, each with the depth at which it ends.
    open: Vec<usize>,
}

/// The expression with the words and the signs of rhai.
fn rewritten(pieces: &[Piece], form: Form) -> String {
    let mut writer =
        Writer { pieces, at: 0, form, text: String::new(), depth: 0, open: Vec::new() };
    while let Some(piece) = pieces.get(writer.at) {
        writer.at += 1;
        match piece {
            Piece::Text(inner, '\'') => {
                writer.text.push_str(&quoted(&inner.replace("\\'", "'")));
            }
            Piece::Text(inner, _) => writer.text.extend(["\"", inner.as_str(), "\""]),
            Piece::Word(own) => writer.word(own),
            Piece::Sign(char) => writer.sign(*char),
        }
    }
    writer.close(0);
    writer.text
}

impl Writer<'_> {
    fn is_next(&self, sign: char) -> bool {
        self.pieces.get(self.at) == Some(&Piece::Sign(sign))
    }

    fn word(&mut self, own: &str) {
        let is_not = self.pieces.get(self.at + 1) == Some(&Piece::Word("not".to_owned()));
        match (own, self.pieces.get(self.at)) {
            ("f" | "F", Some(Piece::Text(inner, _))) => {
                self.text.extend(["`", inner.replace('{', "${").as_str(), "`"]);
                self.at += 1;
                return;
            }
            ("is", _) if is_not => {
                self.text.push_str("!=");
                self.at += 2;
                return;
            }
            ("not" | "NOT", _) => {
                self.text.push_str("!(");
                self.open.push(self.depth);
                // The blank behind it.
                self.at += usize::from(self.is_next(' '));
                return;
            }
            _ => {}
        }
        let is_call = self.is_next('(');
        let table: &[(&str, &str)] = if is_call { &FUNCTIONS } else { &WORDS };
        let meant = table.iter().find(|(other, _)| *other == own).map(|(_, meant)| *meant);
        if matches!(meant, Some("&&" | "||")) || own == "else" {
            self.close(self.depth);
        }
        // A word of the language is no name of a member.
        let is_member = self.text.ends_with('.') && own.starts_with(char::is_alphabetic);
        if is_member && !is_call && !is_variable(own) {
            self.text.pop();
            self.text.extend(["[", &quoted(own), "]"]);
        } else {
            self.text.push_str(meant.unwrap_or(own));
        }
    }

    fn sign(&mut self, sign: char) {
        let behind = self.pieces.get(self.at..).unwrap_or_default();
        match sign {
            // JavaScript has a third one.
            '=' if self.text.ends_with("==") || self.text.ends_with("!=") => {}
            '=' if self.form != Form::Script => {
                let joined = self.text.ends_with(['=', '!', '<', '>', '+', '-', '*', '/']);
                self.text.push_str(if joined || self.is_next('=') { "=" } else { "==" });
            }
            '^' if self.form == Form::Number => self.text.push_str("**"),
            '%' => match share(&self.text, behind) {
                Some((start, share)) => {
                    self.text.truncate(start);
                    self.text.push_str(&toml::Value::from(share).to_string());
                }
                None => self.text.push(sign),
            },
            '{' if is_dict(behind) && !self.text.ends_with('#') => self.text.push_str("#{"),
            '(' | '[' => {
                self.depth += 1;
                self.text.push(sign);
            }
            ')' | ']' => {
                self.close(self.depth);
                self.depth = self.depth.saturating_sub(1);
                self.text.push(sign);
            }
            _ => self.text.push(sign),
        }
    }

    /// Ends what stands behind `!` at this depth or deeper.
    fn close(&mut self, depth: usize) {
        while self.open.pop_if(|own| *own >= depth).is_some() {
            let kept = self.text.trim_end().len();
            self.text.insert(kept, ')');
        }
    }
}

/// The share that a number with `%` behind it is, and where the number starts; `None` where `%` divides.
fn share(before: &str, behind: &[Piece]) -> Option<(usize, f64)> {
    let next = behind.iter().find(|piece| **piece != Piece::Sign(' '));
    let is_operand =
        matches!(next, Some(Piece::Word(_) | Piece::Text(..) | Piece::Sign('(' | '[')));
    let is_digit = |char: char| char.is_ascii_digit() || char == '.';
    let (name, digits) = before.split_at_checked(before.trim_end_matches(is_digit).len())?;
    let is_name = name.ends_with(|char: char| char.is_alphanumeric() || char == '_');
    let value: f64 = digits.parse().ok().filter(|_| !is_operand && !is_name)?;
    Some((name.len(), value / 100.0))
}

/// Whether a bracket opens an object of Python or JSON: a text and a colon follow.
fn is_dict(behind: &[Piece]) -> bool {
    let mut next = behind.iter().filter(|piece| **piece != Piece::Sign(' '));
    matches!((next.next(), next.next()), (Some(Piece::Text(..)), Some(Piece::Sign(':'))))
}

/// How deep conditions stand in conditions.
const DEPTH_MAX: usize = 8;

/// `A if C else B`, `C ? A : B` and `if C then A else B` as rhai has them.
fn conditional(text: &str) -> String {
    conditional_at(text, 0)
}

fn conditional_at(text: &str, depth: usize) -> String {
    let python = || {
        let (value, rest) = text.split_once(" if ")?;
        let (condition, other) = rest.split_once(" else ")?;
        Some((condition, value, other))
    };
    let question = || {
        let (at, _) = text.match_indices('?').find(|(at, _)| is_alone(text, *at))?;
        let rest = text.get(at + 1..)?;
        let (colon, _) = rest
            .match_indices(':')
            .find(|(at, _)| !rest.get(..*at).is_some_and(|value| value.contains('?')))?;
        Some((text.get(..at)?, rest.get(..colon)?, rest.get(colon + 1..)?))
    };
    let then = || {
        let (condition, rest) = text.trim_start().strip_prefix("if ")?.split_once(" then ")?;
        let (value, other) = rest.split_once(" else ")?;
        Some((condition, value, other))
    };
    let parts = then().or_else(question).or_else(python).filter(|_| depth < DEPTH_MAX);
    parts.map_or_else(
        || text.to_owned(),
        |(condition, value, other)| {
            let other = conditional_at(other.trim(), depth + 1);
            format!("if {} {{ {} }} else {{ {other} }}", condition.trim(), value.trim())
        },
    )
}

/// Whether a question mark is no part of `??`, `?.` or `?[`.
fn is_alone(text: &str, at: usize) -> bool {
    let before = text.get(..at).is_some_and(|before| before.ends_with('?'));
    let behind = text.get(at + 1..).is_some_and(|behind| behind.starts_with(['?', '.', '[']));
    !before && !behind
}
