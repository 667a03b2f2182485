//! What to type where verifiers fail or abstain: by the verifier, and by words of the reason.

/// The verifier, words of the reason, and the advice.
const ADVICE: [(&str, &str, &str); 27] = [
    ("", "found \"eJ", PACKED),
    ("stdin_stdout", "key \"fn_name\" missing", OF_CALLS),
    ("unit_tests", "key \"fn_name\" missing", OF_CALLS),
    (
        "rhai",
        "the map that it returned has no reward",
        "the member is called `reward`: write #{ reward: 1.0 }",
    ),
    (
        "rhai",
        "that it returned is no finite reward",
        "the last line gives a number: 1.0 or 0.0; parse_float(TEXT) makes one of a text",
    ),
    ("number", "holds no number and no interval", OF_NUMBERS),
    ("python_check", "the script returned None", RETURN),
    ("rhai", "the script returned nothing, ()", ELSE),
    (
        "python_check",
        "`range` allows",
        "what the function may return is a setting: range = [-1.0, 1.0], or [0.0, 100.0]",
    ),
    ("stdin_stdout", "tests: ", STDIN_STDOUT),
    ("stdin_stdout", "key \"", STDIN_STDOUT),
    ("unit_tests", "expected one of the keys", UNIT_TESTS),
    ("unit_tests", "tests: expected an object, a list", UNIT_TESTS),
    ("unit_tests", "found \"def ", OF_COLUMNS),
    ("unit_tests", "they define check(candidate)", OF_COLUMNS),
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
    ("sql", "```", "write the query alone, without the fence of Markdown around it"),
    ("sql", "syntax error", OF_SYNTAX),
    ("tags", "the settings name no tags", "config = { tags = [\"think\", \"answer\"] }"),
    ("majority_vote", "has 1 of 1 votes", GROUPS),
    ("self_consistency", "has 1 of 1 votes", GROUPS),
    ("", "the group has no other member", GROUPS),
    ("", "no reward called \"", "`of` names a reward that is listed above this one"),
];

/// What a function of Python lacks that gives None.
pub(super) const RETURN: &str = "a function that ends without `return`, or prints its result, gives None, and the row abstains: write \
     `return` before the reward, and return 0.0 at the end";
/// What a script lacks that gives nothing.
pub(super) const ELSE: &str = "an `if` without `else` gives (), and the row abstains: write else { 0.0 } behind it, and the reward \
     without `let` as the last line";
const STDIN_STDOUT: &str = "write {\"inputs\": [\"1 2\\n\"], \"outputs\": [\"3\\n\"]}, or {\"cases\": \
     [{\"stdin\": \"1 2\\n\", \"stdout\": \"3\\n\"}]}";
const UNIT_TESTS: &str = "write {\"test_list\": [\"assert f(1) == 2\"]}, or {\"entry_point\": \"f\", \
     \"cases\": [{\"args\": [1], \"expected\": 2}]}";
const OF_COLUMNS: &str = "tests that are a program stand in the row itself, as \"test\" with \"entry_point\": write \
     config = { tests = \".\" }, and leave [data] reference out";
const OF_CALLS: &str = "tests of a function need its name: \"fn_name\" beside inputs and outputs, and verifier = \"unit_tests\"; a row \
     of LiveCodeBench has it in its metadata: config = { tests = \".\" } reads the whole row";
const PACKED: &str = "it is packed, as the private tests of LiveCodeBench are: json.loads(pickle.loads(zlib.decompress(\
     base64.b64decode(text.encode())))) of Python unpacks it";
const OF_NUMBERS: &str = "write the number alone, as 3.5 or \"1,234.5\": config = { decimal_comma = true } is for 3,5; verifier = \
     \"math\" takes expressions, \"exact\" words";
const OF_SYNTAX: &str = "SQLite reads the query up to that word: look for a slip there or before it; a query of another \
     dialect is translated by sqlglot.transpile(sql, read=\"mysql\", write=\"sqlite\") of Python";
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

/// Words of SQL that queries rarely do without.
const KEYWORDS: [&str; 12] = [
    "SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "JOIN", "LIMIT", "DISTINCT", "UNION",
    "BETWEEN", "INNER",
];

/// A word in capitals, or the first word, that is one of SQL but for a letter or two, and that word.
pub(super) fn misspelt_keyword(query: &str) -> Option<(&str, &'static str)> {
    let words = query.split(|char: char| !(char.is_alphanumeric() || char == '_'));
    let words = words.filter(|word| word.len() > 2);
    let is_loud = |word: &str| word.chars().all(|char| char.is_ascii_uppercase());
    let mut near = words.enumerate().filter(|(at, word)| *at == 0 || is_loud(word));
    near.find_map(|(_, word)| {
        let upper = word.to_uppercase();
        let is_own = KEYWORDS.contains(&upper.as_str());
        // A table of ORDERS or GROUPS is called so.
        let is_plural = |known: &str| upper.strip_suffix('S') == Some(known);
        let is_meant = |known: &&str| is_slip(&upper, known) && !is_plural(known);
        let meant = KEYWORDS.into_iter().find(is_meant)?;
        (!is_own).then_some((word, meant))
    })
}

/// Whether two words differ in the order of their letters, or in one letter that is there or not.
fn is_slip(word: &str, known: &str) -> bool {
    let sorted = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    let without = |long: &str, short: &str| {
        long.char_indices().any(|(at, char)| {
            let (before, behind) = (long.get(..at), long.get(at + char.len_utf8()..));
            before.zip(behind).is_some_and(|(before, behind)| [before, behind].concat() == short)
        })
    };
    let is_one = match word.len().cmp(&known.len()) {
        std::cmp::Ordering::Equal => sorted(word) == sorted(known),
        std::cmp::Ordering::Less => known.len() - word.len() == 1 && without(known, word),
        std::cmp::Ordering::Greater => word.len() - known.len() == 1 && without(word, known),
    };
    word != known && is_one
}

/// Functions of other languages, and what rhai has in their place.
const FUNCTIONS: [(&[&str], &str); 17] = [
    (&["startswith", "startsWith", "has_prefix"], "write .starts_with(\"...\")"),
    (&["endswith", "endsWith", "has_suffix"], "write .ends_with(\"...\")"),
    (&["lower", "lowercase", "toLowerCase", "casefold", "lcase"], "write .to_lower()"),
    (&["upper", "uppercase", "toUpperCase", "ucase"], "write .to_upper()"),
    (&["includes", "has", "find_all"], "write .contains(\"...\")"),
    (&["indexOf", "find"], "write .index_of(\"...\"), which is -1 where it is not there"),
    (&["substring", "substr", "slice"], "write .sub_string(START, LENGTH)"),
    (&["length", "size", "len"], "write .len() of a text or a list"),
    (
        &["matches", "match", "is_match", "test", "search", "regex", "findall"],
        "rhai has no regular expressions: write .contains(\"...\"), or a reward with verifier = \"regex\" above, \
         which rewards.NAME reads",
    ),
    (&["clamp", "clip"], "write min(max(VALUE, 0.0), 1.0)"),
    (&["sum", "mean", "avg", "fsum"], SUM),
    (&["pow"], "write VALUE ** POWER"),
    (
        &["float", "to_float", "Number", "parseFloat"],
        "write parse_float(TEXT), or NUMBER.to_float()",
    ),
    (&["int", "parseInt", "to_int"], "write parse_int(TEXT), or NUMBER.to_int()"),
    (&["str", "String", "toString"], "write VALUE.to_string()"),
    (&["loads", "parse", "json"], "write parse_json(TEXT)"),
    (&["any"], "write LIST.some(|x| x > 0)"),
];
const SUM: &str =
    "write a + b; of a list it is LIST.reduce(|sum, x| sum + x, 0.0), over LIST.len() for the mean";
/// Methods of texts, which a sample does not have.
const OF_TEXTS: [&str; 16] = [
    "strip",
    "lstrip",
    "rstrip",
    "lower",
    "upper",
    "split",
    "splitlines",
    "startswith",
    "endswith",
    "find",
    "rfind",
    "replace",
    "count",
    "encode",
    "isdigit",
    "index",
];

/// A script, for which there is advice by why it fails.
pub(super) struct Failing<'a> {
    pub(super) verifier: &'a str,
    pub(super) text: &'a str,
    /// The line that fails.
    pub(super) line: Option<&'a str>,
    /// It is one expression, and has no statements.
    pub(super) is_expression: bool,
}

impl Failing<'_> {
    /// What to type where the script fails for this reason.
    pub(super) fn advice(&self, why: &str) -> Option<String> {
        if self.verifier == "python_check" {
            return self.of_python(why);
        }
        if why.contains("the script returned nothing")
            && let Some(call) = self.uncalled()
        {
            return Some(format!(
                "the script defines a function and does not call it: write {call} as its last line"
            ));
        }
        if let Some(method) = between(why, "Non-pure method '", "'") {
            return self.on_a_copy(method);
        }
        if let Some(property) = between(why, "Unknown property '", "'")
            && (why.contains("looked for in string") || why.contains("looked for in array"))
        {
            return in_place_of(property);
        }
        if let Some((_, told)) = why.split_once("Function not found: ") {
            let (name, given) = told.split_once(" (")?;
            return match name {
                "strip" | "lstrip" | "rstrip" | "trim_end" | "trim_start" => {
                    self.on_a_copy(name).map(|help| help.replace(&format!("c.{name}("), "c.trim("))
                }
                "round" if given.starts_with("integer)") => {
                    Some("a whole number is round: leave it out".to_owned())
                }
                "round" => Some("write (VALUE * 10.0).round() / 10.0".to_owned()),
                _ => in_place_of(name),
            };
        }
        None
    }

    /// The call of the last function of a script that has nothing but functions.
    fn uncalled(&self) -> Option<String> {
        let (mut rest, mut last) = (self.text.trim(), None);
        while let Some(definition) = rest.strip_prefix("fn ") {
            let (head, body) = definition.split_once('{')?;
            let mut depth = 1_usize;
            let end = body.char_indices().find_map(|(at, char)| {
                match char {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                (depth == 0).then_some(at + 1)
            })?;
            rest = body.get(end..)?.trim_start();
            last = Some(head);
        }
        let (name, parameters) = last.filter(|_| rest.is_empty())?.split_once('(')?;
        let parameters = parameters.trim_end().trim_end_matches(')').split(',').map(str::trim);
        let by_place = ["completion", "reference", "prompt"];
        let given = parameters.filter(|own| !own.is_empty()).zip(by_place).map(|(own, other)| {
            if ["completion", "reference", "prompt", "meta", "id"].contains(&own) {
                own
            } else {
                other
            }
        });
        Some(format!("{}({})", name.trim(), given.collect::<Vec<_>>().join(", ")))
    }

    /// How a method is called that changes its text: on a copy.
    fn on_a_copy(&self, method: &str) -> Option<String> {
        let (receiver, call) = self.call(method)?;
        match method {
            "make_lower" | "make_upper" => {
                let pure = if method == "make_lower" { "to_lower" } else { "to_upper" };
                return Some(format!("write {receiver}.{pure}()"));
            }
            "trim" | "strip" | "lstrip" | "rstrip" if self.is_expression => {
                return Some(format!(
                    "an expression cannot change a text: compare the words, {receiver}.split() == reference.split()"
                ));
            }
            _ if self.is_expression => {
                return Some(format!(
                    "an expression cannot change what it reads: a reward with verifier = \"rhai\" can, as in \
                     let c = {receiver}; c.{call}; c"
                ));
            }
            _ => {}
        }
        let whole = format!("{receiver}.{call}");
        let text = self.text.trim();
        let is_short = !text.contains(['\n', ';', '{']);
        Some(if is_short {
            format!("write let c = {receiver}; c.{call}; {}", text.replace(&whole, "c"))
        } else {
            format!(
                "write let c = {receiver}; c.{call}; in the line above, and c in the place of {whole}"
            )
        })
    }

    /// What a method is called on, and the call itself.
    fn call(&self, method: &str) -> Option<(&str, &str)> {
        let line = self.line?;
        let at = line.find(&format!(".{method}("))?;
        let is_name = |char: char| char.is_alphanumeric() || char == '_' || char == '.';
        let before = line.get(..at)?;
        let receiver = before.rsplit(|char| !is_name(char)).next().filter(|own| !own.is_empty())?;
        let call = line.get(at + 1..)?;
        let end = call.find(')')?;
        Some((receiver, call.get(..=end)?))
    }

    fn of_python(&self, why: &str) -> Option<String> {
        if let Some(member) = between(why, "'dict' object has no attribute '", "'") {
            return self.member(member);
        }
        if let Some(value) = between(why, "script: returned ", "; `range` allows ") {
            return Some(self.range(value, why));
        }
        let kind = between(why, "returned a value of type ", ";")?;
        Some(match kind {
            "str" => "write return float(...): a reward is a number, and no text".to_owned(),
            "list" | "tuple" | "ndarray" | "Tensor" | "dict_values" => {
                "the function judges one sample and returns one number, without a list around it: return 1.0"
                    .to_owned()
            }
            "coroutine" => "write def in place of async def".to_owned(),
            _ => return None,
        })
    }

    /// A member of a dict that is written as of an object.
    fn member(&self, name: &str) -> Option<String> {
        let line = self.line?;
        let at = line.find(&format!(".{name}"))?;
        let is_part = |char: char| char.is_alphanumeric() || "_[]\"'".contains(char);
        let before = line.get(..at)?;
        let dict = before.rsplit(|char| !is_part(char)).next().filter(|own| !own.is_empty())?;
        Some(if OF_TEXTS.contains(&name) {
            format!("`{dict}` is a dict, and no text: write {dict}[\"completion\"].{name}")
        } else {
            format!("`{dict}` is a dict: write {dict}[\"{name}\"]")
        })
    }

    /// The range that allows what was returned, and the same below 0 where the script has it.
    fn range(&self, value: &str, why: &str) -> String {
        let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
        let Some(number) = number else {
            return format!(
                "{value} is no reward: return 0.0, or None to abstain, where there is nothing to compute \
                 (math.isfinite tells)"
            );
        };
        let allowed = why.rsplit_once("`range` allows ").and_then(|(_, told)| {
            let (least, most) = told.split_once(" to ")?;
            Some((least.parse::<f64>().ok()?, most.parse::<f64>().ok()?))
        });
        let (mut least, mut most) = allowed.unwrap_or((0.0, 1.0));
        let (other, size) = (-number, number.abs());
        let is_written = |text: &str| self.text.contains(text);
        let has_other = if other < 0.0 {
            is_written(&format!("-{size}")) || is_written(&format!("- {size}"))
        } else {
            self.text.replace(&format!("-{size}"), "").contains(&size.to_string())
        };
        for own in [Some(number), has_other.then_some(other)].into_iter().flatten() {
            (least, most) = (least.min(own), most.max(own));
        }
        format!(
            "what the function may return is a setting, beside the script: range = [{least:?}, {most:?}]"
        )
    }
}

/// What to write in the place of a function of another language.
fn in_place_of(function: &str) -> Option<String> {
    let known = FUNCTIONS.iter().find(|(names, _)| names.contains(&function));
    known.map(|(_, help)| (*help).to_owned())
}

/// What stands between two texts.
fn between<'a>(text: &'a str, before: &str, behind: &str) -> Option<&'a str> {
    Some(text.split_once(before)?.1.split_once(behind)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_sql_are_found_in_their_slips() {
        for (query, found) in [
            ("SELECT b FORM t", Some(("FORM", "FROM"))),
            ("SELCT b FROM t", Some(("SELCT", "SELECT"))),
            ("SELECT form FROM t", None),
            ("SELECT b FROM t WHERRE a = 1", Some(("WHERRE", "WHERE"))),
            ("SELECT b FROM t ORDER BY a", None),
            ("SELECT b FROM ORDERS WEHRE a = 1", Some(("WEHRE", "WHERE"))),
        ] {
            assert_eq!(misspelt_keyword(query), found, "{query}");
        }
    }
}
