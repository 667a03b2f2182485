//! What a `tokenizer.json` may make of a text, looked at before it is loaded: a tokenizer runs its
//! normaliser while it is read.

use serde::Deserialize;
use serde_json::Value;

/// The most parts of a normaliser, a pre-tokeniser, a post-processor or a decoder.
const PARTS_MAX: usize = 4_096;
/// How often a text may grow, by what replaces parts of it.
const GROWTH_MAX: usize = 256;
/// The longest text that is put into another one, in bytes.
const INSERTED_BYTES_MAX: usize = 1_024;
/// The longest mark of the parts of a word, in bytes.
const MARK_BYTES_MAX: usize = 256;

/// The parts of the file that work on texts; all others are data.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Parts {
    normalizer: Value,
    pre_tokenizer: Value,
    post_processor: Value,
    decoder: Value,
    model: Marks,
}

/// What a model puts before or after the parts of a word.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Marks {
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
}

/// Refuses a tokenizer that makes far more of a text than the text is.
///
/// # Errors
/// The part of the file that is too large, or a file that is not JSON.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let parts: Parts = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    for (key, part) in [
        ("normalizer", &parts.normalizer),
        ("pre_tokenizer", &parts.pre_tokenizer),
        ("post_processor", &parts.post_processor),
        ("decoder", &parts.decoder),
    ] {
        let mut seen = Seen { parts: 0, growth: 1 };
        seen.look(part).map_err(|why| format!("{key}: {why}"))?;
    }
    let marks = [
        ("model.continuing_subword_prefix", &parts.model.continuing_subword_prefix),
        ("model.end_of_word_suffix", &parts.model.end_of_word_suffix),
    ];
    for (key, mark) in marks {
        let length = mark.as_ref().map_or(0, String::len);
        if length > MARK_BYTES_MAX {
            return Err(format!("{key}: has {length} bytes; at most {MARK_BYTES_MAX} are allowed"));
        }
    }
    Ok(())
}

/// What was seen of a part.
struct Seen {
    parts: usize,
    growth: usize,
}

impl Seen {
    fn look(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Array(all) => all.iter().try_for_each(|one| self.look(one)),
            Value::Object(members) => {
                self.parts += 1;
                if self.parts > PARTS_MAX {
                    return Err(format!("has more than {PARTS_MAX} parts"));
                }
                let text = |name: &str| members.get(name).and_then(Value::as_str);
                for name in ["content", "prepend", "replacement", "prefix", "suffix", "cleanup"] {
                    let length = text(name).map_or(0, str::len);
                    if length > INSERTED_BYTES_MAX {
                        return Err(format!(
                            "{name} has {length} bytes; at most {INSERTED_BYTES_MAX} are allowed"
                        ));
                    }
                }
                if text("type") == Some("Replace") {
                    self.replaces(members.get("pattern"), text("content").unwrap_or_default())?;
                }
                members.values().try_for_each(|member| self.look(member))
            }
            _ => Ok(()),
        }
    }

    /// A regular expression may match a single byte, or none.
    fn replaces(&mut self, pattern: Option<&Value>, content: &str) -> Result<(), String> {
        let fixed = pattern.and_then(|pattern| pattern.get("String")).and_then(Value::as_str);
        let growth = match fixed.map(str::len) {
            Some(length) if length > 0 => content.len().div_ceil(length),
            _ => content.len() + 1,
        };
        self.growth = self.growth.saturating_mul(growth.max(1));
        if self.growth > GROWTH_MAX {
            return Err(format!(
                "a text may become {} times as long; at most {GROWTH_MAX} times is allowed",
                self.growth
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(normalizer: &Value) -> String {
        let whole = json!({"normalizer": normalizer, "model": {"type": "BPE", "vocab": {}}});
        check(whole.to_string().as_bytes()).err().unwrap_or_default()
    }

    #[test]
    fn a_normaliser_grows_no_text_beyond_measure() {
        let replace =
            |from: Value, to: &str| json!({"type": "Replace", "pattern": from, "content": to});
        let doubled = replace(json!({"String": "a"}), "aa");
        let all =
            |count: usize| json!({"type": "Sequence", "normalizers": vec![doubled.clone(); count]});
        assert_eq!(refused(&all(8)), "");
        assert!(refused(&all(40)).contains("times as long"));
        assert!(
            refused(&replace(json!({"Regex": ""}), &"x".repeat(300))).contains("times as long")
        );
        let long = "x".repeat(1 << 20);
        assert!(refused(&replace(json!({"String": " "}), &long)).contains("content has"));
        assert!(refused(&json!({"type": "Prepend", "prepend": long})).contains("prepend has"));
        let mut deep = doubled;
        for _ in 0..30 {
            deep = json!({"type": "Sequence", "normalizers": [deep, replace(json!({"Regex": "."}), "ab")]});
        }
        assert!(refused(&deep).contains("times as long"));
        assert!(refused(&json!(vec![json!({"type": "NFC"}); 5000])).contains("parts"));
    }

    #[test]
    fn what_tokenizers_do_is_allowed() {
        let metaspace = json!({"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "\u{2581}"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "\u{2581}"},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        ]});
        assert_eq!(refused(&metaspace), "");
        assert_eq!(refused(&json!(null)), "");
        let marks = json!({"model": {"continuing_subword_prefix": "#".repeat(1000)}}).to_string();
        assert!(check(marks.as_bytes()).unwrap_err().contains("continuing_subword_prefix"));
    }
}
