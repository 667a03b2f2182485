//! Settings of formulas that are declared as data: defaults, ranges, and what their names stand for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::build_error::BuildError;
use crate::code::Code;
use crate::formula::{Axis, Formula, FormulaError, FormulaScope, Frame, MISSING, Setting};
use crate::from_value::{self, from_value};
use crate::schedule::Schedule;

/// What a setting is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingKind {
    /// A number.
    #[default]
    Number,
    /// A whole number from 0 on.
    Integer,
    /// True or false: 1 or 0 in the formula.
    Flag,
    /// A number, or a number that changes with the training step.
    Schedule,
    /// Two numbers, the lower one first: `NAME.low` and `NAME.high` in the formula.
    Range,
    /// Two numbers: `NAME.first` and `NAME.second` in the formula.
    Pair,
    /// One of `words`.
    Word,
    /// The name of another reward, whose number the formula reads.
    Reward,
    /// The name of a value that the trainer measures.
    Value,
    /// The name of a column of the rows.
    Column,
    /// A number, or the name of the column that holds it.
    Amount,
    /// A table of settings that the place of the formula reads: the names there depend on it.
    Table,
}

/// A setting of a recipe.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SettingSpec {
    /// What it does.
    pub about: String,
    /// What it is.
    #[serde(default, rename = "type")]
    pub kind: SettingKind,
    /// Without one it must be given, unless it is `optional`.
    pub default: Option<Value>,
    /// It may be left out: the formula finds it missing.
    #[serde(default)]
    pub optional: bool,
    /// The least that it may be.
    pub min: Option<f64>,
    /// It must be more.
    pub above: Option<f64>,
    /// The most that it may be.
    pub max: Option<f64>,
    /// The words that it may be, each with what it means.
    #[serde(default)]
    pub words: BTreeMap<String, String>,
}

/// Settings that are refused.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedSettings {
    /// A formula of the settings.
    pub when: String,
    /// The setting at fault.
    pub setting: String,
    /// What is wrong. Settings in braces are filled in.
    pub why: String,
}

/// Settings that were read.
#[derive(Clone, Debug, Default)]
pub struct Bound {
    /// All of them, with every default filled in.
    pub filled: Map<String, Value>,
    /// What their names stand for in the formula, but for schedules.
    pub settings: Vec<(String, Setting)>,
    /// Those that change with the training step.
    pub schedules: Vec<(String, Schedule)>,
}

/// Reads settings by what a recipe declares.
///
/// # Errors
/// One that is unknown, missing, of another type, out of range, or refused beside the others.
pub fn bound(
    specs: &BTreeMap<String, SettingSpec>,
    refusals: &[RefusedSettings],
    given: &Map<String, Value>,
) -> Result<Bound, BuildError> {
    if let Some(key) = given.keys().find(|key| !specs.contains_key(*key)) {
        let error = BuildError::new(key.as_str(), format!("unknown key `{key}`"));
        return Err(error.code(Code::UnknownKey).expected(specs.keys()));
    }
    let mut bound = Bound::default();
    for (name, spec) in specs {
        let value = given.get(name).or(spec.default.as_ref()).filter(|value| !value.is_null());
        match value {
            Some(value) => spec.read(name, value, &mut bound)?,
            None if spec.optional => {
                bound.filled.insert(name.clone(), Value::Null);
                let names = match spec.kind {
                    SettingKind::Range => vec![format!("{name}.low"), format!("{name}.high")],
                    SettingKind::Pair => vec![format!("{name}.first"), format!("{name}.second")],
                    _ => vec![name.clone()],
                };
                bound.settings.extend(names.into_iter().map(|own| (own, Setting::Number(MISSING))));
            }
            None => {
                let error = BuildError::new(name, format!("missing key `{name}`"));
                return Err(error.code(Code::MissingKey));
            }
        }
    }
    for refusal in refusals {
        refusal.check(&bound)?;
    }
    Ok(bound)
}

impl SettingSpec {
    fn read(&self, name: &str, value: &Value, bound: &mut Bound) -> Result<(), BuildError> {
        let mut written = value.clone();
        let setting = match self.kind {
            SettingKind::Number => {
                let number = self.in_range(name, read::<f64>(name, value)?)?;
                written = json!(number);
                Setting::Number(number)
            }
            SettingKind::Integer => {
                Setting::Number(self.in_range(name, f64::from(read::<u32>(name, value)?))?)
            }
            SettingKind::Flag => Setting::Number(f64::from(u8::from(read::<bool>(name, value)?))),
            SettingKind::Schedule => return self.schedule(name, value, bound),
            SettingKind::Table => {
                bound.filled.insert(name.to_owned(), written);
                return Ok(());
            }
            SettingKind::Range => {
                let [low, high] = read::<[f64; 2]>(name, value)?;
                if low > high {
                    let why = format!("{name} goes from {low} to {high}, expected low to high");
                    return Err(BuildError::new(name, why));
                }
                bound.settings.push((format!("{name}.low"), Setting::Number(low)));
                bound.settings.push((format!("{name}.high"), Setting::Number(high)));
                bound.filled.insert(name.to_owned(), json!([low, high]));
                return Ok(());
            }
            SettingKind::Pair => {
                let [first, second] = read::<[f64; 2]>(name, value)?;
                let named = [("first", first), ("second", second)];
                let named =
                    named.map(|(own, number)| (format!("{name}.{own}"), Setting::Number(number)));
                bound.settings.extend(named);
                bound.filled.insert(name.to_owned(), json!([first, second]));
                return Ok(());
            }
            SettingKind::Word => {
                let word = read::<String>(name, value)?;
                if !self.words.contains_key(&word) {
                    let error =
                        BuildError::new(name, format!("\"{word}\" is not a word of `{name}`"));
                    return Err(error.code(Code::UnknownWord).expected(self.words.keys()));
                }
                Setting::Word(word)
            }
            SettingKind::Reward => {
                Setting::Name(format!("rewards.{}", read::<String>(name, value)?))
            }
            SettingKind::Value => Setting::Name(format!("state.{}", read::<String>(name, value)?)),
            SettingKind::Column => Setting::Name(format!("meta.{}", read::<String>(name, value)?)),
            SettingKind::Amount => {
                if let Value::String(column) = value {
                    Setting::Name(format!("meta.{column}"))
                } else {
                    let number = self.in_range(name, read::<f64>(name, value)?)?;
                    written = json!(number);
                    Setting::Number(number)
                }
            }
        };
        bound.filled.insert(name.to_owned(), written);
        bound.settings.push((name.to_owned(), setting));
        Ok(())
    }

    fn schedule(&self, name: &str, value: &Value, bound: &mut Bound) -> Result<(), BuildError> {
        let schedule: Schedule = read_as(name, value)?;
        let (low, high) = schedule.bounds();
        self.in_range(name, low)?;
        self.in_range(name, high)?;
        bound.filled.insert(name.to_owned(), Value::from(schedule.clone()));
        match schedule.constant() {
            Some(number) => bound.settings.push((name.to_owned(), Setting::Number(number))),
            None => bound.schedules.push((name.to_owned(), schedule)),
        }
        Ok(())
    }

    fn in_range(&self, name: &str, value: f64) -> Result<f64, BuildError> {
        let refuse = |expected: String| {
            Err(BuildError::new(name, format!("{name} is {value}, expected {expected}")))
        };
        match (self.min, self.above, self.max) {
            (Some(min), _, Some(max)) if !(min..=max).contains(&value) => {
                refuse(format!("{min} to {max}"))
            }
            (Some(min), _, _) if value < min || value.is_nan() => refuse(format!("{min} or more")),
            (_, Some(above), _) if value <= above || value.is_nan() => {
                refuse(format!("more than {above}"))
            }
            (_, _, Some(max)) if value > max || value.is_nan() => refuse(format!("{max} or less")),
            _ => Ok(value),
        }
    }

    /// The JSON Schema of the setting.
    pub fn schema(&self) -> Value {
        let number = |kind: &str| {
            let mut schema = json!({ "type": kind });
            let bounds =
                [("minimum", self.min), ("exclusiveMinimum", self.above), ("maximum", self.max)];
            for (key, bound) in bounds {
                if let (Some(bound), Some(members)) = (bound, schema.as_object_mut()) {
                    members.insert(key.to_owned(), json!(bound));
                }
            }
            schema
        };
        let mut schema = match self.kind {
            SettingKind::Number => number("number"),
            SettingKind::Integer => number("integer"),
            SettingKind::Flag => json!({ "type": "boolean" }),
            SettingKind::Schedule => json!({ "type": ["number", "object"] }),
            SettingKind::Range | SettingKind::Pair => {
                json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 })
            }
            SettingKind::Word => {
                let word = |(word, about): (&String, &String)| json!({ "const": word, "description": about });
                json!({ "oneOf": self.words.iter().map(word).collect::<Vec<_>>() })
            }
            SettingKind::Reward | SettingKind::Value | SettingKind::Column => {
                json!({ "type": "string" })
            }
            SettingKind::Amount => json!({ "type": ["number", "string"] }),
            SettingKind::Table => json!({ "type": "object" }),
        };
        if self.optional {
            schema = json!({ "anyOf": [schema, { "type": "null" }] });
        }
        if let Some(members) = schema.as_object_mut() {
            members.insert("description".to_owned(), self.about.trim().into());
            if let Some(default) = &self.default {
                members.insert("default".to_owned(), default.clone());
            }
        }
        schema
    }
}

impl RefusedSettings {
    fn check(&self, bound: &Bound) -> Result<(), BuildError> {
        let wrong = |error: FormulaError| {
            BuildError::new(&self.setting, format!("refuse: {error}")).code(Code::Internal)
        };
        let mut settings = bound.settings.clone();
        // Only the settings that the condition names are its settings.
        settings.retain(|(name, _)| mentions(&self.when, name));
        let scope =
            FormulaScope::new::<String, _>([], [("refuse", Axis::Number)]).settings(settings);
        let formula = Formula::compile(&self.when, &scope).map_err(wrong)?;
        let frame = Frame::new(Vec::new(), Vec::new(), Vec::new());
        let refused =
            formula.run(&frame).ok().and_then(|values| values.output("refuse")?.first().copied());
        if refused.is_none_or(|refused| refused == 0.0 || refused.is_nan()) {
            return Ok(());
        }
        let mut why = self.why.clone();
        for (name, value) in &bound.filled {
            why = why.replace(&format!("{{{name}}}"), &shown(value));
        }
        Err(BuildError::new(&self.setting, why).code(Code::BadValue))
    }
}

/// Whether a formula names something.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_' || char == '.';
    text.split(|char| !is_word(char)).any(|word| word == name)
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |own| own.to_string())
        }
        other => other.to_string(),
    }
}

fn read<T: serde::de::DeserializeOwned>(name: &str, value: &Value) -> Result<T, BuildError> {
    from_value(value).map_err(|error| error.within(name))
}

fn read_as<T: serde::de::DeserializeOwned + schemars::JsonSchema>(
    name: &str,
    value: &Value,
) -> Result<T, BuildError> {
    from_value::read(value).map_err(|error| error.within(name))
}
