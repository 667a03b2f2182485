//! What checks share that compare plain texts.

use crate::prelude::*;

/// A text in lower case, character by character; a final sigma is one like others.
pub(crate) fn lower(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase).map(|c| if c == 'ς' { 'σ' } else { c })
}

/// Refuses a reference that is an object, or has one in it: its JSON is the text of no answer.
pub(crate) fn refuse_objects(sample: &Sample) -> Result<(), Fault> {
    fn has_object(value: &Value) -> bool {
        match value {
            Value::Object(_) => true,
            Value::Array(values) => values.iter().any(has_object),
            _ => false,
        }
    }
    if sample.reference().is_some_and(has_object) {
        let why = "the reference is an object, not a text: name the member that is the answer";
        return Err(Fault::bad_reference(why));
    }
    Ok(())
}
