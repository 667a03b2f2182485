//! Tools, and a small subset of JSON Schema for their arguments.

use serde_json::{Map, Value as Json};

use crate::call::Call;
use crate::value::DEPTH_MAX;
use crate::value::{Equality, Value};

/// A tool that may be called.
#[derive(Clone, Copy, Debug)]
pub struct Tool<'r> {
    /// Its name.
    pub name: &'r str,
    /// The schema of its arguments.
    pub schema: &'r Map<String, Json>,
}

/// The tools of a list, in the shapes of `OpenAI` (`{type, function: {name, parameters}}`), of
/// Anthropic (`input_schema`) and of BFCL (`{name, parameters}`). `None` where it is no such list.
pub fn tools(list: &Json) -> Option<Vec<Tool<'_>>> {
    let one = std::slice::from_ref(list);
    let list = list.as_array().map_or(one, Vec::as_slice);
    list.iter()
        .map(|tool| {
            let tool = tool.get("function").filter(|inner| inner.is_object()).unwrap_or(tool);
            let name = tool.get("name")?.as_str()?;
            let schema = tool.get("parameters").or_else(|| tool.get("input_schema"))?;
            Some(Tool { name, schema: schema.as_object()? })
        })
        .collect()
}

/// What is wrong with a call by the schema of its tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// `unknown-tool`, `missing`, `unknown-argument`, `unnamed-argument`, `type`, `enum`, `range`,
    /// `depth`.
    pub rule: &'static str,
    /// The argument, as a path from the call.
    pub path: String,
}

/// Gives text of tags (`5`, `true`) the types of the schema. Linear in the calls.
pub fn resolve(calls: &mut [Call], tools: &[Tool<'_>]) {
    for call in calls {
        let Some(tool) = tools.iter().find(|tool| tool.name == call.name) else { continue };
        for (name, value) in call.arguments.values_mut() {
            let property = tool.schema.get("properties").and_then(|all| all.get(name));
            if let (Value::Raw(raw), Some(property)) = (&*value, property) {
                let is_text =
                    is_type(property.get("type"), &Value::Text(String::new())) == Some(true);
                let own = if is_text { None } else { crate::equal::typed(raw) };
                *value = own.unwrap_or_else(|| Value::Text(raw.clone()));
            }
        }
    }
}

/// Checks a call against its tool: `type` (of JSON and of BFCL), `enum`, `const`, `properties`,
/// `required`, `additionalProperties`, `items`, `anyOf`, `oneOf` (as `anyOf`), `minimum`,
/// `maximum`. Other keywords say nothing. An argument that the schema does not name is wrong unless
/// `additionalProperties` allows it. `pay` is asked for each step.
///
/// # Errors
/// What `pay` refuses.
pub fn check<E>(
    call: &Call,
    tools: &[Tool<'_>],
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Option<Violation>, E> {
    let wrong = |rule, path: &str| Ok(Some(Violation { rule, path: path.to_owned() }));
    pay(tools.len() as u64)?;
    let Some(tool) = tools.iter().find(|tool| tool.name == call.name) else {
        return wrong("unknown-tool", &call.name);
    };
    if !call.positional.is_empty() {
        return wrong("unnamed-argument", "");
    }
    let mut walk = Walk { pay, path: String::new() };
    let members: Vec<(&str, &Value)> = call.arguments.iter().collect();
    let rule = walk.members(&members, tool.schema, false, DEPTH_MAX)?;
    Ok(rule.map(|rule| Violation { rule, path: walk.path }))
}

struct Walk<'p, E> {
    pay: &'p mut dyn FnMut(u64) -> Result<(), E>,
    /// Where the first wrong value stands.
    path: String,
}

/// The rule that is broken.
type Broken = Option<&'static str>;

impl<E> Walk<'_, E> {
    fn members(
        &mut self,
        members: &[(&str, &Value)],
        schema: &Map<String, Json>,
        is_open: bool,
        depth: usize,
    ) -> Result<Broken, E> {
        let required = schema.get("required").and_then(Json::as_array);
        (self.pay)(1 + (members.len() * (1 + required.map_or(0, Vec::len))) as u64)?;
        let names = required.into_iter().flatten().filter_map(Json::as_str);
        for name in names {
            if !members.iter().any(|(have, _)| *have == name) {
                return Ok(Some(self.at(name, "missing")));
            }
        }
        let properties = schema.get("properties").and_then(Json::as_object);
        let additional = schema.get("additionalProperties");
        for (name, value) in members {
            let property = properties.and_then(|all| all.get(*name));
            let broken = match (property, additional) {
                (Some(property), _) => self.value(value, property, depth)?,
                (None, Some(Json::Bool(false))) => Some("unknown-argument"),
                (None, Some(Json::Bool(true))) => None,
                (None, Some(other)) => self.value(value, other, depth)?,
                (None, None) if is_open || properties.is_none() => None,
                (None, None) => Some("unknown-argument"),
            };
            if let Some(rule) = broken {
                return Ok(Some(self.at(name, rule)));
            }
        }
        Ok(None)
    }

    /// Notes a step of the path.
    fn at(&mut self, name: &str, rule: &'static str) -> &'static str {
        let rest = std::mem::take(&mut self.path);
        self.path = if rest.is_empty() { name.to_owned() } else { [name, ".", &rest].concat() };
        rule
    }

    fn value(&mut self, value: &Value, schema: &Json, depth: usize) -> Result<Broken, E> {
        let Some(schema) = schema.as_object() else {
            return Ok((*schema == Json::Bool(false)).then_some("type"));
        };
        let Some(depth) = depth.checked_sub(1) else { return Ok(Some("depth")) };
        (self.pay)(1 + schema.len() as u64)?;
        if is_type(schema.get("type"), value) == Some(false) {
            return Ok(Some("type"));
        }
        let fixed = schema.get("const").map(std::slice::from_ref);
        let listed = fixed.or_else(|| Some(schema.get("enum")?.as_array()?.as_slice()));
        if let Some(listed) = listed {
            (self.pay)(listed.len() as u64 * value.size())?;
            if !listed.iter().any(|other| value.is(other, Equality::Json)) {
                return Ok(Some("enum"));
            }
        }
        let bound = |name: &str| schema.get(name).and_then(Json::as_f64);
        if let Some(number) = value.as_f64()
            && (bound("minimum").is_some_and(|least| number < least)
                || bound("maximum").is_some_and(|most| number > most))
        {
            return Ok(Some("range"));
        }
        for key in ["anyOf", "oneOf"] {
            let mut options =
                schema.get(key).and_then(Json::as_array).into_iter().flatten().peekable();
            let mut broken = options.peek().map(|_| "type");
            while let (Some(_), Some(option)) = (broken, options.next()) {
                broken = self.value(value, option, depth)?;
                self.path.clear();
            }
            if broken.is_some() {
                return Ok(broken);
            }
        }
        match value {
            Value::Object(own) => {
                let members: Vec<(&str, &Value)> = own.iter().collect();
                self.members(&members, schema, true, depth)
            }
            Value::List(elements) | Value::Tuple(elements) => {
                let Some(items) = schema.get("items") else { return Ok(None) };
                for (at, element) in elements.iter().enumerate() {
                    if let Some(rule) = self.value(element, items, depth)? {
                        return Ok(Some(self.at(&at.to_string(), rule)));
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}

/// Whether a value has a type of a schema, or one of several. `None` where the schema names none.
fn is_type(types: Option<&Json>, value: &Value) -> Option<bool> {
    let one = |word: &str| match word {
        "string" | "str" | "String" | "char" => matches!(value, Value::Text(_) | Value::Raw(_)),
        "integer" | "int" | "long" | "short" | "byte" | "Bigint" => match value {
            Value::Int(_) | Value::Big(_) => true,
            Value::Float(number) => number.fract() == 0.0,
            _ => false,
        },
        "number" | "float" | "double" => {
            matches!(value, Value::Int(_) | Value::Big(_) | Value::Float(_))
        }
        "boolean" | "bool" | "Boolean" => matches!(value, Value::Bool(_)),
        "array" | "list" | "tuple" | "Array" | "ArrayList" => value.as_list().is_some(),
        "object" | "dict" | "HashMap" => matches!(value, Value::Object(_)),
        "null" => matches!(value, Value::Null),
        // `any`, and words of other languages.
        _ => true,
    };
    match types? {
        Json::String(word) => Some(one(word)),
        Json::Array(words) => Some(words.iter().filter_map(Json::as_str).any(one)),
        _ => None,
    }
}
