//! Whether Python's `json.loads` reads a text: JSON, with `NaN` and infinities on request.

/// What may come next in a JSON text.
#[derive(Clone, Copy, PartialEq)]
enum Due {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

/// Whether a text is one JSON value. The cost is linear.
pub(crate) fn is_json(text: &str, infinities: bool) -> bool {
    let mut rest = text;
    let mut open = Vec::new();
    let mut due = Due::Value;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        if due == Due::CommaOrEnd && open.is_empty() {
            return rest.is_empty();
        }
        let Some(first) = rest.chars().next() else { return false };
        let tail = &rest[first.len_utf8()..];
        let ends = matches!(due, Due::ValueOrEnd | Due::KeyOrEnd | Due::CommaOrEnd);
        (due, rest) = match (due, first) {
            (_, ']' | '}') if ends && open.last() == Some(&first) => {
                open.pop();
                (Due::CommaOrEnd, tail)
            }
            (Due::Value | Due::ValueOrEnd, '[') => {
                open.push(']');
                (Due::ValueOrEnd, tail)
            }
            (Due::Value | Due::ValueOrEnd, '{') => {
                open.push('}');
                (Due::KeyOrEnd, tail)
            }
            (Due::Value | Due::ValueOrEnd, _) => match scalar(rest, infinities) {
                Some(rest) => (Due::CommaOrEnd, rest),
                None => return false,
            },
            (Due::Key | Due::KeyOrEnd, '"') => match string(tail) {
                Some(rest) => (Due::Colon, rest),
                None => return false,
            },
            (Due::Colon, ':') => (Due::Value, tail),
            (Due::CommaOrEnd, ',') if open.last() == Some(&']') => (Due::Value, tail),
            (Due::CommaOrEnd, ',') => (Due::Key, tail),
            _ => return false,
        };
    }
}

/// What follows a text, a number or a word.
fn scalar(text: &str, infinities: bool) -> Option<&str> {
    if let Some(tail) = text.strip_prefix('"') {
        return string(tail);
    }
    let words = ["null", "true", "false", "NaN", "Infinity", "-Infinity"];
    let count = if infinities { words.len() } else { 3 };
    words.iter().take(count).find_map(|word| text.strip_prefix(*word)).or_else(|| number(text))
}

fn number(text: &str) -> Option<&str> {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let text = text.strip_prefix('-').unwrap_or(text);
    let mut rest = match digits(text) {
        0 => return None,
        _ if text.starts_with('0') => &text[1..],
        whole => &text[whole..],
    };
    if let Some(tail) = rest.strip_prefix('.').filter(|tail| digits(tail) > 0) {
        rest = &tail[digits(tail)..];
    }
    if let Some(tail) = rest.strip_prefix(['e', 'E']) {
        let tail = tail.strip_prefix(['+', '-']).unwrap_or(tail);
        if digits(tail) > 0 {
            rest = &tail[digits(tail)..];
        }
    }
    Some(rest)
}

/// What follows the text after its opening quote.
fn string(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let at = memchr::memchr2(b'"', b'\\', rest.as_bytes())?;
        if rest[..at].bytes().any(|byte| byte < 0x20) {
            return None;
        }
        let tail = &rest[at + 1..];
        if rest[at..].starts_with('"') {
            return Some(tail);
        }
        let escaped = tail.bytes().next()?;
        let digits = tail.bytes().skip(1).take(4).filter(u8::is_ascii_hexdigit).count();
        rest = match escaped {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => &tail[1..],
            b'u' if digits == 4 => &tail[5..],
            _ => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::is_json;

    #[test]
    fn json_is_what_python_reads() {
        for text in ["{}", "[1, -2.5e+3, \"a\\u00e9\"]", " 0 ", "{\"a\": {\"b\": [null]}}", "NaN"] {
            assert!(is_json(text, true), "{text}");
        }
        for text in
            ["", "[1,]", "{\"a\" 1}", "01", "1.", "[1", "[1}", "{1: 2}", "\"\n\"", "'a'", "[,1]"]
        {
            assert!(!is_json(text, true), "{text}");
        }
        assert!(!is_json("[NaN]", false));
    }
}
