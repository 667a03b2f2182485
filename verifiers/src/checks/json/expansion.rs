//! How much a schema is compiled to. `unevaluatedProperties` and `unevaluatedItems` are compiled with
//! everything that they look through, at each place again, so that references that double make few bytes
//! of a schema more than any memory holds.

use super::cost::LISTS;
use super::places::Places;
use crate::prelude::*;

/// The most parts that are compiled a second time.
const PARTS_MAX: usize = 20_000;
/// How deep parts may be within parts: each level is a call of the compiler.
const DEPTH_MAX: usize = 400;
/// Bytes of a text that take as much as a part does.
const TEXT_BYTES: usize = 32;

/// Rules that look at what no other rule of the same value evaluated.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];
/// The most resources (`$id`) within a schema: a reference from one to another is compiled once for each way
/// that leads to it.
const RESOURCES_MAX: usize = 24;
/// References.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Schemas for other places, which nothing compiles where they stand.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Refuses a schema that is compiled to too much.
///
/// The compiler is followed step by step: it keeps no part that it has finished, so neither can this.
pub(super) fn bounded(schema: &Value) -> Result<(), String> {
    let is_old = schema
        .get("$schema")
        .and_then(Value::as_str)
        .is_some_and(|draft| draft.contains("draft-04"));
    let resources = resources(schema, if is_old { "id" } else { "$id" });
    if resources > RESOURCES_MAX {
        return Err(format!("{resources} resources (`$id`) within it; at most {RESOURCES_MAX}"));
    }
    let (places, left) = (Places::of(schema), PARTS_MAX);
    let mut expansion = Expansion { places, left, depth: 0, open: Vec::new() };
    expansion.all(schema).ok_or_else(|| {
        format!(
            "its `unevaluatedProperties` and `unevaluatedItems` look through more than {PARTS_MAX} \
             parts, or through more than {DEPTH_MAX} within each other"
        )
    })
}

/// How many schemas have a name of their own, which stands under `key`.
fn resources(schema: &Value, key: &str) -> usize {
    match schema {
        Value::Object(rules) => {
            let own = usize::from(rules.get(key).is_some_and(Value::is_string));
            own + rules.values().map(|rule| resources(rule, key)).sum::<usize>()
        }
        Value::Array(schemas) => schemas.iter().map(|schema| resources(schema, key)).sum(),
        _ => 0,
    }
}

struct Expansion<'a> {
    places: Places<'a>,
    /// Parts that may still be compiled.
    left: usize,
    depth: usize,
    /// What is being compiled, for which of [`UNEVALUATED`]; a reference to it ends there.
    open: Vec<(*const Value, &'static str)>,
}

/// Goes through parts; `None` where there are too many.
impl<'a> Expansion<'a> {
    /// Everything, each part where it stands.
    fn all(&mut self, schema: &'a Value) -> Option<()> {
        match schema {
            Value::Object(rules) => {
                self.unevaluated(schema)?;
                rules.values().try_for_each(|rule| self.all(rule))
            }
            Value::Array(schemas) => schemas.iter().try_for_each(|schema| self.all(schema)),
            _ => Some(()),
        }
    }

    /// What the rules for what was not evaluated look through.
    fn unevaluated(&mut self, schema: &'a Value) -> Option<()> {
        let asks = |rule: &&&str| {
            let given = schema.get(**rule);
            given.is_some_and(|given| *given != Value::Bool(true))
        };
        UNEVALUATED.iter().filter(asks).try_for_each(|rule| self.seen_through(schema, rule))
    }

    /// A schema that such a rule looks through.
    fn seen_through(&mut self, schema: &'a Value, rule: &'static str) -> Option<()> {
        let Some(rules) = schema.as_object() else { return Some(()) };
        self.spend(1)?;
        self.deeper()?;
        self.open.push((std::ptr::from_ref(schema), rule));
        for (key, given) in rules {
            match given {
                Value::String(name) if REFERENCES.contains(&key.as_str()) => {
                    if let Some(named) = self.places.find(name)
                        && !self.open.contains(&(std::ptr::from_ref(named), rule))
                    {
                        self.seen_through(named, rule)?;
                    }
                }
                Value::Array(schemas) if LISTS.contains(&key.as_str()) => {
                    for schema in schemas {
                        self.compiled(schema)?;
                        self.seen_through(schema, rule)?;
                    }
                }
                given if ["if", "then", "else"].contains(&key.as_str()) => {
                    self.compiled(given)?;
                    self.seen_through(given, rule)?;
                }
                Value::Object(schemas) if key == "dependentSchemas" => {
                    schemas.values().try_for_each(|schema| self.seen_through(schema, rule))?;
                }
                Value::Object(named) if key == "properties" => {
                    self.spend(named.len())?;
                    named.keys().try_for_each(|name| self.spend_text(name))?;
                }
                given if key == "patternProperties" || key.starts_with("unevaluated") => {
                    self.compiled(given)?;
                }
                given if ["additionalProperties", "contains"].contains(&key.as_str()) => {
                    self.compiled(given)?;
                }
                _ => {}
            }
        }
        self.open.pop();
        self.depth -= 1;
        Some(())
    }

    /// A schema that is compiled as it stands; what it refers to is compiled once.
    fn compiled(&mut self, schema: &'a Value) -> Option<()> {
        self.spend(1)?;
        self.deeper()?;
        match schema {
            Value::Object(rules) => {
                self.unevaluated(schema)?;
                let mut own = rules.iter().filter(|(key, _)| !DEFINITIONS.contains(&key.as_str()));
                own.try_for_each(|(key, rule)| {
                    self.spend_text(key)?;
                    self.compiled(rule)
                })?;
            }
            Value::Array(schemas) => schemas.iter().try_for_each(|schema| self.compiled(schema))?,
            Value::String(text) => self.spend_text(text)?,
            _ => {}
        }
        self.depth -= 1;
        Some(())
    }

    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= DEPTH_MAX).then_some(())
    }

    fn spend_text(&mut self, text: &str) -> Option<()> {
        self.spend(text.len() / TEXT_BYTES)
    }

    fn spend(&mut self, parts: usize) -> Option<()> {
        self.left = self.left.checked_sub(parts)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    /// Steps that each refer to the next one as often as `times`, under a rule at each or at the first.
    fn chain(length: usize, times: usize, rule: &str, at_each: bool) -> Value {
        let step = |at: usize| {
            let next = json!({"$ref": format!("#/$defs/a{}", at + 1)});
            let mut step = json!({"allOf": vec![next; times]});
            if at_each || at == 0 {
                step[rule] = json!(false);
            }
            (format!("a{at}"), step)
        };
        let mut defs: Map<String, Value> = (0..length).map(step).collect();
        defs.insert(format!("a{length}"), json!({"properties": {"a": true}}));
        json!({"$defs": defs, "$ref": "#/$defs/a0"})
    }

    #[test]
    fn references_that_double_are_refused_before_they_are_compiled() {
        for rule in UNEVALUATED {
            for at_each in [false, true] {
                assert!(bounded(&chain(20, 2, rule, at_each)).is_err(), "{rule} {at_each}");
                assert!(bounded(&chain(6, 2, rule, at_each)).is_ok(), "{rule} {at_each}");
                assert!(bounded(&chain(20, 1, rule, at_each)).is_ok(), "{rule} {at_each}");
            }
            assert!(bounded(&chain(5_000, 1, rule, false)).is_err(), "{rule}");
        }
        assert!(bounded(&chain(5_000, 2, "title", true)).is_ok());
    }

    #[test]
    fn references_of_each_to_each_are_refused() {
        let all = |_| json!({"$ref": "#"});
        let each: Vec<Value> =
            (0..12).map(|at| json!({"$ref": format!("#/$defs/a{at}")})).collect();
        let defs: Map<String, Value> =
            (0..12).map(|at| (format!("a{at}"), json!({"anyOf": each}))).collect();
        let schema = json!({"$defs": defs, "anyOf": each, "unevaluatedProperties": false});
        assert!(bounded(&schema).is_err());
        let own: Vec<Value> = (0..100).map(all).collect();
        assert!(bounded(&json!({"allOf": own, "unevaluatedItems": false})).is_ok());
    }

    #[test]
    fn rules_within_rules_are_compiled_at_each_level_again() {
        let mut schema = json!({"properties": {"a": true}});
        for _ in 0..30 {
            schema = json!({"allOf": [schema], "unevaluatedProperties": false});
        }
        assert!(bounded(&schema).is_err());
    }
}
