//! The tokens of a query: words, literals and comments.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A bare word: a keyword or a name.
    Word,
    /// A name in double quotes, backticks or brackets.
    Name,
    /// A literal in single quotes.
    Text,
    /// A number.
    Number,
    /// A character of punctuation.
    Mark,
}

/// One token, comments and blanks left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// The byte at which it starts.
    pub(super) at: usize,
}

impl Token<'_> {
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }
}

/// The tokens of `sql`. A literal or comment that never ends goes to the end of the text.
pub(super) fn tokens(sql: &str) -> impl Iterator<Item = Token<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = sql.get(at..)?;
            let first = rest.chars().next()?;
            let (kind, length) = scan(rest, first);
            let token = Token { kind: kind.unwrap_or(Kind::Mark), text: rest.get(..length)?, at };
            at += length;
            if kind.is_some() {
                return Some(token);
            }
        }
    })
}

/// The kind and length of what `rest` starts with; no kind for blanks and comments.
fn scan(rest: &str, first: char) -> (Option<Kind>, usize) {
    let length = |end: Option<usize>| end.unwrap_or(rest.len());
    match first {
        _ if first.is_whitespace() => (None, first.len_utf8()),
        '-' if rest.starts_with("--") => (None, length(rest.find('\n'))),
        '/' if rest.starts_with("/*") => {
            (None, length(rest.get(2..).and_then(|body| body.find("*/")).map(|end| end + 4)))
        }
        '\'' => (Some(Kind::Text), quoted(rest, '\'')),
        '"' | '`' => (Some(Kind::Name), quoted(rest, first)),
        '[' => (Some(Kind::Name), length(rest.find(']').map(|end| end + 1))),
        _ if first.is_ascii_digit() => (Some(Kind::Number), number(rest)),
        _ if is_word(first) => (Some(Kind::Word), length(rest.find(|c| !is_word(c)))),
        _ => (Some(Kind::Mark), first.len_utf8()),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn number(rest: &str) -> usize {
    rest.find(|c: char| !is_word(c) && c != '.').unwrap_or(rest.len())
}

/// The length of a quoted text; a doubled quote inside is an escaped quote.
fn quoted(rest: &str, quote: char) -> usize {
    let mut inside = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = inside.next() {
        if c == quote && inside.next_if(|(_, next)| *next == quote).is_none() {
            return at + c.len_utf8();
        }
    }
    rest.len()
}

/// Whether the rows of the query come in an order that it asks for: an `ORDER BY` outside of all
/// parentheses. One inside a subquery, a window or an aggregate orders nothing that leaves it.
pub(super) fn is_ordered(sql: &str) -> bool {
    let mut depth = 0_i64;
    let mut after_order = false;
    for token in tokens(sql) {
        match token.text {
            "(" if token.kind == Kind::Mark => depth += 1,
            ")" if token.kind == Kind::Mark => depth -= 1,
            _ if after_order && depth == 0 && token.is("by") => return true,
            _ => {}
        }
        after_order = token.is("order");
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(sql: &str) -> Vec<&str> {
        tokens(sql).map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_blanks_are_no_tokens() {
        let sql = "-- a\nSELECT /* b */ 'it''s' , \"c d\",[e]*1.5e3<=$x -- ;";
        assert_eq!(
            texts(sql),
            ["SELECT", "'it''s'", ",", "\"c d\"", ",", "[e]", "*", "1.5e3", "<", "=", "$x"]
        );
    }

    #[test]
    fn only_the_order_of_the_whole_query_counts() {
        assert!(is_ordered("select 1 order\n by 1"));
        assert!(is_ordered("with t as (select 1) select * from t ORDER /* x */ BY 1 limit 1"));
        assert!(!is_ordered("with t as (select 1 order by 1) select * from t"));
        assert!(!is_ordered("select row_number() over (order by a) from t"));
        assert!(!is_ordered("select 'order by 1' from t -- order by 1"));
        assert!(!is_ordered("select \"order\" by"));
    }

    proptest! {
        #[test]
        fn tokens_never_panic_and_follow_each_other(
            sql in r#"(?s).{0,30}|([a-z' "`\[\]()/*;-]|--|é|''){0,40}"#,
        ) {
            let mut end = 0;
            for token in tokens(&sql) {
                prop_assert!(token.at >= end);
                prop_assert_eq!(&sql[token.at..token.at + token.text.len()], token.text);
                end = token.at + token.text.len();
            }
        }
    }
}
