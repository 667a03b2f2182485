//! Conditions and expressions as Python, Jinja or SQL have them, in rhai: what to type in their place.

use std::ops::Range;

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
const WORDS: [(&str, &str); 11] = [
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
    let text = conditional(&rewritten(&pieces(&text), is_number));
    let text = text.trim().to_owned();
    let differs = text != source.trim();
    (differs && Script::expression(&text).is_ok()).then_some(text)
}

/// The bytes of an expression at which an error says that it went wrong.
pub(super) fn place(source: &str, error: &str) -> Option<Range<usize>> {
    let (_, told) = error.rsplit_once("(line ")?;
    let (line, column) = told.split_once(", position ")?;
    let column: usize = column.split(')').next()?.parse().ok()?;
    let before = source.split_inclusive('\n').take(line.parse::<usize>().ok()?.checked_sub(1)?);
    let start: usize = before.map(str::len).sum();
    let rest = source.get(start..)?;
    let at = start + rest.char_indices().nth(column.checked_sub(1)?)?.0;
    let rest = source.get(at..)?;
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let length = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
    Some(at..at + length.max(rest.chars().next().map_or(1, char::len_utf8)))
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

/// The expression with the words and the signs of rhai.
fn rewritten(pieces: &[Piece], is_number: bool) -> String {
    let mut text = String::new();
    // Brackets that are open behind `!`, each with the depth at which it ends.
    let mut open: Vec<usize> = Vec::new();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(piece) = pieces.get(at) {
        let is_not = pieces.get(at + 2) == Some(&Piece::Word("not".to_owned()));
        at += 1;
        match piece {
            Piece::Text(inner, '\'') => text.push_str(&quoted(&inner.replace("\\'", "'"))),
            Piece::Text(inner, _) => text.extend(["\"", inner.as_str(), "\""]),
            Piece::Word(own) if own == "is" && is_not => {
                text.push_str("!=");
                at += 2;
            }
            Piece::Word(own) if own == "not" || own == "NOT" => {
                text.push_str("!(");
                open.push(depth);
                // The blank behind it.
                at += usize::from(pieces.get(at) == Some(&Piece::Sign(' ')));
            }
            Piece::Word(own) => {
                let is_call = pieces.get(at) == Some(&Piece::Sign('('));
                let table: &[(&str, &str)] = if is_call { &FUNCTIONS } else { &WORDS };
                let meant = table.iter().find(|(other, _)| other == own).map(|(_, meant)| *meant);
                if matches!(meant, Some("&&" | "||")) {
                    close(&mut text, &mut open, depth);
                }
                // A word of the language is no name of a member.
                let is_member = text.ends_with('.') && own.starts_with(char::is_alphabetic);
                if is_member && !is_call && !is_variable(own) {
                    text.pop();
                    text.extend(["[", &quoted(own), "]"]);
                } else {
                    text.push_str(meant.unwrap_or(own));
                }
            }
            Piece::Sign('=') => {
                let joined = text.ends_with(['=', '!', '<', '>', '+', '-', '*', '/']);
                let doubled = joined || pieces.get(at) == Some(&Piece::Sign('='));
                text.push_str(if doubled { "=" } else { "==" });
            }
            Piece::Sign('^') if is_number => text.push_str("**"),
            Piece::Sign(char) => {
                match char {
                    '(' | '[' => depth += 1,
                    ')' | ']' => {
                        close(&mut text, &mut open, depth);
                        depth = depth.saturating_sub(1);
                    }
                    _ => {}
                }
                text.push(*char);
            }
        }
    }
    close(&mut text, &mut open, 0);
    text
}

/// Ends what stands behind `!` at this depth or deeper.
fn close(text: &mut String, open: &mut Vec<usize>, depth: usize) {
    while open.pop_if(|own| *own >= depth).is_some() {
        let kept = text.trim_end().len();
        text.insert(kept, ')');
    }
}

/// `A if C else B` as rhai has it.
fn conditional(text: &str) -> String {
    let parts = || {
        let (value, rest) = text.split_once(" if ")?;
        let (condition, other) = rest.split_once(" else ")?;
        Some(format!("if {condition} {{ {value} }} else {{ {other} }}"))
    };
    parts().unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_of_python_are_written_in_rhai() {
        for (python, rhai) in [
            (
                "meta.kind == \"a\" and meta.split == \"b\"",
                "meta.kind == \"a\" && meta.split == \"b\"",
            ),
            ("meta.kind == 'a' or True", "meta.kind == \"a\" || true"),
            ("not meta.kind == \"a\" and step > 1", "!(meta.kind == \"a\") && step > 1"),
            ("reference is not None", "reference != ()"),
            ("reference is null", "reference == ()"),
            ("meta.kind = \"a\"", "meta.kind == \"a\""),
            ("{{ meta.kind }} == \"a\"", "meta.kind  == \"a\""),
            ("completion.startswith('x')", "completion.starts_with(\"x\")"),
            ("rewards.is right > 0", "rewards[\"is right\"] > 0"),
            ("not (meta.a or meta.b)", "!((meta.a || meta.b))"),
            (
                "meta.switch == 1 and meta.a.type == 'x'",
                "meta[\"switch\"] == 1 && meta.a.type == \"x\"",
            ),
            ("meta.a > 0.5 and meta.is", "meta.a > 0.5 && meta[\"is\"]"),
        ] {
            let names = ["is right".to_owned()];
            assert_eq!(in_rhai(python, &names, false).as_deref(), Some(rhai));
        }
        for rhai in ["meta.kind == \"a\" && step > 1", "a >= 1 || b != 2", "lambda row: row"] {
            assert_eq!(in_rhai(rhai, &[], false), None, "{rhai}");
        }
    }

    #[test]
    fn expressions_of_python_are_written_in_rhai() {
        for (python, rhai) in [
            ("1.0 if right > 0.5 else 0.0", "if right > 0.5 { 1.0 } else { 0.0 }"),
            ("reward = right * 2", "right * 2"),
            ("right ^ 2", "right ** 2"),
            ("is-right * 2", "rewards[\"is-right\"] * 2"),
        ] {
            let names = ["is-right".to_owned(), "right".to_owned()];
            assert_eq!(in_rhai(python, &names, true).as_deref(), Some(rhai));
        }
    }

    #[test]
    fn the_place_of_an_error_is_found() {
        let source = "a &&\nb and c";
        assert_eq!(place(source, "Unexpected 'and' (line 2, position 3)"), Some(7..10));
        assert_eq!(place(source, "no place"), None);
    }
}
