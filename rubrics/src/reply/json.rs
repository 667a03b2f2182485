//! The objects of a text, wherever they are: JSON, and what judges write instead of it.
//!
//! Read are also single and typographic quotation marks, keys and words without any, line ends and
//! quotation marks within a string that are not escaped, and commas too many. Members keep their order,
//! and a key that is written twice is there twice.

use std::ops::Range;

/// The most objects of a text that are looked at.
const OBJECTS_MAX: usize = 1_000;
/// How often each byte of a text is looked at on average, at most.
const PASSES_MAX: usize = 100;
/// The deepest nesting that is followed.
const DEPTH_MAX: usize = 64;
/// The longest key that ends a string before it, in bytes.
const KEY_MAX: usize = 256;

/// An object, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoundObject {
    pub(super) span: Range<usize>,
    pub(super) members: Vec<Member>,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) value: Node,
    /// Where the value begins in the text, after a quotation mark.
    pub(super) at: usize,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// What stands without quotation marks: a number, `true`, `None`, a word.
    Word(String),
    Text(String),
    List(Vec<Node>),
    Object(Vec<Member>),
}

impl Node {
    /// The number that it is.
    pub(super) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Word(word) => word.parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }

    /// The text that it is.
    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The outermost objects of a text, in order.
pub(super) fn objects(text: &str) -> Vec<FoundObject> {
    let mut found = Vec::new();
    let (mut from, mut work) = (0, text.len().saturating_mul(PASSES_MAX));
    while found.len() < OBJECTS_MAX {
        let Some(start) = text.get(from..).and_then(|rest| rest.find('{')).map(|at| from + at)
        else {
            break;
        };
        let mut reader = Reader { text, at: start, work };
        let members = reader.object(0);
        work = reader.work;
        match members {
            Ok(members) => {
                from = reader.at;
                found.push(FoundObject { span: start..from, members });
            }
            Err(_) if work == 0 => break,
            Err(_) => from = start + 1,
        }
    }
    found
}

/// Where an object begins that does not end: the reply was cut within it.
pub(super) fn cut_object(text: &str, found: &[FoundObject]) -> Option<usize> {
    let from = found.last().map_or(0, |object| object.span.end);
    let rest = text.get(from..)?;
    let begins = |(at, _): &(usize, &str)| {
        let behind = &rest[at + 1..];
        behind.trim_start().starts_with('"')
    };
    let (start, _) = rest.match_indices('{').find(begins)?;
    let work = rest.len().saturating_mul(PASSES_MAX);
    let read = Reader { text, at: from + start, work }.object(0);
    (read == Err(NoObject::Cut)).then_some(from + start)
}

/// Why no object is read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum NoObject {
    /// The text ends within it.
    Cut,
    Other,
}

/// What a string is.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Key,
    Member,
    Item,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// How many bytes may still be looked at.
    work: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Result<char, NoObject> {
        self.rest().chars().next().ok_or(NoObject::Cut)
    }

    fn spend(&mut self, bytes: usize) -> Result<(), NoObject> {
        let left = self.work.checked_sub(bytes);
        self.work = left.unwrap_or(0);
        left.map(|_| ()).ok_or(NoObject::Other)
    }

    fn advance(&mut self, bytes: usize) -> Result<(), NoObject> {
        self.at += bytes;
        self.spend(bytes)
    }

    /// Goes on behind white space, and behind `also`.
    fn skip(&mut self, also: &[char]) -> Result<char, NoObject> {
        let rest = self.rest();
        let length = rest.len()
            - rest.trim_start_matches(|c: char| c.is_whitespace() || also.contains(&c)).len();
        self.advance(length)?;
        self.peek()
    }

    /// The object at this place.
    fn object(&mut self, depth: usize) -> Result<Vec<Member>, NoObject> {
        self.advance(1)?;
        let mut members = Vec::new();
        loop {
            let first = self.skip(&[','])?;
            if first == '}' {
                self.advance(1)?;
                return Ok(members);
            }
            let key = if closing(first).is_some() { self.string(Role::Key)? } else { self.name()? };
            if self.skip(&[])? != ':' {
                return Err(NoObject::Other);
            }
            self.advance(1)?;
            let first = self.skip(&[])?;
            let at = self.at + if closing(first).is_some() { first.len_utf8() } else { 0 };
            let value = self.value(Role::Member, depth)?;
            members.push(Member { key, value, at });
        }
    }

    fn value(&mut self, role: Role, depth: usize) -> Result<Node, NoObject> {
        match self.peek()? {
            '{' | '[' if depth == DEPTH_MAX => Err(NoObject::Other),
            '{' => self.object(depth + 1).map(Node::Object),
            '[' => self.list(depth + 1),
            first if closing(first).is_some() => self.string(role).map(Node::Text),
            _ => self.word(),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Node, NoObject> {
        self.advance(1)?;
        let mut items = Vec::new();
        loop {
            if self.skip(&[','])? == ']' {
                self.advance(1)?;
                return Ok(Node::List(items));
            }
            items.push(self.value(Role::Item, depth)?);
        }
    }

    /// A key without quotation marks.
    fn name(&mut self) -> Result<String, NoObject> {
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let length = rest.find(|c: char| !is_part(c)).ok_or(NoObject::Cut)?;
        let name = rest.get(..length).filter(|name| !name.is_empty()).ok_or(NoObject::Other)?;
        let name = name.to_owned();
        self.advance(length)?;
        Ok(name)
    }

    /// Words without quotation marks, up to what ends a member.
    fn word(&mut self) -> Result<Node, NoObject> {
        let rest = self.rest();
        let length = rest.find([',', '}', ']', '\n', '{', '[', '"']).ok_or(NoObject::Cut)?;
        let word = rest[..length].trim().to_owned();
        self.advance(length)?;
        let ends = !self.rest().starts_with(['{', '[', '"']);
        if word.is_empty() || !ends { Err(NoObject::Other) } else { Ok(Node::Word(word)) }
    }

    /// A string, up to a quotation mark after which the object goes on.
    fn string(&mut self, role: Role) -> Result<String, NoObject> {
        let open = self.peek()?;
        let close = closing(open).ok_or(NoObject::Other)?;
        self.advance(open.len_utf8())?;
        let mut out = String::new();
        loop {
            let c = self.peek()?;
            self.advance(c.len_utf8())?;
            match c {
                '\\' => {
                    let escape = self.peek()?;
                    self.advance(escape.len_utf8())?;
                    out.extend(self.escaped(escape));
                }
                c if c == close && self.ends(role)? => return Ok(out),
                c if c.is_control() && !matches!(c, '\n' | '\t') => {}
                c => out.push(c),
            }
        }
    }

    fn escaped(&mut self, escape: char) -> Option<char> {
        match escape {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' | 'b' | 'f' => None,
            'u' => {
                let mut digits = || {
                    let digits = self.text.get(self.at..self.at + 4)?;
                    let code = u16::from_str_radix(digits, 16).ok()?;
                    self.at += 4;
                    Some(code)
                };
                let first = digits()?;
                if let Some(c) = char::from_u32(u32::from(first)) {
                    return Some(c);
                }
                self.text.get(self.at..)?.starts_with("\\u").then_some(())?;
                self.at += 2;
                let digits = self.text.get(self.at..self.at + 4)?;
                let second = u16::from_str_radix(digits, 16).ok()?;
                self.at += 4;
                char::decode_utf16([first, second]).next()?.ok()
            }
            other => Some(other),
        }
    }

    /// Whether the object goes on at this place, so that the quotation mark before it ends a string.
    fn ends(&mut self, role: Role) -> Result<bool, NoObject> {
        let rest = self.rest();
        let behind = rest.trim_start();
        let has_line_end = rest.len() > behind.len()
            && rest.get(..rest.len() - behind.len()).is_some_and(|space| space.contains('\n'));
        let space = rest.len() - behind.len();
        let after_comma = behind.strip_prefix(',');
        let (ends, looked) = match (role, behind.chars().next()) {
            (_, None) => (false, 0),
            (Role::Key, Some(next)) => (next == ':', 1),
            (Role::Item, Some(next)) => (matches!(next, ',' | ']'), 1),
            (Role::Member, Some('}')) => (true, 1),
            (Role::Member, _) if after_comma.is_some() || has_line_end => {
                (begins_member(after_comma.unwrap_or(behind)), KEY_MAX)
            }
            (Role::Member, _) => (false, 1),
        };
        self.spend(space + looked.min(behind.len()))?;
        Ok(ends)
    }
}

/// Whether a text begins with a key and a colon, or with the end of an object.
fn begins_member(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches(',').trim_start();
    let near = &text[..text.floor_char_boundary(KEY_MAX)];
    let is_colon = |rest: &str| rest.trim_start().starts_with(':');
    let Some(first) = near.chars().next() else { return false };
    if let Some(close) = closing(first) {
        let inner = &near[first.len_utf8()..];
        let mut ends = inner.match_indices(close);
        return ends.any(|(at, _)| is_colon(&inner[at + close.len_utf8()..]));
    }
    let name = near.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    first == '}' || (name.len() < near.len() && is_colon(name))
}

/// The quotation mark that closes this one.
fn closing(open: char) -> Option<char> {
    match open {
        '"' | '\'' => Some(open),
        '“' => Some('”'),
        '‘' => Some('’'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(node: &Node) -> String {
        match node {
            Node::Word(word) => word.clone(),
            Node::Text(text) => format!("{text:?}"),
            Node::List(items) => {
                format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(","))
            }
            Node::Object(members) => {
                let one = |member: &Member| format!("{}:{}", member.key, shown(&member.value));
                format!("{{{}}}", members.iter().map(one).collect::<Vec<_>>().join(","))
            }
        }
    }

    fn values(text: &str) -> Vec<String> {
        objects(text).into_iter().map(|object| shown(&Node::Object(object.members))).collect()
    }

    #[test]
    fn objects_stand_in_fences_and_prose() {
        assert_eq!(
            values("So:\n```json\n{\"a\": 1}\n```\nor {\"a\": {\"b\": \"}\"}} end"),
            ["{a:1}", "{a:{b:\"}\"}}"]
        );
        assert_eq!(values("{ {\"a\": 1}"), ["{a:1}"]);
        assert_eq!(values("{\"a\": \"x\ny\", \"b\": [1, 2, ], }"), ["{a:\"x\\ny\",b:[1,2]}"]);
        assert!(values("{\"a\": 1").is_empty() && values("no {such} thing").is_empty());
    }

    #[test]
    fn objects_as_judges_write_them() {
        for (text, expected) in [
            (
                r"{'a': 'It doesn't, and it isn't', 'b': True}",
                r#"{a:"It doesn't, and it isn't",b:True}"#,
            ),
            (r#"{"a": "says "yes", and "no"", "b": 1}"#, r#"{a:"says \"yes\", and \"no\"",b:1}"#),
            (r#"{"a": "x\"y\\", "b": "\u00e9\ud83d\ude00"}"#, r#"{a:"x\"y\\",b:"é😀"}"#),
            ("{a: yes, \"b\": true or false}", "{a:yes,b:true or false}"),
            ("{“a”: “x”, \"b\": 1}", "{a:\"x\",b:1}"),
            ("{\"a\": \"x\"\n \"b\": 1}", "{a:\"x\",b:1}"),
            (r#"{"a": 1, "a": 2}"#, "{a:1,a:2}"),
            (r#"{"a": ["x", "y"], "b": []}"#, r#"{a:["x","y"],b:[]}"#),
        ] {
            assert_eq!(values(text), [expected], "{text}");
        }
    }

    #[test]
    fn an_object_that_does_not_end_is_told() {
        let cut = |text: &str| cut_object(text, &objects(text));
        assert_eq!(cut(r#"So {"a": 1} {"b": "it is "#), Some(12));
        assert_eq!(cut("{\n  \"a\": {\"b\": 1}"), None, "an object within it is whole");
        assert_eq!(cut(r#"{"a": 1} and {x, "y"#), None);
    }

    #[test]
    fn hostile_texts_take_bounded_work() {
        let deep = "{\"a\":".repeat(50_000);
        assert!(values(&deep).is_empty());
        assert_eq!(values(&"{}".repeat(5_000)).len(), OBJECTS_MAX);
        assert!(values(&r#"{"x\""#.repeat(20_000)).is_empty(), "each of them lasts to the end");
        assert!(values(&r#"{"x":"",","#.repeat(20_000)).is_empty(), "each looks far ahead");
    }
}
