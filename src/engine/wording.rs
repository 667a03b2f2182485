//! What serde says of a value, in the words of TOML.

use serde_json::Value;

/// The message, with the types in it called string, integer, float, boolean, array and table.
/// `found` is the value that it is about.
pub(super) fn in_toml(message: &str, found: Option<&Value>) -> String {
    if let Some((before, _)) = message.split_once("data did not match any variant of untagged enum")
    {
        let found = found.map_or_else(|| "another value".to_owned(), shown);
        return format!("{before}expected a value of another type, found {found}");
    }
    if let Some((before, _)) =
        message.split_once("invalid type: unit variant, expected newtype variant")
    {
        return format!(
            "{before}expected a word with a value, {{ WORD = VALUE }}, found a word alone"
        );
    }
    for lead in ["invalid type: ", "invalid value: "] {
        if let Some((before, told)) = message.split_once(lead)
            && let Some((what, expected)) = told.split_once(", expected ")
        {
            let (expected, what) = (wanted(expected), described(what));
            return format!("{before}expected {expected}, found {what}");
        }
    }
    if let Some((before, told)) = message.split_once("invalid length ")
        && let Some((count, expected)) = told.split_once(", expected ")
    {
        let expected = wanted(expected);
        return format!("{before}expected {expected}, found {count} values");
    }
    if let Some((before, told)) = message.split_once("unknown variant `")
        && let Some((word, known)) = told.split_once("`, expected ")
    {
        let known = known.replace('`', "\"");
        return format!("{before}\"{word}\" is not known; expected {known}");
    }
    // Our own readers end with the kind of JSON that they found.
    if let Some((before, kind)) = message.rsplit_once(", found ")
        && ["text", "number", "boolean", "list", "object", "null"].contains(&kind)
    {
        let shown = found.map_or_else(|| kind_in_toml(kind).to_owned(), shown);
        return format!("{before}, found {shown}");
    }
    message.to_owned()
}

/// A value as a message names it: its type, and itself where that is short.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(value) => format!("the boolean {value}"),
        Value::Number(number) if number.is_f64() => format!("the float {number}"),
        Value::Number(number) => format!("the integer {number}"),
        Value::String(text) if text.chars().count() > SHOWN_MAX => "a long string".to_owned(),
        Value::String(_) => format!("the string {value}"),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "a table".to_owned(),
    }
}

/// How many characters of a string a message repeats.
const SHOWN_MAX: usize = 60;

fn kind_in_toml(kind: &str) -> &str {
    match kind {
        "text" => "a string",
        "number" => "a number",
        "boolean" => "a boolean",
        "list" => "an array",
        "object" => "a table",
        _ => "nothing",
    }
}

/// What serde found.
fn described(found: &str) -> String {
    let quoted = |lead: &str| Some(found.strip_prefix(lead)?.trim_matches('`').to_owned());
    match found {
        "map" => return "a table".to_owned(),
        "sequence" => return "an array".to_owned(),
        "null" | "unit value" | "unit" | "Option value" => return "nothing".to_owned(),
        "unit variant" => return "a word alone".to_owned(),
        "newtype variant" | "tuple variant" | "struct variant" => {
            return "a word with a value".to_owned();
        }
        _ => {}
    }
    if let Some(text) = found.strip_prefix("string ") {
        let long = text.chars().count() > SHOWN_MAX;
        return if long { "a long string".to_owned() } else { format!("the string {text}") };
    }
    let number = |lead, kind| Some(format!("the {kind} {}", quoted(lead)?));
    number("integer ", "integer")
        .or_else(|| number("floating point ", "float"))
        .or_else(|| number("boolean ", "boolean"))
        .unwrap_or_else(|| found.to_owned())
}

/// What serde expected.
pub(super) fn wanted(expected: &str) -> String {
    let words = match expected {
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "an integer of 0 or more",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "an integer",
        "a nonzero u8" | "a nonzero u16" | "a nonzero u32" | "a nonzero u64"
        | "a nonzero usize" => "an integer of 1 or more",
        "f32" | "f64" => "a number",
        "a map" => "a table",
        "a sequence" | "sequence" => "an array",
        "string or map" | "string" | "variant identifier" => "a string",
        "unit" | "null" | "unit value" => "nothing",
        "unit variant" => "a word alone",
        "newtype variant" | "tuple variant" | "struct variant" => "a word with a value",
        "map with a single key" => "a table with one key",
        "fewer elements in array" => "fewer values",
        "fewer elements in map" => "fewer keys",
        words => words,
    };
    if words.starts_with("struct ")
        || words.contains(" enum ") && words.starts_with("internally")
        || words.starts_with("struct variant ")
    {
        return "a table".to_owned();
    }
    if words.starts_with("enum ") {
        return "a string".to_owned();
    }
    if let Some(count) = words.strip_prefix("an array of length ") {
        return format!("an array of {count} values");
    }
    if let Some(rest) = words.strip_prefix("a tuple of size ") {
        return format!("an array of {rest} values");
    }
    words.replace("tuple struct ", "an array: ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_called_as_in_toml() {
        for (message, told) in [
            ("invalid type: map, expected a sequence", "expected an array, found a table"),
            (
                "a: invalid type: string \"1\", expected u32",
                "a: expected an integer of 0 or more, found the string \"1\"",
            ),
            (
                "invalid value: integer `-1`, expected u32",
                "expected an integer of 0 or more, found the integer -1",
            ),
            (
                "invalid type: floating point `1.0`, expected an array of length 2",
                "expected an array of 2 values, found the float 1.0",
            ),
            (
                "invalid type: boolean `true`, expected struct RewardConfig",
                "expected a table, found the boolean true",
            ),
            (
                "unknown variant `mean`, expected one of `min`, `product`",
                "\"mean\" is not known; expected one of \"min\", \"product\"",
            ),
        ] {
            assert_eq!(in_toml(message, None), told);
        }
        let untagged = "sql: data did not match any variant of untagged enum FileNames";
        let told = "sql: expected a value of another type, found the integer 1";
        assert_eq!(in_toml(untagged, Some(&json!(1))), told);
        let alone = "math: invalid type: unit variant, expected newtype variant";
        let told = "math: expected a word with a value, { WORD = VALUE }, found a word alone";
        assert_eq!(in_toml(alone, None), told);
        let own = "expected a number or a schedule, found text";
        let told = "expected a number or a schedule, found the string \"x\"";
        assert_eq!(in_toml(own, Some(&json!("x"))), told);
        assert_eq!(in_toml("nothing of the kind", None), "nothing of the kind");
    }
}
