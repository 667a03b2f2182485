//! References and answers that are written otherwise than a verifier reads them.

use serde_json::{Value, json};

/// The answers in one text, where there are several.
pub(super) fn split(reference: &Value, sign: &str) -> Option<Value> {
    // The comma of a number parts nothing.
    let is_number = |text: &str| text.replace(',', "").trim().parse::<f64>().is_ok();
    if sign == "," && reference.as_str().is_some_and(|text| !text.contains(", ") && is_number(text))
    {
        return None;
    }
    let parts = reference.as_str()?.split(sign).map(str::trim).filter(|part| !part.is_empty());
    let parts: Vec<Value> = parts.map(Value::from).collect();
    (parts.len() > 1).then(|| parts.into())
}

/// How answers say what is true or false.
pub(super) fn yes_or_no(reference: &Value) -> Option<Value> {
    let is_true = match reference {
        Value::Bool(own) => *own,
        Value::String(text) if text.trim().eq_ignore_ascii_case("true") => true,
        Value::String(text) if text.trim().eq_ignore_ascii_case("false") => false,
        _ => return None,
    };
    Some(if is_true { json!(["yes", "Yes", "YES"]) } else { json!(["no", "No", "NO"]) })
}

/// The names of the tags that stand side by side in a text, in their order.
pub(super) fn tags(text: &str) -> Vec<String> {
    /// More than anyone asks for.
    const TAGS_MAX: usize = 8;
    let (mut rest, mut names) = (text, Vec::new());
    while let Some((_, behind)) = rest.split_once('<').filter(|_| names.len() < TAGS_MAX) {
        rest = behind;
        let Some((name, inner)) = behind.split_once('>') else { break };
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if let Some((_, after)) = inner.split_once(&format!("</{name}>")).filter(|_| is_name) {
            names.push(name.to_owned());
            rest = after;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_side_by_side() {
        for (text, names) in [
            ("<Think>a <b>c</b></Think>\n<Answer>1</Answer>", vec!["Think", "Answer"]),
            ("a</think><answer>1</answer>", vec!["answer"]),
            ("1 < 2 and <not closed", vec![]),
            ("<think>open", vec![]),
        ] {
            assert_eq!(tags(text), names, "{text}");
        }
    }
}
