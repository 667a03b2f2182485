//! Texts that are no TOML: what they are in place of it, and what to type.

use std::ops::Range;

use serde_json::{Map, Value};

/// What is wrong with a text: where, and what to type.
pub(super) struct Misread {
    pub(super) message: String,
    pub(super) help: String,
    pub(super) span: Option<Range<usize>>,
}

/// A configuration to begin with.
pub(super) const FIRST: &str = "version = 1\n[[reward]]\nname = \"correct\"\nverifier = \"math\"";

const IS_DATASET: &str = "this is a dataset, not a configuration";
const GIVE_BOTH: &str = "the configuration comes first: assay score CONFIG DATA -o RUN; `assay init` writes a configuration";

/// The words behind which a line of Python stands.
const PYTHON: [&str; 6] = ["def ", "import ", "from ", "class ", "async def ", "@"];

/// What a text is that is neither TOML nor JSON, where that is plain to see.
pub(super) fn kind(name: &str, text: &str) -> Option<Misread> {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let mut lines = text.lines().map(str::trim_end).filter(|line| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('#')
    });
    let first = lines.clone().next()?;
    let told = |message: &str, help: String| {
        Some(Misread { message: message.to_owned(), help, span: start_of(text, first) })
    };
    let is_toml = |line: &str| {
        line.starts_with('[') || line.split_once('=').is_some_and(|(key, _)| is_key(key.trim()))
    };
    if extension == "py" || PYTHON.iter().any(|word| first.starts_with(word)) {
        let help = format!(
            "a configuration is TOML; a function of your own is named by it: verifier = \
             \"python_check\" (`assay show python_check`)\n{FIRST}"
        );
        return told("this is Python, not a configuration", help);
    }
    let is_yaml = |line: &str| {
        let line = line.trim_start().trim_start_matches("- ");
        line.split_once(':').is_some_and(|(key, rest)| {
            is_key(key.trim_matches(['"', '\''])) && (rest.is_empty() || rest.starts_with(' '))
        })
    };
    if matches!(extension, "yaml" | "yml")
        || first == "---"
        || (is_yaml(first) && !lines.clone().any(is_toml))
    {
        let help = format!("the same in TOML begins\n{FIRST}");
        return told("this is YAML; a configuration is TOML, or JSON of the same shape", help);
    }
    let columns = |line: &str| line.matches(',').count() + line.matches('\t').count();
    if matches!(extension, "csv" | "tsv") || (columns(first) > 0 && !lines.any(is_toml)) {
        return told(
            "this is a table of text, not a configuration: a configuration is TOML",
            format!("{GIVE_BOTH}. Rows are read as JSON lines or Parquet"),
        );
    }
    None
}

/// What bytes are that are no text, or text of another encoding.
pub(super) fn bytes(bytes: &[u8]) -> Option<(String, String)> {
    let dataset = || (IS_DATASET.to_owned(), GIVE_BOTH.to_owned());
    if bytes.starts_with(b"PAR1") {
        return Some(dataset());
    }
    if bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let help = format!("a configuration is not compressed; {GIVE_BOTH}");
        return Some(("this is compressed, not a configuration".to_owned(), help));
    }
    let utf16 = bytes.starts_with(b"\xff\xfe")
        || bytes.starts_with(b"\xfe\xff")
        || bytes.get(1) == Some(&0)
        || (bytes.first() == Some(&0) && bytes.get(1).is_some_and(|byte| *byte != 0));
    if utf16 {
        let help = "save it as UTF-8: iconv -f UTF-16 -t UTF-8 OLD > NEW".to_owned();
        return Some(("the text is UTF-16; expected UTF-8".to_owned(), help));
    }
    let error = std::str::from_utf8(bytes).err()?;
    let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
    let line = 1 + memchr::memchr_iter(b'\n', good).count();
    let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
    let help = "save it as UTF-8: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW".to_owned();
    Some((format!("line {line} is not UTF-8: it holds the byte 0x{byte:02x}"), help))
}

/// A row, or several, where a configuration belongs.
pub(super) fn rows(tree: &Value, is_known: impl Fn(&str) -> bool) -> Option<(String, String)> {
    match tree {
        Value::Array(_) => {
            let message =
                format!("this is a list; expected a table. If it holds rows, {IS_DATASET}");
            Some((message, GIVE_BOTH.to_owned()))
        }
        Value::Object(table) => {
            if let Some(help) = grader(table) {
                return Some(("this is a grader of OpenAI, not a configuration".to_owned(), help));
            }
            let own = ["version", "reward"].iter().any(|key| table.contains_key(*key));
            let foreign = table.keys().any(|key| !is_known(key));
            (!own && foreign).then(|| (IS_DATASET.to_owned(), GIVE_BOTH.to_owned()))
        }
        _ => None,
    }
}

/// What others call settings, and we.
type Settings = &'static [(&'static str, &'static str)];

/// Graders of `OpenAI`, the verifiers that judge alike, and their settings: what the grader calls each, and we.
const GRADERS: [(&str, &str, Settings); 3] = [
    (
        "string_check",
        "string_check",
        &[("input", "input"), ("reference", "reference"), ("operation", "operation")],
    ),
    (
        "text_similarity",
        "text_similarity",
        &[
            ("input", "input"),
            ("reference", "reference"),
            ("evaluation_metric", "metric"),
            ("pass_threshold", "threshold"),
        ],
    ),
    ("python", "python_check", &[("source", "script")]),
];

/// The configuration that stands for a grader of `OpenAI`.
fn grader(table: &Map<String, Value>) -> Option<String> {
    let kind = table.get("type")?.as_str()?;
    let text = |value: &Value| toml::Value::try_from(value).map(|value| value.to_string());
    if table.contains_key("graders") && kind == "multi" {
        let rule = table.get("calculate_output").and_then(|rule| text(rule).ok());
        let rule = rule.unwrap_or_else(|| "\"...\"".to_owned());
        return Some(format!(
            "write a [[reward]] for each of its graders, and\n[combine]\nhow = \"expression\"\nexpression = {rule}"
        ));
    }
    if ["score_model", "label_model"].contains(&kind) && table.contains_key("model") {
        let help = "write [judges.NAME] with url and model, and a [[reward]] with verifier = \"rubric\" and config = { \
                    judge = \"NAME\", rubric = { criterion = [{ name = \"...\", text = \"...\" }] } }";
        return Some(help.to_owned());
    }
    let (_, verifier, settings) = GRADERS.iter().find(|(own, ..)| *own == kind)?;
    let given = settings.iter().filter_map(|(theirs, own)| Some((own, table.get(*theirs)?)));
    let given: Vec<String> =
        given.filter_map(|(own, value)| Some(format!("{own} = {}", text(value).ok()?))).collect();
    if given.is_empty() {
        return None;
    }
    let name = table.get("name").and_then(Value::as_str).unwrap_or("correct");
    Some(format!(
        "write\nversion = 1\n[[reward]]\nname = {}\nverifier = \"{verifier}\"\nconfig = {{ {} }}",
        toml::Value::from(name),
        given.join(", ")
    ))
}

/// What a text of JSON lacks that ends too early.
const ENDS: [(&str, &str); 3] = [
    ("EOF while parsing a list", "]"),
    ("EOF while parsing an object", "}"),
    ("EOF while parsing a string", "\""),
];

/// What to make of an error of JSON: lines of rows, or a slip.
pub(super) fn json_help(text: &str, message: &str, at: usize) -> (String, Option<String>) {
    let before = text.get(..at).unwrap_or_default().trim_end();
    let rest = text.get(at..).unwrap_or_default();
    let comment = |text: &str| text.starts_with("//") || text.starts_with("/*");
    let help = if message.starts_with("trailing characters") && rest.starts_with('{') {
        return (format!("{IS_DATASET}: several JSON objects"), Some(GIVE_BOTH.to_owned()));
    } else if message.starts_with("trailing comma")
        || before.ends_with(',') && rest.starts_with(['}', ']'])
    {
        "JSON has no comma behind the last value: leave it out"
    } else if let Some(ending) =
        ENDS.iter().find_map(|(start, end)| message.starts_with(start).then_some(end))
    {
        return (
            format!("not JSON: the text ends before its {ending}"),
            Some(format!("add the {ending}")),
        );
    } else if rest.starts_with("NaN") || rest.trim_start_matches('-').starts_with("Infinity") {
        "JSON has finite numbers alone: write one"
    } else if ["True", "False", "None"].iter().any(|word| rest.starts_with(word)) {
        "JSON writes true, false and null in small letters"
    } else if message.contains("is written twice") {
        "write it once"
    } else if comment(rest.trim_start()) || rest.starts_with('#') {
        "JSON has no comment: leave it out, or write TOML, where a comment begins with #"
    } else if rest.starts_with('\'') {
        "JSON has texts in double quotes: write \"version\", not 'version'"
    } else if rest.starts_with(['\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}']) {
        "these are typographic quotes: write \""
    } else {
        return (format!("not JSON: {message}"), None);
    };
    (format!("not JSON: {message}"), Some(help.to_owned()))
}

/// What an error of TOML comes to, and what to type.
pub(super) fn toml_help(
    text: &str,
    message: &str,
    span: Option<&Range<usize>>,
) -> (String, Option<String>) {
    let at = span.map_or(0, |span| span.start).min(text.len());
    let line_start = text.get(..at).unwrap_or_default().rfind('\n').map_or(0, |end| end + 1);
    let line = text.get(line_start..).unwrap_or_default().lines().next().unwrap_or_default();
    let found = text.get(span.cloned().unwrap_or_default()).unwrap_or_default();
    let plain = |help: String| (message.to_owned(), Some(help));
    if message.contains("number out of range") {
        return (
            format!("{found} is too large for a number"),
            Some("write a smaller number".to_owned()),
        );
    }
    if message.starts_with("duplicate key") {
        let what = if line.starts_with('[') { "table" } else { "key" };
        let help = "write it once; a list of tables has two brackets, as in [[reward]]";
        return (format!("the {what} `{found}` is written twice"), Some(help.to_owned()));
    }
    if let Some((char, name)) = beyond_ascii(line) {
        let code = u32::from(char);
        return (
            format!("the line holds {name} (U+{code:04X}) outside of quotes"),
            Some(
                "keys, signs and blanks are ASCII: delete the character and type it again"
                    .to_owned(),
            ),
        );
    }
    if line.contains(['\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}']) {
        let help = "these are typographic quotes: write \" or '".to_owned();
        return plain(help);
    }
    if ["missing escaped value", "too few unicode", "invalid unicode", "invalid escape"]
        .iter()
        .any(|start| message.starts_with(start))
    {
        let help = "in double quotes a backslash begins an escape: write the text in single quotes, as \
                    in '\\d+' or 'C:\\folder'";
        return plain(help.to_owned());
    }
    if line.trim_start().starts_with("//") {
        return plain("a comment begins with #".to_owned());
    }
    if let Some((_, rest)) = line.split_once("r\"").or_else(|| line.split_once("r'"))
        && message.starts_with("missing opening quote")
    {
        let text = rest.split(['"', '\'']).next().unwrap_or_default();
        return plain(format!(
            "no letter stands before the quotes; single quotes hold a pattern as it is: write '{text}'"
        ));
    }
    if message.starts_with("unclosed") && line.starts_with('[') {
        return plain(closed(line));
    }
    if message.starts_with("key with no value") {
        let help = match line.split_once(':') {
            Some((key, value)) if is_key(key.trim()) => {
                format!("write {} = {}", key.trim(), quoted(value.trim()))
            }
            _ => "a line is KEY = VALUE, a [table] or a [[list of tables]]".to_owned(),
        };
        return plain(help);
    }
    let is_value = ["string values must be quoted", "invalid boolean", "invalid float", "invalid"]
        .iter()
        .any(|start| message.starts_with(start));
    if is_value {
        return bare(text, at, message);
    }
    (message.to_owned(), None)
}

/// What to type for the head of a table that lacks a bracket.
fn closed(line: &str) -> String {
    let name = line.trim().trim_matches(['[', ']']);
    if line.starts_with("[[") { format!("write [[{name}]]") } else { format!("write [{name}]") }
}

/// A character in the key, or beside the sign behind it, that looks like one of ASCII or like nothing, and
/// what it is.
fn beyond_ascii(line: &str) -> Option<(char, String)> {
    let end = line.find(['"', '\'', '#']).unwrap_or(line.len());
    let line = line.get(..end)?;
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    let typographic = ['\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}'];
    let odd = |char: &char| !char.is_ascii() && !typographic.contains(char);
    let beside = || value.trim_start_matches(' ').chars().next().filter(|c| !c.is_alphanumeric());
    let char = key.chars().find(odd).or_else(|| beside().filter(odd))?;
    let name = match char {
        '\u{a0}' | '\u{2007}' | '\u{202f}' => "a no-break space".to_owned(),
        '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {
            "a character that is not seen".to_owned()
        }
        '\u{ff01}'..='\u{ff5e}' => format!("the full-width sign {char}"),
        '\u{370}'..='\u{52f}' => format!("the Greek or Cyrillic letter {char}"),
        char if char.is_control() => "a control character".to_owned(),
        char => format!("the character {char}"),
    };
    Some((char, name))
}

/// A number as other languages write it and TOML does not, as TOML has it: `.5`, `1/3`, `5.`, `01`.
fn foreign_number(word: &str) -> Option<String> {
    let plain = |text: &str| {
        let is_plain = |char: char| char.is_ascii_digit() || ".-+".contains(char);
        text.trim().parse::<f64>().ok().filter(|_| text.trim().chars().all(is_plain))
    };
    if toml::from_str::<toml::Table>(&format!("value = {word}")).is_ok() {
        return None;
    }
    let value = match word.split_once('/') {
        Some((above, below)) => plain(above)? / plain(below)?,
        None => plain(word)?,
    };
    let value = (value * 1e4).round() / 1e4;
    let is_whole = value.fract() == 0.0 && !word.contains(['.', '/']);
    value.is_finite().then(|| if is_whole { format!("{value:.0}") } else { format!("{value:?}") })
}

/// A word that stands for a value without quotes.
fn bare(text: &str, at: usize, message: &str) -> (String, Option<String>) {
    let rest = text.get(at..).unwrap_or_default();
    let end = rest.find([',', ']', '}', '\n', '#']).unwrap_or(rest.len());
    let word = rest.get(..end).unwrap_or_default().trim();
    let lower = word.to_ascii_lowercase();
    if let Some(value) = foreign_number(whole_word(text, at)) {
        return ("TOML does not write a number so".to_owned(), Some(format!("write {value}")));
    }
    let percent = whole_word(text, at).strip_suffix('%').map(|whole| whole.trim().parse::<f64>());
    if let Some(Ok(value)) = percent {
        return ("TOML has no per cent".to_owned(), Some(format!("write {:?}", value / 100.0)));
    }
    let (message, help) = match lower.as_str() {
        "true" | "false" => (message.to_owned(), format!("write `{lower}`")),
        "yes" | "on" => ("TOML has no such boolean".to_owned(), "write `true`".to_owned()),
        "no" | "off" => ("TOML has no such boolean".to_owned(), "write `false`".to_owned()),
        "none" | "null" | "nil" | "undefined" | "~" => {
            (format!("TOML has no `{word}`"), "leave the key out".to_owned())
        }
        _ if word.starts_with('$') => {
            let help = "a value is not read from the environment in the file: set it by --set KEY=VALUE, \
                        by a variable such as ASSAY_COMBINE__HOW, or name the variable of a key by key_env";
            (format!("`{word}` is no value"), help.to_owned())
        }
        _ if word.ends_with(';') => {
            let help = format!(
                "a line ends without a semicolon: write {}",
                quoted(word.trim_end_matches(';'))
            );
            ("TOML has no semicolons".to_owned(), help)
        }
        _ if !word.is_empty() => {
            ("a string stands in quotes".to_owned(), format!("write {}", quoted(word)))
        }
        _ => return (message.to_owned(), None),
    };
    (message, Some(help))
}

/// The value that a place lies in: what stands behind the sign before it.
fn whole_word(text: &str, at: usize) -> &str {
    let start = text.get(..at).unwrap_or_default().rfind(['=', '[', ',', '{', '\n']);
    let rest = text.get(start.map_or(0, |start| start + 1)..).unwrap_or_default();
    rest.get(..rest.find([',', ']', '}', '\n', '#']).unwrap_or(rest.len()))
        .unwrap_or_default()
        .trim()
}

fn quoted(word: &str) -> String {
    let is_value = word.starts_with(['"', '\'', '[', '{'])
        || word.parse::<f64>().is_ok()
        || ["true", "false"].contains(&word);
    if is_value { word.to_owned() } else { toml::Value::from(word).to_string() }
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|char| char.is_ascii_alphanumeric() || "_-.".contains(char))
}

fn start_of(text: &str, line: &str) -> Option<Range<usize>> {
    let at = text.find(line)?;
    Some(at..at + line.len())
}
