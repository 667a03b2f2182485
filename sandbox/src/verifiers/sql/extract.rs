//! Finds the query in an answer.

use std::borrow::Cow;

use assay_verifiers::OrderedMap;
use assay_verifiers::extract::{Thinking, thinking};
use serde_json::Value;

use super::lex::{Kind, tokens};

/// The tags and labels that announce a query, in lower case.
const TAGS: [&str; 6] = ["answer", "final_answer", "final_sql", "query", "sql", "sql_query"];
/// Labels after which only a query is looked for.
const LABELS: [&str; 6] =
    ["final sql", "final sql query", "sql", "sql query", "sqlquery", "sql statement"];
/// Labels after which there may be a query or something else.
const VAGUE_LABELS: [&str; 3] = ["answer", "final answer", "query"];

/// The members of a JSON object that hold a query, in lower case, the surest one first.
const MEMBERS: [&str; 6] = ["sql", "sql_query", "final_sql", "query", "final_answer", "answer"];

/// Where something starts and ends, in bytes.
pub(super) type Span = (usize, usize);

/// A query, and where it is.
pub(super) type Query<'a> = (Cow<'a, str>, Span);

/// The query in `text`, if there is one.
///
/// What was thought before the answer is not an answer. Then, in this order: the last pair of answer
/// tags, a JSON object with a member such as `sql`, the last code fence, the last line with a label
/// such as `SQL:`, the whole text if it begins like a query, code in backticks, and prose that turns
/// into a query.
pub(super) fn query(text: &str) -> Option<Query<'_>> {
    let said = thinking::answer(text, Thinking::Skip)?;
    let said = (said.start, said.end);
    let answer = tagged(text, said).unwrap_or(said);
    if let Some(query) = member(text, answer).ok()? {
        return Some((query.into(), answer));
    }
    let is_tagged = answer != said;
    let found = fenced(text, answer, is_sql)
        .or_else(|| labelled(text, answer))
        .or_else(|| is_query(slice(text, answer)).then(|| cut(text, answer)))
        .or_else(|| inline(text, answer))
        .or_else(|| in_prose(text, answer));
    // Tags say that what is in them is the answer, whatever it looks like.
    let span = trimmed(text, found.or(is_tagged.then_some(answer))?)?;
    Some((slice(text, span).into(), span))
}

/// A JSON object that has a member twice, and says two things.
struct TwoAnswers;

/// The query in a JSON object that is all there is, or is in the last fence.
fn member(text: &str, within: Span) -> Result<Option<String>, TwoAnswers> {
    let is_object = |span: &Span| slice(text, *span).trim_start().starts_with('{');
    let in_fence = || {
        let object = fenced(text, within, |language| language == "json").filter(is_object)?;
        let other = fenced(text, within, is_sql);
        Some(object).filter(|object| other.is_none_or(|other| other.0 <= object.0))
    };
    let object = Some(within).filter(is_object).or_else(in_fence);
    let read = |span| serde_json::from_str(slice(text, span).trim()).ok();
    let members: OrderedMap<Value> = object.and_then(read).unwrap_or_default();
    for name in MEMBERS {
        let mut found = members.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        let Some((_, value)) = found.next() else { continue };
        if found.any(|(_, other)| other != value) {
            return Err(TwoAnswers);
        }
        if let Some(query) = value.as_str().filter(|text| is_query(text)) {
            return Ok(Some(query.trim().to_owned()));
        }
    }
    Ok(None)
}

fn slice(text: &str, span: Span) -> &str {
    &text[span.0..span.1]
}

fn trimmed(text: &str, span: Span) -> Option<Span> {
    let inner = slice(text, span);
    let start = span.0 + inner.len() - inner.trim_start().len();
    let body = inner.trim();
    let says_something = tokens(body).any(|token| !token.is_mark(";"));
    says_something.then_some((start, start + body.len()))
}

/// The last pair of tags that announce the answer.
fn tagged(text: &str, within: Span) -> Option<Span> {
    let lower = slice(text, within).to_ascii_lowercase();
    let spans = TAGS.into_iter().filter_map(|tag| {
        let end = lower.rfind(&format!("</{tag}>"))?;
        let open = format!("<{tag}>");
        let start = lower.get(..end)?.rfind(&open)? + open.len();
        Some((within.0 + start, within.0 + end))
    });
    // Of nested tags the inner pair counts: it closes first and opens last.
    spans.max_by_key(|span| span.0)
}

/// The last fence that is marked as one of a language, or else the last one without a mark.
fn fenced(text: &str, within: Span, is_marked: fn(&str) -> bool) -> Option<Span> {
    let (mut marked, mut plain, mut open) = (None, None, None::<(usize, String)>);
    let mut keep = |span: Span, language: &str| {
        let kept = if is_marked(language) { &mut marked } else { &mut plain };
        if (is_marked(language) || language.is_empty()) && trimmed(text, span).is_some() {
            *kept = Some(span);
        }
    };
    let mut at = within.0;
    for line in slice(text, within).split_inclusive('\n') {
        let start = at;
        at += line.len();
        let fence = line.trim();
        let Some(info) = fence.strip_prefix("```").or(fence.strip_prefix("~~~")) else { continue };
        match open.take() {
            Some((from, language)) => keep((from, start), &language),
            None => match info.split_once("```") {
                // A fence that opens and closes on one line.
                Some((inner, _)) => {
                    let language = inner.split_whitespace().next().unwrap_or_default();
                    let language = if is_marked(language) { language } else { "" };
                    let query = inner.trim_start().strip_prefix(language).unwrap_or(inner);
                    let mark = start + line.len() - line.trim_start().len();
                    let end = mark + 3 + inner.len();
                    keep((end - query.len(), end), language);
                }
                None => open = Some((at, info.trim().to_ascii_lowercase())),
            },
        }
    }
    if let Some((from, language)) = open {
        keep((from, within.1), &language);
    }
    marked.or(plain)
}

fn is_sql(language: &str) -> bool {
    language.to_ascii_lowercase().contains("sql")
}

/// What follows the last label at the start of a line.
fn labelled(text: &str, within: Span) -> Option<Span> {
    let decoration = |c: char| c.is_whitespace() || "*#>_-[]".contains(c);
    let mut at = within.0;
    let mut last = None;
    for line in slice(text, within).split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some((label, rest)) = line.split_once(':') else { continue };
        let label = label.trim_matches(decoration).to_ascii_lowercase();
        let markup = rest.len() - rest.trim_start_matches("**").len();
        let from = start + line.len() - rest.len() + markup;
        let begins = || is_query(head(text, from).trim_start().trim_start_matches('`'));
        if LABELS.contains(&label.as_str()) || VAGUE_LABELS.contains(&label.as_str()) && begins() {
            last = Some((from, within.1));
        }
    }
    let span = last?;
    inline(text, span).filter(|_| slice(text, span).trim_start().starts_with('`')).or_else(|| {
        let query = cut(text, span);
        (!slice(text, query).trim().is_empty()).then_some(query)
    })
}

/// The last piece of code in single backticks that is a query.
fn inline(text: &str, within: Span) -> Option<Span> {
    let ticks: Vec<usize> =
        slice(text, within).match_indices('`').map(|(at, _)| within.0 + at).collect();
    let mut pairs = ticks.windows(2).filter_map(|pair| match pair {
        [open, close] => Some((open + 1, *close)),
        _ => None,
    });
    pairs.rfind(|span| is_select(head(slice(text, *span), 0)))
}

/// Prose that turns into a query: at the start of a line, or else at a keyword in capitals.
fn in_prose(text: &str, within: Span) -> Option<Span> {
    let body = slice(text, within);
    let line_starts = body.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        // An empty line begins nothing, and what follows it is looked at by itself.
        Some((start, !line.trim().is_empty()))
    });
    let mut line_starts = line_starts.filter(|(_, is_full)| *is_full).map(|(start, _)| start);
    let capitals = ["SELECT ", "SELECT\n", "WITH "]
        .into_iter()
        .flat_map(|word| body.match_indices(word).map(|(at, _)| at));
    let begins = |at: &usize| is_select(head(body, *at));
    let start = line_starts.find(begins).or_else(|| capitals.filter(begins).min())?;
    // What is in bold ends where the bold does.
    let is_bold = body.get(..start).is_some_and(|before| before.ends_with("**"));
    let bold = body.get(start..).and_then(|rest| rest.find("**")).filter(|_| is_bold);
    let end = bold.map_or(within.1, |length| within.0 + start + length);
    Some(cut(text, (within.0 + start, end)))
}

/// As much of `text` from `at` on as tells what begins there. What is asked at every line or
/// semicolon must not look at all that follows.
fn head(text: &str, at: usize) -> &str {
    const BYTES: usize = 256;
    let rest = &text[at..];
    &rest[..rest.floor_char_boundary(BYTES)]
}

/// Whether `text` begins with a statement of any kind.
fn is_query(text: &str) -> bool {
    const VERBS: [&str; 17] = [
        "values", "insert", "update", "delete", "drop", "create", "alter", "pragma", "attach",
        "detach", "replace", "explain", "begin", "commit", "rollback", "vacuum", "analyze",
    ];
    let Some(first) = tokens(text).next() else { return false };
    let rest = &text[first.at..];
    is_select(rest) || (VERBS.iter().any(|verb| first.is(verb)) && looks_like_code(rest))
}

/// "Create a query that ..." is prose: a statement has more than words and full stops.
fn looks_like_code(text: &str) -> bool {
    !text.trim_end().ends_with('.') && !text.contains(". ")
}

/// Whether `text` begins with a query. `With` begins many an English sentence too: as a keyword it
/// names a table and says `AS`.
fn is_select(text: &str) -> bool {
    let mut words = tokens(text).skip_while(|token| token.is_mark("("));
    let Some(first) = words.next() else { return false };
    if first.is("select") {
        return words.next().is_some_and(|next| next.kind != Kind::Mark || next.text != ".");
    }
    let mut words = words.skip_while(|token| token.is("recursive"));
    let names = words.next().is_some_and(|name| matches!(name.kind, Kind::Word | Kind::Name));
    first.is("with") && names && words.next().is_some_and(|next| next.is("as") || next.is_mark("("))
}

/// Ends a query before the prose that follows it: after a semicolon, an empty line, at another
/// label, at the mark that ends a turn, or at the full stop of the sentence that it ends.
fn cut(text: &str, within: Span) -> Span {
    let body = slice(text, within);
    let after_semicolon = tokens(body).filter(|token| token.is_mark(";")).map(|token| token.at);
    let after_blank = body.match_indices("\n\n").map(|(at, _)| at);
    let goes_on = |at: usize| continues(head(body, at));
    let mut line_ends = body.match_indices('\n').map(|(at, _)| at);
    let ends = [
        after_semicolon.map(|at| at + 1).find(|at| !goes_on(*at)),
        after_blank.into_iter().find(|at| *at > 0 && !goes_on(*at)),
        line_ends.find(|at| is_label(head(body, at + 1))),
        body.find("<|"),
    ];
    let end = ends.into_iter().flatten().min().unwrap_or(body.len());
    let query = body[..end].trim_end();
    let sentence = query.strip_suffix('.').filter(|query| query.ends_with(char::is_alphabetic));
    (within.0, within.0 + sentence.map_or(end, str::len))
}

/// Whether a line begins with one to three words and a colon, which no line of SQL does.
fn is_label(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let Some((label, rest)) = line.split_once(':') else { return false };
    let mut words = label.split_whitespace();
    (1..=3).contains(&words.clone().count())
        && words.all(|word| word.chars().all(char::is_alphanumeric))
        && (rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// Whether what follows still belongs to the SQL: a clause, a mark, or another statement.
fn continues(rest: &str) -> bool {
    const CLAUSES: [&str; 20] = assay_verifiers::words::list(
        "from where group order having limit offset union intersect except join left right inner \
         cross on and or window natural",
    );
    let Some(first) = tokens(rest).next() else { return true };
    let is_clause = first.kind == Kind::Word && CLAUSES.iter().any(|clause| first.is(clause));
    first.kind == Kind::Mark && "(),;".contains(first.text)
        || is_query(rest)
        || is_clause
            && looks_like_code(rest.lines().find(|line| !line.trim().is_empty()).unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Option<Cow<'_, str>> {
        query(text).map(|(query, _)| query)
    }

    #[test]
    fn a_query_is_found_wherever_answers_put_it() {
        for text in [
            "SELECT a FROM t",
            "  SELECT a FROM t\n",
            "```sql\nSELECT a FROM t\n```",
            "```SQLite\r\nSELECT a FROM t\r\n```\r\n",
            "```\nSELECT a FROM t\n```",
            "```sql SELECT a FROM t ```",
            "```\u{a0}\u{a0}sql SELECT a FROM t ```",
            "~~~sql SELECT a FROM t ```",
            "First:\n```sql\nSELECT b\n```\nNo:\n```sql\nSELECT a FROM t\n```\nDone; it works.",
            "```sql\nSELECT a FROM t\n```\nwhich prints\n```\n1 | 2\n```",
            "```sql\nSELECT a FROM t",
            "<think>SELECT z</think>\nSQL: SELECT a FROM t",
            "<think>```sql\nSELECT z\n```</think>SELECT a FROM t",
            "<reasoning>SELECT z</reasoning>SELECT a FROM t",
            "<|channel|>analysis<|message|>SELECT z<|end|><|start|>assistant<|channel|>final<|message|>SELECT a FROM t",
            "**SQL:** SELECT a FROM t\n\nThis joins the tables.",
            "Final answer: `SELECT a FROM t`.",
            "<answer>SELECT a FROM t</answer>",
            "<answer><sql>SELECT a FROM t</sql></answer> I hope it helps",
            "<answer>Here:\n```sql\nSELECT a FROM t\n```</answer>",
            "<sql>SELECT b</sql> is wrong, <SQL>SELECT a FROM t</SQL> is right",
            "With this in mind,\nSELECT a FROM t\n\nWith that we are done.",
            "The query is SELECT a FROM t",
            "You may use `SELECT a FROM t` here.",
            "Here is the query:\n\n    SELECT a FROM t\n\nExplanation:\n- it selects",
            "SQLQuery: SELECT a FROM t\nSQLResult: 1\nAnswer: one",
            "The final query is **SELECT a FROM t**, as asked",
            "The query is SELECT a FROM t.",
            "SELECT a FROM t<|im_end|>",
            "~~~sql\nSELECT a FROM t\n~~~",
            "<final_sql>SELECT a FROM t</final_sql>",
            "[SQL]: SELECT a FROM t",
            r#"{"sql": "SELECT a FROM t"}"#,
            r#"{"reasoning": "SELECT b", "SQL": "SELECT a\u0020FROM t\n"}"#,
            "It is:\n```json\n{\"thought\": \"```\", \"query\": \"SELECT a FROM t\"}\n```\nDone.",
            r#"<answer>{"answer": "SELECT a FROM t"}</answer>"#,
            "```\n{\"sql_query\": \"SELECT a FROM t\"}\n```",
            "```sql\nSELECT a FROM t\n```\n```sql\n```",
        ] {
            assert_eq!(found(text).as_deref(), Some("SELECT a FROM t"), "{text}");
        }
    }

    #[test]
    fn what_follows_the_query_is_left_or_kept() {
        for (text, wanted) in [
            ("SELECT 1; SELECT 2", "SELECT 1; SELECT 2"),
            ("SELECT 1; drop table t", "SELECT 1; drop table t"),
            ("SELECT 1;\nThis is why.", "SELECT 1;"),
            ("SQL: SELECT 1\n\nFROM t", "SELECT 1\n\nFROM t"),
            ("SELECT ';' -- ;\nFROM t; ok", "SELECT ';' -- ;\nFROM t;"),
            ("-- answer\nSELECT 1", "-- answer\nSELECT 1"),
            ("WITH t AS (SELECT 1) SELECT * FROM t", "WITH t AS (SELECT 1) SELECT * FROM t"),
            ("DROP TABLE t", "DROP TABLE t"),
            ("<answer>SELEC 1</answer>", "SELEC 1"),
            ("SQL: SELEC 1", "SELEC 1"),
            ("SELECT a FROM t WHERE x > 1.", "SELECT a FROM t WHERE x > 1."),
            ("SELECT CASE\nWHEN a THEN 1\nEND", "SELECT CASE\nWHEN a THEN 1\nEND"),
        ] {
            assert_eq!(found(text).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn nothing_is_made_up() {
        for text in [
            "",
            " \n",
            "```sql\n\n```",
            "```sql\n-- nothing\n```",
            "<answer></answer>",
            ";",
            "I select nothing. With that, I stop.",
            "Create a table first. Then ask again.",
            "<think>SELECT 1",
            "<|begin_of_thought|>SELECT 1",
            "SQL:",
            "Answer: 42",
            r#"{"answer": "I do not know"}"#,
            r#"{"sql": 3}"#,
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(
            text in r"(?s).{0,60}|(```|sql|SELECT |WITH t AS|</?answer>|</think>|SQL:|[\n`;é]){0,30}",
        ) {
            if let Some((found, (start, end))) = query(&text) {
                prop_assert!(text.get(start..end).is_some() && !found.is_empty());
            }
        }
    }
}
