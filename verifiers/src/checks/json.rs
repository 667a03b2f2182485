//! `json`: well-formed JSON that a schema accepts, or a member that equals the reference.

use std::collections::BTreeSet;
use std::fmt;

use jsonschema::{PatternOptions, Validator};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number};

use crate::prelude::*;

/// Right when the completion is JSON as asked for.
///
/// The JSON is the whole completion, or else the last code fence in it. JSON Schema (drafts 4 to
/// 2020-12) is checked without the network: a reference out of the schema is an error of the
/// configuration. Patterns in it are linear: no look-around.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Json {
    /// A JSON Schema that must accept the value.
    #[serde(default)]
    schema: Option<Value>,
    /// The same, from a file.
    #[serde(default)]
    schema_file: Option<String>,
    /// Where the JSON stands.
    #[serde(default)]
    from: From,
    /// A key may not come twice in one object: readers disagree on which one counts.
    #[serde(default)]
    unique_keys: bool,
    /// How deep arrays and objects may nest, at most 120.
    #[serde(default = "depth_max")]
    depth_max: usize,
    /// A JSON pointer such as `/answer` to a member that must be there.
    #[serde(default)]
    pointer: Option<String>,
    /// The value, or the member at `pointer`, must equal the reference. 1 equals 1.0; the order of
    /// keys does not matter. A reference that is text may hold the JSON.
    #[serde(default)]
    equals_reference: bool,
    #[serde(skip)]
    compiled: Option<Compiled>,
}

/// Where the JSON stands.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum From {
    /// The whole completion, or else the last code fence.
    #[default]
    Any,
    /// The whole completion.
    Whole,
    /// The last code fence.
    Fence,
}

#[derive(Debug)]
struct Compiled {
    validator: Validator,
    bytes: usize,
}

/// The recursion limit of the JSON reader is 128.
const DEPTH_MAX: usize = 120;

fn depth_max() -> usize {
    64
}

impl Check for Json {
    const ID: &'static str = "json";

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        if !(1..=DEPTH_MAX).contains(&self.depth_max) {
            let message = format!("nesting is allowed from 1 to {DEPTH_MAX} levels");
            return Err(BuildError::new("depth_max", message));
        }
        if self.pointer.as_ref().is_some_and(|at| !at.is_empty() && !at.starts_with('/')) {
            return Err(BuildError::new("pointer", "a JSON pointer is empty or starts with /"));
        }
        let (name, schema) = match (&self.schema, &self.schema_file) {
            (Some(_), Some(_)) => {
                return Err(BuildError::new("schema_file", "the schema is given twice"));
            }
            (None, None) => return Ok(()),
            (Some(schema), None) => ("schema", schema.clone()),
            (None, Some(file)) => ("schema_file", schema_in(file, files)?),
        };
        let validator = jsonschema::options()
            .offline()
            .with_pattern_options(PatternOptions::regex().size_limit(Pattern::PROGRAM_BYTES_MAX))
            .build(&schema)
            .map_err(|error| BuildError::new(name, error.to_string()))?;
        self.compiled = Some(Compiled { validator, bytes: schema.to_string().len() });
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        if self.equals_reference && sample.reference().is_none() {
            return Ok(Verdict::no_reference());
        }
        let completion = sample.completion();
        meter.spend(20 * completion.len() as u64)?;
        let (value, span) = match self.read(completion) {
            Ok(read) => read,
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        let judged = |right| Verdict::graded(right).with("span", vec![span.0, span.1]);
        if let Some(compiled) = &self.compiled {
            let length = (span.1 - span.0) as u64;
            meter.spend(length * (1 + compiled.bytes as u64 / 64))?;
            if let Err(error) = compiled.validator.validate(&value) {
                let at = error.instance_path().to_string();
                let rule = error.schema_path().to_string();
                return Ok(judged(false).with("at", at).with("rule", rule).because("schema"));
            }
        }
        let Some(member) = value.pointer(self.pointer.as_deref().unwrap_or_default()) else {
            return Ok(judged(false).because("no-member"));
        };
        match sample.reference().filter(|_| self.equals_reference) {
            None => Ok(judged(true).because("valid")),
            Some(reference) => {
                let right = equal(member, reference) || is_written_in(member, reference);
                let shown = member.to_string();
                let reason = if right { "equal" } else { "unequal" };
                Ok(judged(right).with("extracted", shown).because(reason))
            }
        }
    }
}

impl Json {
    fn read(&self, completion: &str) -> Result<(Value, (usize, usize)), &'static str> {
        let whole = (0, completion.len());
        match self.from {
            From::Whole => self.parse(completion, whole),
            From::Fence => self.parse(completion, last_fence(completion).ok_or("no-fence")?),
            From::Any => match (self.parse(completion, whole), last_fence(completion)) {
                (Err("not-json"), Some(fence)) => self.parse(completion, fence),
                (parsed, _) => parsed,
            },
        }
    }

    fn parse(
        &self,
        text: &str,
        (start, end): (usize, usize),
    ) -> Result<(Value, (usize, usize)), &'static str> {
        let text = text.get(start..end).unwrap_or_default();
        let mut reader = serde_json::Deserializer::from_str(text);
        let seed = Strict { levels_left: self.depth_max, unique_keys: self.unique_keys };
        let value = seed.deserialize(&mut reader).map_err(|error| reason(&error))?;
        reader.end().map_err(|_| "not-json")?;
        Ok((value, (start, end)))
    }
}

fn schema_in(file: &str, files: &dyn Files) -> Result<Value, BuildError> {
    let bad = |why: String| BuildError::new("schema_file", why);
    let bytes = files.read(file).map_err(bad)?;
    serde_json::from_slice(&bytes).map_err(|error| bad(format!("file \"{file}\": {error}")))
}

/// Where the text of the last code fence starts and ends. In a list a fence is indented, and some
/// models close one at the end of a line.
fn last_fence(text: &str) -> Option<(usize, usize)> {
    let (mut open, mut last) = (None, None);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let code = line.trim_end().strip_suffix("```").map(str::len);
        match (open, line.get(indent..).is_some_and(|line| line.starts_with("```"))) {
            (None, true) => open = Some(at + line.len()),
            (Some(start), starts) if starts || code.is_some() => {
                last = Some((start, at + if starts { indent } else { code.unwrap_or_default() }));
                open = None;
            }
            _ => {}
        }
        at += line.len();
    }
    last
}

/// Equal as JSON, numbers by value.
fn equal(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Number(one), Value::Number(two)) => {
            one == two || (one.is_f64() != two.is_f64() && digits(one) == digits(two))
        }
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| equal(one, two))
        }
        (Value::Object(one), Value::Object(two)) => {
            one.len() == two.len()
                && one.iter().all(|(key, one)| two.get(key).is_some_and(|two| equal(one, two)))
        }
        (one, two) => one == two,
    }
}

/// All digits of a whole number: as a float, 2^53 + 1 would be its neighbour.
fn digits(number: &Number) -> String {
    match number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0) {
        // Adding zero turns a negative zero into zero.
        Some(float) => format!("{:.0}", float + 0.0),
        None => number.to_string(),
    }
}

/// Whether the reference is text that holds this value as JSON.
fn is_written_in(member: &Value, reference: &Value) -> bool {
    let parsed = reference.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    parsed.is_some_and(|reference| equal(member, &reference))
}

const TOO_DEEP: &str = "nests too deep";
const TWICE: &str = "key comes twice";

fn reason(error: &serde_json::Error) -> &'static str {
    let text = error.to_string();
    match () {
        () if text.starts_with(TOO_DEEP) => "too-deep",
        () if text.starts_with(TWICE) => "duplicate-key",
        () => "not-json",
    }
}

/// Reads a value within a depth, and sees keys that come twice.
#[derive(Clone, Copy)]
struct Strict {
    levels_left: usize,
    unique_keys: bool,
}

impl Strict {
    fn inner<E: serde::de::Error>(self) -> Result<Self, E> {
        let levels_left = self.levels_left.checked_sub(1).ok_or_else(|| E::custom(TOO_DEEP))?;
        Ok(Self { levels_left, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(inner)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut members = Map::new();
        let mut seen = BTreeSet::new();
        while let Some(key) = items.next_key::<String>()? {
            if self.unique_keys && !seen.insert(key.clone()) {
                return Err(A::Error::custom(TWICE));
            }
            members.insert(key, items.next_value_seed(inner)?);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::NoFiles;
    use crate::check::build;

    #[test]
    fn settings_that_cannot_work_are_refused() {
        for (settings, at) in [
            (json!({"schema": {"type": "no-type"}}), "schema"),
            (json!({"schema": {"$ref": "https://example.com/schema.json"}}), "schema"),
            (json!({"schema": {"$ref": "file:///etc/hostname"}}), "schema"),
            (json!({"schema": {"pattern": "(?=a)"}}), "schema"),
            (json!({"schema": {}, "schema_file": "s.json"}), "schema_file"),
            (json!({"schema_file": "s.json"}), "schema_file"),
            (json!({"pointer": "answer"}), "pointer"),
            (json!({"depth_max": 0}), "depth_max"),
        ] {
            let error = build::<Json>(settings.clone(), &NoFiles).err().expect("refused");
            assert_eq!(error.setting, at, "{settings}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r#"(?s).{0,40}|([\[\]{}:,"0-9eE. -]|null|true|```json\n|```){0,40}"#) {
            let check: Json = serde_json::from_value(json!({"equals_reference": true})).unwrap();
            let sample = Sample::builder(text).reference(1).build();
            prop_assert!(check.check(&sample, &mut Meter::default()).is_ok());
        }
    }

    #[test]
    fn deep_text_is_refused_and_not_followed() {
        let check: Json = serde_json::from_value(json!({})).unwrap();
        let sample = Sample::builder("[".repeat(500_000)).build();
        let verdict = check.check(&sample, &mut Meter::default()).unwrap();
        assert_eq!(verdict.evidence.get("reason"), Some(&json!("too-deep")));
    }
}
