//! What to type where verifiers fail or abstain: by the verifier, and by words of the reason.

/// The verifier, words of the reason, and the advice.
const ADVICE: [(&str, &str, &str); 16] = [
    (
        "python_check",
        "`range` allows",
        "what the function may return is a setting: range = [-1.0, 1.0], or [0.0, 100.0]",
    ),
    ("stdin_stdout", "tests: ", STDIN_STDOUT),
    ("stdin_stdout", "key \"", STDIN_STDOUT),
    ("unit_tests", "expected one of the keys", UNIT_TESTS),
    ("unit_tests", "found \"def ", OF_COLUMNS),
    ("unit_tests", "found \"METADATA", OF_COLUMNS),
    (
        "sql",
        "is missing; it names the database",
        "config = { db_column = \"db_id\" } names that column",
    ),
    (
        "sql",
        "no database: ",
        "config = { database = \"FILE\" }, or a reference such as { schema = \"CREATE TABLE t(a)\", rows = \
         { t = [[1]] }, query = \"SELECT a FROM t\" }",
    ),
    ("sql", "key \"answer\"", "the right rows come of a gold query: write it as `query`"),
    ("sql", "no such function", OF_SQLITE),
    ("sql", "syntax error", OF_SQLITE),
    ("tags", "the settings name no tags", "config = { tags = [\"think\", \"answer\"] }"),
    ("majority_vote", "has 1 of 1 votes", GROUPS),
    ("self_consistency", "has 1 of 1 votes", GROUPS),
    ("", "the group has no other member", GROUPS),
    ("", "no reward called \"", "`of` names a reward that is listed above this one"),
];

const STDIN_STDOUT: &str = "write {\"inputs\": [\"1 2\\n\"], \"outputs\": [\"3\\n\"]}, or {\"cases\": \
     [{\"stdin\": \"1 2\\n\", \"stdout\": \"3\\n\"}]}";
const UNIT_TESTS: &str = "write {\"test_list\": [\"assert f(1) == 2\"]}, or {\"entry_point\": \"f\", \
     \"cases\": [{\"args\": [1], \"expected\": 2}]}";
const OF_COLUMNS: &str = "tests that are a program stand in the row itself, as \"test\" with \"entry_point\": write \
     config = { tests = \".\" }, and leave [data] reference out";
const OF_SQLITE: &str = "queries and schemas are SQLite's: translate them, as sqlglot.transpile(sql, \
     read=\"mysql\", write=\"sqlite\") of Python does";
pub(super) const GROUPS: &str = "[data] group names a column that the completions of one prompt share; without it, those \
     of one prompt stand together";

/// What to type where a verifier gives `reason`; `None` where that is not known.
pub(super) fn advice(verifier: &str, reason: &str) -> Option<&'static str> {
    let fits = |(of, words, _): &&(&str, &str, &str)| {
        (of.is_empty() || *of == verifier) && reason.contains(words)
    };
    ADVICE.iter().find(fits).map(|(.., help)| *help)
}
