//! A JSON list, cut into its elements as its bytes come.

/// Writes the elements of a list a line each. What follows the list is passed on as it is.
#[derive(Default)]
pub(super) struct Elements {
    depth: usize,
    text: Text,
    /// Something of the element was seen.
    begun: bool,
    /// An element came before.
    several: bool,
    ended: bool,
}

/// Where in a text a byte stands.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Text {
    #[default]
    Outside,
    Inside,
    Escaped,
}

impl Elements {
    /// Whether the list has no end yet.
    pub(super) fn is_open(&self) -> bool {
        !self.ended
    }

    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for byte in bytes.iter().copied() {
            match byte {
                _ if self.ended => out.push(byte),
                _ if self.text != Text::Outside => self.of_text(byte, out),
                b'\n' => out.push(b' '),
                b'[' | b'{' => {
                    if self.depth > 0 {
                        self.begun = true;
                        out.push(byte);
                    }
                    self.depth += 1;
                }
                b']' | b'}' if self.depth > 1 => {
                    self.depth -= 1;
                    out.push(byte);
                }
                b']' | b'}' => {
                    // A comma before the end, or a bracket of the other kind, is a row that nobody
                    // can read.
                    if byte == b'}' || (self.several && !self.begun) {
                        out.push(b',');
                    }
                    out.push(b'\n');
                    self.ended = true;
                }
                b',' if self.depth == 1 => {
                    if !self.begun {
                        out.push(b',');
                    }
                    out.push(b'\n');
                    (self.begun, self.several) = (false, true);
                }
                _ => {
                    if byte == b'"' {
                        self.text = Text::Inside;
                    }
                    self.begun |= !byte.is_ascii_whitespace();
                    out.push(byte);
                }
            }
        }
    }

    fn of_text(&mut self, byte: u8, out: &mut Vec<u8>) {
        // A line break in a text is not JSON; it must not become the end of a row.
        out.push(if byte == b'\n' { b'\r' } else { byte });
        self.text = match (self.text, byte) {
            (Text::Inside, b'\\') => Text::Escaped,
            (Text::Inside, b'"') => Text::Outside,
            _ => Text::Inside,
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn cut(text: &str, step: usize) -> (String, bool) {
        let (mut elements, mut out) = (Elements::default(), Vec::new());
        for bytes in text.as_bytes().chunks(step) {
            elements.push(bytes, &mut out);
        }
        (String::from_utf8(out).unwrap(), elements.is_open())
    }

    #[test]
    fn an_element_is_a_line() {
        let list = "[\n {\"a\": [1, {\"b\": \"],\\\"[\"}]},\n {\"c\": 2}\n]\n";
        let (lines, open) = cut(list, 1);
        let read: Vec<Value> =
            lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let expected: Value = serde_json::from_str(list).unwrap();
        assert_eq!((Value::Array(read), open), (expected, false));
        assert_eq!(cut("[]", 9).0.trim(), "");
    }

    #[test]
    fn what_is_no_list_has_a_row_that_cannot_be_read() {
        for (list, unread) in [("[{},]", ","), ("[,{}]", ","), ("[{},,{}]", ","), ("[{}}", "{},")] {
            let lines = cut(list, 3).0;
            assert!(lines.lines().any(|line| line == unread), "{list}: {lines}");
        }
        assert!(cut("[{},{\"a\"", 3).1);
    }

    proptest! {
        #[test]
        fn the_pieces_make_no_difference(text in r#"\[[\[\]{}:," 0-9a\\\n]{0,40}"#, step in 1_usize..9) {
            prop_assert_eq!(cut(&text, step), cut(&text, 1000));
        }
    }
}
