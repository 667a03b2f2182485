//! Patterns as Perl, Python and JavaScript have them: how they are written here, and what to do without what they
//! have beside.

/// Escapes of others, and what stands for them outside of a class and within one.
const ESCAPES: [(char, &str, &str); 7] = [
    ('Z', r"\z", ""),
    ('h', r"[ \t]", r" \t"),
    ('H', r"[^ \t]", ""),
    ('R', r"(?:\r\n|[\r\n])", r"\r\n"),
    ('N', r"[^\n]", ""),
    ('e', r"\x1b", r"\x1b"),
    ('G', "", ""),
];
/// Groups of others, and what stands for them.
const GROUPS: [(&str, &str); 3] = [("(?>", "(?:"), ("(?|", "(?:"), ("(?P>", "(?P>")];

/// A pattern, from left to right.
struct Scanner<'a> {
    rest: &'a str,
    out: String,
    is_class: bool,
    /// The last piece is an escape that stands for several characters.
    is_set: bool,
}

/// The pattern as it is written here, where that is known; else as it is.
pub(super) fn translated(pattern: &str) -> String {
    let mut scanner = Scanner { rest: pattern, out: String::new(), is_class: false, is_set: false };
    while let Some(char) = scanner.rest.chars().next() {
        let was_set = std::mem::take(&mut scanner.is_set);
        if char == '\\' {
            scanner.escape();
        } else if scanner.is_class {
            scanner.in_class(char, was_set);
        } else {
            scanner.outside(char);
        }
    }
    scanner.out
}

impl<'a> Scanner<'a> {
    /// Takes so many bytes.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn push(&mut self, bytes: usize) {
        let taken = self.take(bytes);
        self.out.push_str(taken);
    }

    fn escape(&mut self) {
        if let Some(quoted) = self.rest.strip_prefix(r"\Q") {
            let (literal, behind) = quoted.split_once(r"\E").unwrap_or((quoted, ""));
            for char in literal.chars() {
                self.out.extend(char.is_ascii_punctuation().then_some('\\'));
                self.out.push(char);
            }
            self.rest = behind;
            return;
        }
        let Some(next) = self.rest.chars().nth(1) else { return self.push(1) };
        if let Some((_, outside, within)) = ESCAPES.iter().find(|(char, ..)| *char == next) {
            self.out.push_str(if self.is_class { within } else { outside });
            self.take(1 + next.len_utf8());
            return;
        }
        self.is_set = "dDwWsSpP".contains(next);
        self.push(1 + next.len_utf8());
        // `\p{Han}` and `\x{41}` have braces of their own.
        if "pPxu".contains(next)
            && self.rest.starts_with('{')
            && let Some(end) = self.rest.find('}')
        {
            self.push(end + 1);
        }
    }

    fn in_class(&mut self, char: char, was_set: bool) {
        match char {
            ']' => self.is_class = false,
            '[' if !self.rest.starts_with("[:") => self.out.push('\\'),
            // A range begins with one character.
            '-' if was_set && !self.rest.starts_with("-]") => self.out.push('\\'),
            _ => {}
        }
        let is_named = char == '[' && self.rest.starts_with("[:");
        let end = self.rest.find(":]").filter(|_| is_named);
        self.push(end.map_or(char.len_utf8(), |end| end + 2));
    }

    fn outside(&mut self, char: char) {
        if self.rest.starts_with("(?#") {
            let end = self.rest.find(')').map_or(self.rest.len(), |end| end + 1);
            self.take(end);
            return;
        }
        if let Some((other, own)) = GROUPS.iter().find(|(other, _)| self.rest.starts_with(other)) {
            self.out.push_str(own);
            self.take(other.len());
            return;
        }
        match char {
            '[' => {
                self.is_class = true;
                // The first bracket within a class stands for itself.
                let first =
                    ["[^]", "[]", "[^", "["].into_iter().find(|own| self.rest.starts_with(own));
                self.push(first.map_or(1, str::len));
            }
            '{' => self.brace(),
            '}' => {
                self.out.push_str(r"\}");
                self.take(1);
            }
            _ => self.push(char.len_utf8()),
        }
    }

    /// A quantifier, or a brace that stands for itself.
    fn brace(&mut self) {
        let inner =
            self.rest.get(1..).and_then(|rest| rest.split_once('}')).map(|(inner, _)| inner);
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let quantifier =
            inner.filter(|_| !self.out.is_empty()).and_then(|inner| match inner.split_once(',') {
                Some(("", most)) if is_number(most) => Some(format!("{{0,{most}}}")),
                Some((least, most)) if is_number(least) && (most.is_empty() || is_number(most)) => {
                    Some(format!("{{{inner}}}"))
                }
                None if is_number(inner) => Some(format!("{{{inner}}}")),
                _ => None,
            });
        if let (Some(quantifier), Some(inner)) = (quantifier, inner) {
            self.out.push_str(&quantifier);
            self.take(inner.len() + 2);
        } else {
            self.out.push_str(r"\{");
            self.take(1);
        }
    }
}

/// What to do where a pattern has what is not there: look-around, what repeats a group, recursion.
pub(super) fn unsupported(pattern: &str) -> Option<String> {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    for lead in ["(?!", "(?<!"] {
        if let Some((_, inner, _)) = group(pattern, lead) {
            return Some(format!(
                "what must not be there is a reward of its own: config = {{ pattern = {}, negate = true }}; how = \
                 \"min\" in [combine] pays where all rewards do",
                quoted(inner)
            ));
        }
    }
    for lead in ["(?=", "(?<="] {
        let Some((before, inner, behind)) = group(pattern, lead) else { continue };
        let begins = before.trim_start_matches(['^', '(', '?', 's', 'i', 'm', ')']).is_empty();
        return Some(if lead == "(?=" && begins && !behind.is_empty() {
            let inner = inner.strip_prefix(".*").unwrap_or(inner);
            format!(
                "what must be there too is a reward of its own: pattern = {} in one and {} in another; how = \
                 \"min\" in [combine] pays where all rewards do",
                quoted(inner),
                quoted(&format!("{before}{behind}"))
            )
        } else {
            let whole = match lead {
                "(?=" => format!("({before}){inner}{behind}"),
                _ => format!("{before}{inner}({behind})"),
            };
            format!(
                "write what stands beside it, and compare a group: pattern = {}, group = \"1\"",
                quoted(&whole)
            )
        });
    }
    if let Some((before, behind)) = pattern.split_once(r"\K") {
        let whole = quoted(&format!("{before}({behind})"));
        return Some(format!("compare a group: pattern = {whole}, group = \"1\""));
    }
    let digits = ('1'..='9').map(|digit| format!("\\{digit}"));
    let repeats = digits.chain(["(?P=", r"\k<", r"\k{", r"\g"].map(str::to_owned));
    if repeats.into_iter().any(|words| pattern.contains(&words)) {
        let help = "nothing repeats what a group found: write out what it may be, as in <a>.*?</a>|<b>.*?</b>; \
                    what must not match is a reward of its own, with negate = true";
        return Some(help.to_owned());
    }
    let recursion = ["(?R)", "(?0)", "(?1)", "(?&", "(?P>"];
    recursion.into_iter().any(|words| pattern.contains(words)).then(|| {
        "a pattern has no recursion: verifier = \"json\" reads nested text, and `python_check` counts brackets"
            .to_owned()
    })
}

/// What to write for a group that a pattern has not.
pub(super) fn known_groups(pattern: &str) -> String {
    let (mut by_name, mut count) = (Vec::new(), 0);
    let bare = pattern.replace(r"\\", "  ").replace(r"\(", "  ");
    for (at, _) in bare.match_indices('(') {
        let behind = bare.get(at + 1..).unwrap_or_default();
        let named = ["?P<", "?<"].into_iter().find_map(|lead| behind.strip_prefix(lead));
        if let Some((name, _)) = named.and_then(|rest| rest.split_once('>')) {
            by_name.push(format!("group = \"{name}\""));
        } else if behind.starts_with('?') {
            continue;
        }
        count += 1;
    }
    let all: Vec<String> = (1..=count).map(|at| format!("group = \"{at}\"")).collect();
    match (by_name.is_empty(), count) {
        (_, 0) => "put what is compared into brackets, as in 'is (\\d+)', and write group = \"1\""
            .to_owned(),
        (true, _) => format!("write {}", all.join(", or ")),
        (false, _) => format!("write {}", by_name.join(", or ")),
    }
}

/// What stands before a group that begins so, within it and behind it.
fn group<'a>(pattern: &'a str, lead: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let (before, rest) = pattern.split_once(lead)?;
    let (mut depth, mut is_escaped) = (1_usize, false);
    for (at, char) in rest.char_indices() {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((before, rest.get(..at)?, rest.get(at + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_written_as_here() {
        for (other, own) in [
            (r"\d+\Z", r"\d+\z"),
            (r"a\h+[\h,]", r"a[ \t]+[ \t,]"),
            (r"\d{,3}", r"\d{0,3}"),
            (r"\d{2,}x{3}", r"\d{2,}x{3}"),
            (r"\{think\} {think}", r"\{think\} \{think\}"),
            (r"\boxed{x}", r"\boxed\{x\}"),
            (r"(?>a|b)(?#why)", r"(?:a|b)"),
            (r"[\d-x][\d-]", r"[\d\-x][\d-]"),
            (r"[[(]", r"[\[(]"),
            (r"[[:alpha:]_][^]]", r"[[:alpha:]_][^]]"),
            (r"\Qa.b\E+", r"a\.b+"),
            (r"\p{Han}{2}", r"\p{Han}{2}"),
            ("{3}é", r"\{3\}é"),
        ] {
            assert_eq!(translated(other), own, "{other}");
        }
    }

    #[test]
    fn what_is_not_there_is_written_in_another_way() {
        for (pattern, told) in [
            ("(?!sorry).*", "pattern = \"sorry\", negate = true"),
            ("(?<!x)y", "pattern = \"x\", negate = true"),
            ("^(?=.*a)b+", "pattern = \"a\" in one and \"^b+\" in another"),
            ("a(?=b)", "pattern = \"(a)b\", group = \"1\""),
            ("(?<=is )3", "pattern = \"is (3)\", group = \"1\""),
            (r"x\Ky", "pattern = \"x(y)\""),
            (r"(a)\1", "write out what it may be"),
            ("(?R)", "no recursion"),
        ] {
            let help = unsupported(pattern).unwrap_or_default();
            assert!(help.contains(told), "{pattern}: {help}");
        }
        assert_eq!(unsupported(r"a+\d"), None);
    }

    #[test]
    fn groups_are_named() {
        for (pattern, told) in [
            (r"\(is\) (\d+)", "write group = \"1\""),
            ("(?P<a>x)(?:y)", "write group = \"a\""),
            ("(a)(b)", "write group = \"1\", or group = \"2\""),
        ] {
            assert_eq!(known_groups(pattern), told, "{pattern}");
        }
        assert!(known_groups("x").contains("into brackets"));
    }
}
