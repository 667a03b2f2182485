//! References that say the right answer in characters that an answer does not have: what they would be in those of
//! a keyboard, and how Python writes them so.

use serde_json::Value;

/// A way to write references anew.
pub(super) struct Spelling {
    /// What is wrong with them.
    pub(super) what: &'static str,
    /// How they are mended.
    pub(super) help: &'static str,
    /// The text, written anew.
    pub(super) respelt: fn(&str) -> String,
    /// Answers may be written so too.
    pub(super) is_of_answers: bool,
}

/// The ways, the plainest first.
pub(super) const SPELLINGS: [Spelling; 8] = [
    Spelling {
        what: "the reference and the answer differ in characters that are not seen",
        help: "take them out of the rows, as re.sub(\"[\\u200b-\\u200f\\u2060\\ufeff\\u00ad]\", \"\", text) of Python does",
        respelt: seen,
        is_of_answers: true,
    },
    Spelling {
        what: "the reference and the answer differ in blanks, such as a no-break space",
        help: "write plain blanks, as \" \".join(text.split()) of Python does",
        respelt: blanks,
        is_of_answers: true,
    },
    Spelling {
        what: "the reference and the answer differ in quotes or dashes, such as \u{2019} for '",
        help: "write both as a list of answers, as in [\"don\u{2019}t\", \"don't\"]: any of them is then right",
        respelt: signs,
        is_of_answers: true,
    },
    Spelling {
        what: "the reference is written as in HTML, such as &amp; for &",
        help: "html.unescape(text) of Python writes the characters themselves",
        respelt: unescaped,
        is_of_answers: false,
    },
    Spelling {
        what: "the reference was read in another encoding than it was written in, such as Ã© for é",
        help: "text.encode(\"cp1252\").decode(\"utf-8\") of Python mends it",
        respelt: decoded,
        is_of_answers: false,
    },
    Spelling {
        what: "the reference stands in quotes, and the answer does not",
        help: "write the answer alone: text.strip('\"') of Python takes the quotes away",
        respelt: unquoted,
        is_of_answers: false,
    },
    Spelling {
        what: "the reference ends with a full stop, and the answer does not",
        help: "write the answer alone: text.rstrip(\".\") of Python takes the stop away",
        respelt: unstopped,
        is_of_answers: false,
    },
    Spelling {
        what: "the reference has a letter of an option before the answer, such as \"B) Paris\"",
        help: "write the answer alone, or the letter alone with verifier = \"choice\"",
        respelt: unlettered,
        is_of_answers: false,
    },
];

/// JSON, written anew beside another one.
type OfJson = fn(&Value, &Value) -> Value;

/// Ways to write JSON anew, of the reference and of the answer; what is wrong, and how it is mended.
pub(super) const OF_JSON: [(OfJson, &str, &str); 3] = [
    (
        |own, _| numbered(own),
        "numbers stand as texts on one side, such as \"1\" for 1",
        "write numbers in the rows, or ask the policy for texts: JSON tells them apart",
    ),
    (
        |own, _| lowered(own),
        "keys differ in capitals alone",
        "write the keys of the references as the prompt asks for them",
    ),
    (
        shared,
        "the answer has members that the reference has not",
        "compare a member alone: config = { equals_reference = true, pointer = \"/NAME\" }, with the member as the \
         reference; or say in the prompt which members are wanted",
    ),
];

/// JSON whose texts that are numbers are numbers.
fn numbered(value: &Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str::<serde_json::Number>(text.trim())
            .map_or_else(|_| value.clone(), Value::Number),
        Value::Array(values) => values.iter().map(numbered).collect(),
        Value::Object(members) => Value::Object(
            members.iter().map(|(key, value)| (key.clone(), numbered(value))).collect(),
        ),
        other => other.clone(),
    }
}

/// JSON whose keys are in small letters.
fn lowered(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(lowered).collect(),
        Value::Object(members) => Value::Object(
            members.iter().map(|(key, value)| (key.to_lowercase(), lowered(value))).collect(),
        ),
        other => other.clone(),
    }
}

/// The members of an object that another one has too.
fn shared(value: &Value, other: &Value) -> Value {
    match (value, other) {
        (Value::Object(members), Value::Object(wanted)) => {
            let both = members.iter().filter(|(key, _)| wanted.contains_key(*key));
            Value::Object(both.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        _ => value.clone(),
    }
}

/// The texts of a reference, written anew; `None` where that changes nothing.
pub(super) fn respelt(reference: &Value, how: fn(&str) -> String) -> Option<Value> {
    let new = match reference {
        Value::String(text) => Value::from(how(text)),
        Value::Array(values) => {
            let one = |value: &Value| match value {
                Value::String(text) => Value::from(how(text)),
                other => other.clone(),
            };
            values.iter().map(one).collect()
        }
        _ => return None,
    };
    (new != *reference).then_some(new)
}

/// The answers of a list that stands in a list.
pub(super) fn flattened(reference: &Value) -> Option<Value> {
    let inner = |value: &Value| value.as_array().cloned();
    let all: Vec<Vec<Value>> = reference.as_array()?.iter().map(inner).collect::<Option<_>>()?;
    let all: Vec<Value> = all.into_iter().flatten().collect();
    (!all.is_empty()).then_some(all.into())
}

fn seen(text: &str) -> String {
    let is_hidden = |char: char| matches!(char, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\u{202a}'..='\u{202e}');
    text.replace(is_hidden, "")
}

fn blanks(text: &str) -> String {
    text.replace(|char: char| char.is_whitespace() && !char.is_ascii(), " ")
}

fn signs(text: &str) -> String {
    let plain = |char: char| match char {
        '\u{2018}' | '\u{2019}' | '\u{2032}' | '\u{b4}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{ab}' | '\u{bb}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        other => other,
    };
    text.chars().map(plain).collect::<String>().replace('\u{2026}', "...")
}

/// Names of characters in HTML; the sign that begins them comes last.
const ENTITIES: [(&str, &str); 8] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&apos;", "'"),
    ("&nbsp;", " "),
    ("&amp;", "&"),
];

fn unescaped(text: &str) -> String {
    ENTITIES.iter().fold(text.to_owned(), |text, (name, char)| text.replace(name, char))
}

/// Characters of Windows-1252 from 0x80 on that Latin-1 has elsewhere.
const WINDOWS: [(char, u8); 27] = [
    ('€', 0x80),
    ('‚', 0x82),
    ('ƒ', 0x83),
    ('„', 0x84),
    ('…', 0x85),
    ('†', 0x86),
    ('‡', 0x87),
    ('ˆ', 0x88),
    ('‰', 0x89),
    ('Š', 0x8a),
    ('‹', 0x8b),
    ('Œ', 0x8c),
    ('Ž', 0x8e),
    ('‘', 0x91),
    ('’', 0x92),
    ('“', 0x93),
    ('”', 0x94),
    ('•', 0x95),
    ('–', 0x96),
    ('—', 0x97),
    ('˜', 0x98),
    ('™', 0x99),
    ('š', 0x9a),
    ('›', 0x9b),
    ('œ', 0x9c),
    ('ž', 0x9e),
    ('Ÿ', 0x9f),
];

/// UTF-8 that was read as Windows-1252, as it was written.
fn decoded(text: &str) -> String {
    let byte = |char: char| {
        let own = WINDOWS.iter().find(|(own, _)| *own == char).map(|(_, byte)| *byte);
        own.or_else(|| u8::try_from(u32::from(char)).ok())
    };
    let bytes: Option<Vec<u8>> = text.chars().map(byte).collect();
    let read = bytes.filter(|_| !text.is_ascii()).and_then(|bytes| String::from_utf8(bytes).ok());
    read.unwrap_or_else(|| text.to_owned())
}

fn unquoted(text: &str) -> String {
    let trimmed = text.trim();
    let inner = ['"', '\'', '`']
        .into_iter()
        .find_map(|quote| trimmed.strip_prefix(quote)?.strip_suffix(quote));
    inner.map_or_else(|| text.to_owned(), str::to_owned)
}

fn unstopped(text: &str) -> String {
    let trimmed = text.trim_end();
    let inner = trimmed.strip_suffix('.').filter(|rest| !rest.is_empty() && !rest.ends_with('.'));
    inner.unwrap_or(text).to_owned()
}

/// A text without `A) `, `A. ` or `(A) ` before it.
fn unlettered(text: &str) -> String {
    let rest = text.trim().trim_start_matches('(');
    let mut chars = rest.chars();
    let is_letter = chars.next().is_some_and(|char| char.is_ascii_uppercase());
    let is_mark = chars.next().is_some_and(|char| ".):".contains(char));
    let behind = chars.as_str();
    let answer = behind.trim_start();
    let is_lettered = is_letter && is_mark && answer.len() < behind.len() && !answer.is_empty();
    if is_lettered { answer.to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_written_in_the_characters_of_a_keyboard() {
        for (how, text, new) in [
            (seen as fn(&str) -> String, "4\u{200b}2", "42"),
            (blanks, "New\u{a0}York\n", "New York\n"),
            (signs, "don\u{2019}t \u{2013} stop", "don't - stop"),
            (unescaped, "a &amp;lt; b", "a &lt; b"),
            (decoded, "CafÃ©", "Café"),
            (decoded, "Itâ€™s", "It’s"),
            (decoded, "Café", "Café"),
            (unquoted, " \"Paris\"", "Paris"),
            (unquoted, "5\"", "5\""),
            (unstopped, "Paris.", "Paris"),
            (unstopped, "etc...", "etc..."),
            (unlettered, "B) Paris", "Paris"),
            (unlettered, "(B) Paris", "Paris"),
            (unlettered, "U.S. dollar", "U.S. dollar"),
        ] {
            assert_eq!(how(text), new, "{text}");
        }
        assert_eq!(respelt(&json!(["a.", 1]), unstopped), Some(json!(["a", 1])));
        assert_eq!(respelt(&json!("a"), unstopped), None);
        assert_eq!(flattened(&json!([["a"], ["b", "c"]])), Some(json!(["a", "b", "c"])));
        assert_eq!(flattened(&json!(["a"])), None);
        assert_eq!(numbered(&json!({"a": ["1.5", "x"]})), json!({"a": [1.5, "x"]}));
        assert_eq!(lowered(&json!({"A": {"B": "C"}})), json!({"a": {"b": "C"}}));
        assert_eq!(shared(&json!({"a": 1, "b": 2}), &json!({"a": 3})), json!({"a": 1}));
    }
}
