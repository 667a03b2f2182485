//! Bounds on a TOML text before it is parsed: its tables and values take hundreds of times their bytes.

/// The most tables that headers and dotted keys may make.
const TABLES_MAX: usize = 10_000;
/// The most values, lists and inline tables.
const VALUES_MAX: usize = 100_000;

/// What there is too much of in a text. Lines within a string count as tables where they look like one.
pub fn excess(text: &str) -> Option<String> {
    if tables(text) > TABLES_MAX {
        return Some(format!("more than {TABLES_MAX} tables"));
    }
    (values(text.as_bytes()) > VALUES_MAX).then(|| format!("more than {VALUES_MAX} values"))
}

/// How many signs outside of strings and comments may start a value.
fn values(mut text: &[u8]) -> usize {
    let mut count = 0;
    while let Some((&sign, rest)) = text.split_first() {
        let end: &[u8] = match sign {
            b'"' if rest.starts_with(b"\"\"") => b"\"\"\"",
            b'\'' if rest.starts_with(b"\'\'") => b"\'\'\'",
            b'"' => b"\"",
            b'\'' => b"\'",
            b'#' => b"\n",
            _ => {
                count += usize::from(matches!(sign, b'=' | b'[' | b'{'));
                text = rest;
                continue;
            }
        };
        text = behind(rest.split_at(end.len() - 1).1, end, sign == b'"');
    }
    count
}

/// What comes after the `end` of a string or a comment; of one line that has no end, the next line.
fn behind<'t>(text: &'t [u8], end: &[u8], has_escapes: bool) -> &'t [u8] {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(behind) = rest.strip_prefix(end) {
            return behind;
        }
        if end.len() == 1 && rest.starts_with(b"\n") {
            return rest;
        }
        at += if has_escapes && rest.starts_with(b"\\") { 2 } else { 1 };
    }
    &[]
}

fn tables(text: &str) -> usize {
    let of = |line: &str| match line.trim_start() {
        header if header.starts_with('[') => 1 + header.matches('.').count(),
        line => line.split_once('=').map_or(0, |(key, _)| key.matches('.').count()),
    };
    text.lines().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_much_memory_is_counted() {
        assert_eq!(excess(&"a = 1\n".repeat(10_000)), None);
        assert_eq!(excess(&"[[a]]\n".repeat(10_000)), None);
        for tables in
            ["[[a]]\n".repeat(10_001), "[a.b.c]\n".repeat(4000), "a.b.c.d = 1\n".repeat(4000)]
        {
            assert_eq!(excess(&tables).unwrap(), "more than 10000 tables");
        }
        for values in
            ["a=[]\n".repeat(60_000), format!("a=[{}]", "[],".repeat(100_000)), "{".repeat(100_001)]
        {
            assert_eq!(excess(&values).unwrap(), "more than 100000 values");
        }
    }

    #[test]
    fn strings_and_comments_hold_no_values() {
        let many = "{[=".repeat(50_000);
        for quoted in [
            format!("a = \"{many}\""),
            format!("a = \"\\\"{many}\""),
            format!("a = '{many}'"),
            format!("a = \"\"\"\n\"{many}\"\\\"\"\"\"\n"),
            format!("a = \'\'\'\n\\{many}\n\'\'\'"),
            format!("# \"{many}"),
        ] {
            assert_eq!(excess(&quoted), None, "{}", quoted.len());
            assert!(excess(&format!("{quoted}\nb = {many}")).is_some());
        }
        // A string that ends nowhere hides its line alone.
        assert!(excess(&format!("a = \"b\nc = {many}")).is_some());
        assert_eq!(excess("a = \"\"\"{"), None);
    }
}
