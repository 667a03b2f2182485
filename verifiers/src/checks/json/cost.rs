//! How many rules a schema applies to a value: `$ref`s that double at every step, or that come back to
//! themselves, make few bytes of a schema apply more rules than anyone can wait for.

use std::collections::HashMap;

use super::places::Places;
use crate::prelude::*;

/// The most rules that are applied to one value.
pub(super) const RULES_MAX: u64 = 2_000_000;
/// How deep rules may apply rules.
const DEPTH_MAX: usize = 2_000;

/// Rules that are lists of schemas, for the same value.
pub(super) const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Rules that are a schema, for the same value.
pub(super) const SAME: [&str; 4] = ["not", "if", "then", "else"];
/// Rules that are schemas by name, for the same value.
pub(super) const NAMED: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Rules that are a schema or a list of them, for what is within the value.
pub(super) const WITHIN: [&str; 10] = assay_math::words::list(
    "items prefixItems additionalItems unevaluatedItems contains additionalProperties \
     unevaluatedProperties propertyNames contentSchema patternProperties",
);

/// How many rules a schema applies, and what was counted already.
pub(super) struct RuleCount<'a> {
    places: Places<'a>,
    /// By schema and value; 0 while it is being counted.
    counted: HashMap<(*const Value, *const Value), u64>,
    depth: usize,
}

impl<'a> RuleCount<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { places: Places::of(root), counted: HashMap::new(), depth: 0 }
    }

    /// How many rules `schema` applies to `value`, as if no rule ended early; at most just above
    /// [`RULES_MAX`].
    pub(super) fn of(&mut self, schema: &'a Value, value: &'a Value) -> u64 {
        let Some(rules) = schema.as_object() else { return 1 };
        let key = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        if let Some(known) = self.counted.get(&key) {
            return *known;
        }
        if self.depth >= DEPTH_MAX || self.counted.len() as u64 > RULES_MAX {
            return RULES_MAX + 1;
        }
        self.counted.insert(key, 0);
        self.depth += 1;
        let mut here = rules.len() as u64 + 1;
        let mut within = 0_u64;
        for (rule, given) in rules {
            match (rule.as_str(), given) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(name)) => {
                    if let Some(named) = self.places.find(name) {
                        here = here.saturating_add(self.of(named, value));
                    }
                }
                (rule, Value::Array(schemas)) if LISTS.contains(&rule) => {
                    here = here.saturating_add(self.of_all(schemas, value));
                }
                (rule, schema) if SAME.contains(&rule) => {
                    here = here.saturating_add(self.of(schema, value));
                }
                (rule, Value::Object(schemas)) if NAMED.contains(&rule) => {
                    here = here.saturating_add(self.of_all(schemas.values(), value));
                }
                ("properties", Value::Object(schemas)) => {
                    for (name, schema) in schemas {
                        if let Some(member) = value.get(name) {
                            within = within.saturating_add(self.of(schema, member));
                        }
                    }
                }
                ("patternProperties", Value::Object(schemas)) => {
                    for schema in schemas.values() {
                        within = within.saturating_add(self.of_members(schema, value));
                    }
                }
                (rule, Value::Array(schemas)) if WITHIN.contains(&rule) => {
                    for schema in schemas {
                        within = within.saturating_add(self.of_members(schema, value));
                    }
                }
                (rule, schema) if WITHIN.contains(&rule) => {
                    within = within.saturating_add(self.of_members(schema, value));
                }
                _ => {}
            }
        }
        // Whoever asks what was not evaluated goes through the rules of the same value once more, and
        // so does each such rule within them: phi squared times as often, at every level.
        if rules.contains_key("unevaluatedProperties") || rules.contains_key("unevaluatedItems") {
            here = here.saturating_mul(3);
        }
        self.depth -= 1;
        let all = here.saturating_add(within).min(RULES_MAX + 1);
        self.counted.insert(key, all);
        all
    }

    fn of_all(&mut self, schemas: impl IntoIterator<Item = &'a Value>, value: &'a Value) -> u64 {
        schemas.into_iter().fold(0, |all, schema| all.saturating_add(self.of(schema, value)))
    }

    fn of_members(&mut self, schema: &'a Value, value: &'a Value) -> u64 {
        let add = |all: u64, member: &'a Value| all.saturating_add(self.of(schema, member));
        match value {
            Value::Array(members) => members.iter().fold(0, add),
            Value::Object(members) => members.values().fold(0, add),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn rules(schema: &Value, value: &Value) -> u64 {
        RuleCount::new(schema).of(schema, value)
    }

    #[test]
    fn refs_that_double_are_counted_as_often_as_they_are_applied() {
        for rule in ["allOf", "anyOf", "oneOf"] {
            let step = |at: usize| {
                let next = json!({"$ref": format!("#/$defs/s{}", at + 1)});
                (format!("s{at}"), json!({rule: [next.clone(), next]}))
            };
            let mut defs: Map<String, Value> = (0..40).map(step).collect();
            defs.insert("s40".to_owned(), json!({"type": "object"}));
            let schema = json!({"$defs": defs, "$ref": "#/$defs/s0"});
            assert!(rules(&schema, &json!({})) > RULES_MAX, "{rule}");
        }
    }

    #[test]
    fn a_tree_costs_what_its_nodes_cost_and_a_doubled_one_does_not() {
        let mut tree = json!({});
        for _ in 0..60 {
            tree = json!({"a": tree});
        }
        let once = json!({"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}});
        assert!(rules(&once, &tree) < 500, "{}", rules(&once, &tree));
        let own = json!({"properties": {"a": {"$ref": "#"}}});
        let twice = json!({"allOf": [own, own]});
        assert!(rules(&twice, &tree) > RULES_MAX);
        let anchored = json!({"$defs": {"x": {"$anchor": "node", "allOf": [
            {"properties": {"a": {"$ref": "#node"}}}, {"properties": {"a": {"$ref": "#node"}}}]}},
            "$ref": "#node"});
        assert!(rules(&anchored, &tree) > RULES_MAX);
    }

    #[test]
    fn an_ordinary_schema_applies_few_rules() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "b": {"anyOf": [{"type": "null"}, {"type": "string"}]}}});
        let value = json!({"a": [1, 2, 3], "b": null});
        assert!(rules(&schema, &value) < 60, "{}", rules(&schema, &value));
        assert_eq!(rules(&json!({"$ref": "#"}), &json!(1)), 2);
    }
}
