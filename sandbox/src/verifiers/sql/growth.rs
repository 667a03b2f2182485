//! How large `SQLite` may make a query: it puts the columns of a subquery in the place of their names, so
//! that `x + x` over `x + x` doubles at every level. Nothing stops it on the way, so that this is counted before.

use std::collections::BTreeMap;

use super::lex::{Kind, Token, tokens};

/// The most names that a query may have once columns are in the place of theirs, beyond those of its text.
pub(super) const NAMES_MAX: u64 = 1 << 18;

/// The names that a column stands for, by its own name in lower case. One that is not listed stands for
/// itself.
pub(super) type Columns = BTreeMap<String, u64>;

/// A column that a query gives.
#[derive(Default)]
struct Column {
    names: Vec<String>,
    /// The names that subqueries in it stand for.
    within: u64,
    label: Option<String>,
    /// The last of the names may be an alias.
    may_be_alias: bool,
    /// `AS` was read: what follows is its label.
    is_named: bool,
}

/// What is between two brackets, or the whole query.
#[derive(Default)]
struct Scope {
    is_query: bool,
    /// `AS` follows it.
    is_list: bool,
    /// Within the columns that a query gives.
    in_columns: bool,
    column: Column,
    columns: Vec<Column>,
    /// Names after the columns.
    others: Vec<String>,
    /// A list of columns before `AS`, which names those of the query after it.
    list: Vec<String>,
}

/// Counts the names that come to those of the text, for each of some statements, and adds what their columns
/// stand for to `known`. `None`: more than [`NAMES_MAX`].
pub(super) fn names(sql: &str, known: &mut Columns) -> Option<u64> {
    let mut more = 0_u64;
    let mut scopes = vec![Scope::default()];
    let mut before: Option<Token<'_>> = None;
    let mut ahead = tokens(sql).peekable();
    while let Some(token) = ahead.next() {
        let next = ahead.peek();
        let is_outermost = scopes.len() == 1;
        let scope = scopes.last_mut()?;
        match (token.kind, token.text) {
            (Kind::Mark, "(") => scopes.push(Scope::default()),
            (Kind::Mark, ")") if is_outermost => {}
            (Kind::Mark, ")") => {
                let mut inner = scopes.pop()?;
                inner.is_list = next.is_some_and(|next| next.is("as"));
                more = more.saturating_add(inner.close(known, scopes.last_mut()?));
            }
            (Kind::Mark, ";") if is_outermost => {
                std::mem::take(scope).close(known, &mut Scope::default());
                more = 0;
            }
            (Kind::Mark, ",") if scope.in_columns => scope.end_column(),
            (Kind::Word, _) if token.is("select") => {
                scope.end_column();
                (scope.is_query, scope.in_columns) = (true, true);
            }
            (Kind::Word, _) if ENDS.iter().any(|word| token.is(word)) => {
                scope.end_column();
                scope.in_columns = false;
            }
            (Kind::Word, _) if token.is("as") => scope.column.is_named = true,
            (Kind::Word, _) if token.is("distinct") || token.is("all") => {}
            (Kind::Text, _) if !scope.in_columns => {}
            (Kind::Word | Kind::Name | Kind::Text, _) => {
                let leads = next.is_some_and(|next| next.is_mark(".") || next.is_mark("("));
                let follows = |before: Token<'_>| before.kind != Kind::Mark || before.text == ")";
                scope.read(token, leads, before.is_some_and(follows));
            }
            _ => {}
        }
        if more > NAMES_MAX {
            return None;
        }
        before = Some(token);
    }
    while let Some(scope) = scopes.pop() {
        let mut none = Scope::default();
        more = more.saturating_add(scope.close(known, scopes.last_mut().unwrap_or(&mut none)));
    }
    (more <= NAMES_MAX).then_some(more)
}

/// Words after the columns that a query gives.
const ENDS: [&str; 10] = assay_verifiers::words::list(
    "from where group having order limit window union except intersect",
);

impl Scope {
    /// Whether what is read belongs to a column, or to whatever the brackets are in.
    fn is_open(&self) -> bool {
        self.in_columns || !self.is_query
    }

    /// A name, or what leads to one: a table before its column, a function before its arguments.
    fn read(&mut self, token: Token<'_>, leads: bool, follows: bool) {
        let name = token.text.trim_matches(['"', '`', '[', ']', '\'']).to_lowercase();
        if !self.is_open() {
            self.others.push(name);
            return;
        }
        let column = &mut self.column;
        column.label = Some(name.clone());
        if !column.is_named && !leads {
            column.may_be_alias = follows && !column.names.is_empty();
            column.names.push(name);
        }
    }

    fn end_column(&mut self) {
        let mut column = std::mem::take(&mut self.column);
        if self.in_columns {
            if column.may_be_alias && !column.is_named {
                column.names.pop();
            }
            self.columns.push(column);
        }
    }

    /// Counts its names, now that those of its subqueries are known; its columns become known to what is
    /// around it.
    fn close(mut self, known: &mut Columns, around: &mut Self) -> u64 {
        if !self.is_query {
            let Column { names, within, .. } = self.column;
            if self.is_list {
                around.list.clone_from(&names);
            }
            if around.is_open() {
                around.column.names.extend(names);
                around.column.within = around.column.within.saturating_add(within);
                around.column.may_be_alias = false;
            } else {
                around.others.extend(names);
            }
            return 0;
        }
        self.end_column();
        let stands = |name: &String| known.get(name).copied().unwrap_or(1);
        let all = |names: &[String]| names.iter().map(stands).fold(0, u64::saturating_add);
        let (mut more, mut whole, mut most) = (all(&self.others), 0_u64, 1);
        more = more.saturating_sub(self.others.len() as u64);
        let mut labelled = Vec::new();
        for column in self.columns {
            let own = all(&column.names);
            more = more.saturating_add(own.saturating_sub(column.names.len() as u64));
            let own = own.saturating_add(column.within).max(1);
            (whole, most) = (whole.saturating_add(own), own.max(most));
            labelled.extend(column.label.map(|label| (label, own)));
        }
        let listed = self.list.into_iter().chain(around.list.drain(..)).map(|name| (name, most));
        for (name, stands) in labelled.into_iter().chain(listed).filter(|(_, stands)| *stands > 1) {
            let one = known.entry(name).or_insert(1);
            *one = stands.max(*one);
        }
        if around.is_open() {
            around.column.within = around.column.within.saturating_add(whole);
            around.column.may_be_alias = false;
        }
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(sql: &str) -> Option<u64> {
        names(sql, &mut Columns::new())
    }

    #[test]
    fn columns_that_double_are_counted() {
        let nested = |levels: usize, column: &str| {
            let open = format!("(SELECT {column} AS x FROM ").repeat(levels);
            format!("SELECT x FROM {open}(SELECT id AS x FROM item){}", ")".repeat(levels))
        };
        assert!(count(&nested(6, "x+x")).is_some_and(|names| names < 1000));
        for column in
            ["x+x", "x IS NOT x", "f(x, -x)", "CASE WHEN x THEN x END", "\"X\" || x", "t.x+t.x"]
        {
            assert_eq!(count(&nested(20, column)), None, "{column}");
        }
        let bare = nested(20, "x+x").replace("AS x", "x");
        assert_eq!(count(&bare), None);
        for (head, body) in
            [("", "SELECT x+x AS x"), ("(x)", "SELECT x+x"), ("", "SELECT 'a' AS y, x+x 'x'")]
        {
            let step = |at: usize| format!(", t{at}{head} AS ({body} FROM t{})", at - 1);
            let steps: String = (1..30).map(step).collect();
            let sql = format!("WITH t0{head} AS (SELECT 1 AS x){steps}");
            assert_eq!(count(&format!("{sql} SELECT x FROM t29")), None, "{head}{body}");
        }
    }

    #[test]
    fn columns_that_are_handed_on_are_not() {
        for column in
            ["x", "ROUND(x, 2) AS x", "x x", "SUM(t.x) x", "DISTINCT x", "(x) AS x, 'x' AS y"]
        {
            let open = format!("(SELECT {column} FROM ").repeat(40);
            let sql = format!("SELECT x FROM {open}(SELECT id AS x FROM item){}", ")".repeat(40));
            assert!(count(&sql).is_some_and(|names| names < 1000), "{column}: {:?}", count(&sql));
        }
        let arm = "SELECT CASE WHEN x > 0 THEN x ELSE 0 END AS x FROM t";
        assert!(count(&[arm; 100].join(" UNION ALL ")).is_some());
    }

    #[test]
    fn views_are_known_to_what_reads_them() {
        let mut known = Columns::new();
        let views =
            "CREATE VIEW v(a) AS SELECT x+x FROM t; CREATE VIEW w AS SELECT a+a AS b FROM v;";
        assert!(names(views, &mut known).is_some());
        assert_eq!((known.get("a"), known.get("b")), (Some(&2), Some(&4)));
    }
}
