//! The kinds of shaping. One that is a formula is a recipe; a file here is for search, texts and state. A
//! new one needs its file, its fixture file and one word here.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::build_error::BuildError;
use crate::check::Files;
use crate::code::Code;
use crate::from_value;
use crate::recipe::settings::{self, Bound, mentions};
use crate::recipe::{self, Recipe, RecipePlace};
use crate::shape::formula::{
    CALLS, CALLS_KEYS, ConfiguredLength, LENGTH_KEYS, ShapeFormula, built_of, length_of,
};
use crate::shape::length::CompletionLength;
use crate::shape::tool_use::ToolUse;
use crate::shape::{BuiltShape, Shape};

/// A kind of shaping.
#[derive(Clone, Copy)]
pub struct ShapeEntry {
    /// The word by which a configuration names it.
    pub kind: &'static str,
    maker: Maker,
}

#[derive(Clone, Copy)]
enum Maker {
    Kind {
        build: fn(Value, &dyn Files) -> Result<BuiltShape, BuildError>,
        schema: fn(&mut SchemaGenerator) -> Schema,
    },
    Recipe(&'static Recipe),
}

impl ShapeEntry {
    const fn of<S: Shape>() -> Self {
        let maker =
            Maker::Kind { build: crate::shape::build::<S>, schema: <S as JsonSchema>::json_schema };
        Self { kind: S::KIND, maker }
    }

    /// Builds it from its settings, without `kind`. `rewards` are the names that a formula may read.
    ///
    /// # Errors
    /// A setting that is unknown, of another type or out of range.
    pub fn build(
        &self,
        settings: Map<String, Value>,
        files: &dyn Files,
        rewards: &[&str],
    ) -> Result<BuiltShape, BuildError> {
        match self.maker {
            Maker::Kind { build, .. } => build(Value::Object(settings), files),
            Maker::Recipe(recipe) => of_recipe(recipe, settings, files, rewards),
        }
    }

    /// Whether it is a recipe.
    pub fn is_recipe(&self) -> bool {
        matches!(self.maker, Maker::Recipe(_))
    }

    /// The JSON Schema of its settings; the `description` is its manual page.
    pub fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        match self.maker {
            Maker::Kind { schema, .. } => schema(generator),
            Maker::Recipe(recipe) => {
                let mut schema = recipe.schema();
                let source = recipe.formula.as_deref().unwrap_or_default();
                let length = ("length", CompletionLength::json_schema(generator));
                let measures = [length, (CALLS, ToolUse::json_schema(generator))];
                for (_, own) in measures.iter().filter(|(name, _)| mentions(source, name)) {
                    let own = own.get("properties").and_then(Value::as_object);
                    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
                        properties.extend(own.cloned().unwrap_or_default());
                    }
                }
                schema
            }
        }
    }
}

/// Declares the modules and lists the kinds. A module, its file, its fixture file and its kind share
/// one name.
macro_rules! shapes {
    ($($module:ident :: $shape:ident),+ $(,)?) => {
        $(mod $module;)+

        static KINDS: &[ShapeEntry] = &[$(ShapeEntry::of::<$module::$shape>()),+];
    };
}

shapes! {
    contrast_stretch::ContrastStretch,
    group_zscore::GroupZscore,
    length_band::LengthBand,
    normalise_running::NormaliseRunning,
    potential::Potential,
    repetition_ngrams::RepetitionNgrams,
    repetition_windows::RepetitionWindows,
    search_penalty::SearchPenalty,
    stop_properly::StopProperly,
}

/// Every kind of shaping, in the order of its name.
pub fn all() -> Vec<ShapeEntry> {
    let recipes = recipe::of(RecipePlace::Shape).filter(|recipe| recipe.formula.is_some());
    let of =
        |recipe: &'static Recipe| ShapeEntry { kind: &recipe.id, maker: Maker::Recipe(recipe) };
    let mut all: Vec<ShapeEntry> = KINDS.iter().copied().chain(recipes.map(of)).collect();
    all.sort_by_key(|entry| entry.kind);
    all
}

/// The kind of shaping of this name, or of a recipe's number.
pub fn find(kind: &str) -> Option<ShapeEntry> {
    if let Some(entry) = KINDS.iter().find(|entry| entry.kind == kind) {
        return Some(*entry);
    }
    let recipe = recipe::find_in(RecipePlace::Shape, kind)?;
    recipe.formula.as_ref().map(|_| ShapeEntry { kind: &recipe.id, maker: Maker::Recipe(recipe) })
}

/// Builds a shape from an entry of a configuration: a table of `kind`, or `recipe`, and its settings.
/// `kind = "formula"` takes the `formula` itself. `rewards` are the names that a formula may read.
///
/// # Errors
/// No kind, one that is not known, or what the kind refuses. The setting is a path inside the table.
pub fn build(entry: Value, files: &dyn Files, rewards: &[&str]) -> Result<BuiltShape, BuildError> {
    let kinds = || all().into_iter().map(|entry| entry.kind).chain([FORMULA]);
    let Value::Object(mut settings) = entry else {
        let found = from_value::shown(&entry);
        let error = BuildError::new("", format!("expected a table with a kind, found {found}"));
        return Err(error.code(Code::WrongType));
    };
    let key = if settings.contains_key("kind") { "kind" } else { "recipe" };
    let kind = match settings.remove(key) {
        Some(Value::String(kind)) => kind,
        Some(other) => {
            let found = from_value::shown(&other);
            let error = BuildError::new(key, format!("expected a string, found {found}"));
            return Err(error.code(Code::WrongType).expected(kinds()));
        }
        None => {
            let error = BuildError::new("kind", "missing key `kind`");
            return Err(error.code(Code::MissingKey).expected(kinds()));
        }
    };
    if kind == FORMULA {
        return of_formula(settings, files, rewards);
    }
    let entry = find(&kind).ok_or_else(|| {
        let error = BuildError::new(key, format!("no shape is called \"{kind}\""));
        error.code(Code::UnknownWord).expected(kinds())
    })?;
    entry.build(settings, files, rewards)
}

/// The kind whose formula the configuration holds.
const FORMULA: &str = "formula";

fn of_formula(
    mut settings: Map<String, Value>,
    files: &dyn Files,
    rewards: &[&str],
) -> Result<BuiltShape, BuildError> {
    let source = match settings.remove(FORMULA) {
        Some(Value::String(source)) => source,
        Some(other) => {
            let found = from_value::shown(&other);
            let error = BuildError::new(FORMULA, format!("expected a string, found {found}"));
            return Err(error.code(Code::WrongType));
        }
        None => {
            let error = BuildError::new(FORMULA, "missing key `formula`");
            return Err(error.code(Code::MissingKey));
        }
    };
    let measure = taken(&mut settings);
    if let Some(key) = settings.keys().next() {
        let error = BuildError::new(key, format!("unknown key `{key}`"));
        return Err(error
            .code(Code::UnknownKey)
            .expected([FORMULA].into_iter().chain(LENGTH_KEYS).chain(CALLS_KEYS)));
    }
    let shape = ShapeFormula::new(&source, &Bound::default(), rewards)
        .map_err(|error| BuildError::from(error).within(FORMULA))?;
    let mut written = Map::new();
    written.insert(FORMULA.to_owned(), source.into());
    finished(FORMULA, shape, written, measure, files)
}

fn of_recipe(
    recipe: &'static Recipe,
    mut settings: Map<String, Value>,
    files: &dyn Files,
    rewards: &[&str],
) -> Result<BuiltShape, BuildError> {
    let measure = taken(&mut settings);
    let bound = settings::bound(&recipe.settings, &recipe.refuse, &settings)?;
    let source = recipe.formula.as_deref().unwrap_or_default();
    let shape = ShapeFormula::new(source, &bound, rewards).map_err(|error| {
        let why = format!("recipe \"{}\": {error}", recipe.id);
        BuildError { message: why, ..BuildError::from(error) }
    })?;
    finished(&recipe.id, shape, bound.filled, measure, files)
}

/// The settings that say how a length is measured, and what is a call.
fn taken(settings: &mut Map<String, Value>) -> [Map<String, Value>; 2] {
    [LENGTH_KEYS, CALLS_KEYS]
        .map(|keys| keys.iter().filter_map(|key| settings.remove_entry(*key)).collect())
}

fn finished(
    kind: &'static str,
    mut shape: ShapeFormula,
    mut written: Map<String, Value>,
    [length, calls]: [Map<String, Value>; 2],
    files: &dyn Files,
) -> Result<BuiltShape, BuildError> {
    let mut digests = Vec::new();
    for (given, name) in [(&length, "length"), (&calls, CALLS)] {
        if let Some(key) = given.keys().next().filter(|_| !shape.measures(name)) {
            let why = format!("`{key}` has no effect: the formula reads no `{name}`");
            return Err(BuildError::new(key, why).code(Code::NoEffect));
        }
    }
    if shape.measures("length") {
        let ConfiguredLength { length, settings, files } = length_of(length, files)?;
        (shape, digests) = (shape.measured(length), files);
        written.extend(settings);
    }
    if shape.measures(CALLS) {
        let calls: ToolUse = crate::check::settings(Value::Object(calls))?;
        if let Ok(Value::Object(settings)) = serde_json::to_value(&calls) {
            written.extend(settings);
        }
        shape = shape.counting(calls);
    }
    Ok(built_of(kind, shape, written, digests))
}

/// The JSON Schema of an entry of `shape`: one of the kinds, each with its settings.
pub fn schema(generator: &mut SchemaGenerator) -> Schema {
    let formula = json!({
        "type": "object",
        "description": "A formula of the configuration.",
        "properties": { FORMULA: { "type": "string", "description": "The formula." } },
        "required": [FORMULA],
    });
    let formula = Schema::try_from(formula).unwrap_or_default();
    let mut kinds = vec![with_kind(FORMULA, formula)];
    kinds.extend(all().iter().map(|entry| with_kind(entry.kind, entry.schema(generator))));
    json_schema!({ "description": "How a reward is shaped.", "oneOf": kinds })
}

fn with_kind(kind: &str, mut schema: Schema) -> Schema {
    let kind = json!({ "const": kind });
    let members = schema.ensure_object();
    if let Value::Object(properties) = members.entry("properties").or_insert_with(|| json!({})) {
        properties.insert("kind".to_owned(), kind);
    }
    if let Value::Array(required) = members.entry("required").or_insert_with(|| json!([])) {
        required.insert(0, Value::from("kind"));
    }
    schema
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

    use super::*;
    use crate::NoFiles;
    use crate::entry::documented;

    #[test]
    fn the_kinds_are_named_where_one_is_not_known() {
        let refused = |entry: Value| build(entry, &NoFiles, &[]).err().expect("refused");
        for (entry, code, setting, known) in [
            (json!({"kind": "overlog"}), Code::UnknownWord, "kind", "overlong"),
            (json!({}), Code::MissingKey, "kind", "overlong"),
            (json!({"kind": 3}), Code::WrongType, "kind", "overlong"),
            (json!({"kind": "overlong", "cachee": 3}), Code::UnknownKey, "cachee", "cache"),
        ] {
            let error = refused(entry);
            assert_eq!((error.code, &*error.setting), (code, setting), "{error}");
            assert!(error.expected.iter().any(|own| own == known), "{:?}", error.expected);
        }
        assert_eq!(refused(json!("overlong")).code, Code::WrongType);
    }

    #[test]
    fn a_setting_at_fault_is_named_wherever_it_is_defined() {
        for (entry, at) in [
            (json!({"kind": "overlong", "unit": "wrds"}), "unit"),
            (json!({"kind": "overlong", "tokenizer": 3}), "tokenizer"),
            (json!({"kind": "overlong", "max": "long"}), "max"),
            (json!({"kind": "overlong", "factor": {"kind": "linear"}}), "factor.from"),
            (json!({"kind": "tool_calls", "tags": "search"}), "tags"),
            (json!({"kind": "trust", "thinking": "t"}), "decay_steps"),
        ] {
            let error = build(entry.clone(), &NoFiles, &[]).err().expect("refused");
            assert_eq!(error.setting, at, "{entry}: {error}");
        }
    }

    #[test]
    fn settings_are_shown_with_their_defaults() {
        let built = build(json!({"kind": "overlong", "max": 100, "cache": 10}), &NoFiles, &[])
            .ok()
            .unwrap();
        assert_eq!(built.kind, "overlong");
        assert_eq!(built.settings["kind"], "overlong");
        assert_eq!(built.settings["max"], 100);
        assert_eq!(built.settings["factor"], 1.0);
        let again = build(built.settings.clone(), &NoFiles, &[]).ok().unwrap();
        assert_eq!(again.settings, built.settings);
    }

    #[test]
    fn names_are_sorted_and_every_kind_and_setting_has_docs() {
        assert!(KINDS.is_sorted_by(|one, next| one.kind < next.kind));
        for entry in all() {
            let schema = entry.schema(&mut SchemaGenerator::default());
            assert_eq!(documented(entry.kind, &schema), Ok(()));
        }
    }

    #[test]
    fn the_schema_lists_every_kind() {
        struct Entry;
        impl JsonSchema for Entry {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "Entry".into()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                schema(generator)
            }
        }
        let schema = schemars::schema_for!(Entry).to_value();
        let kinds = schema["oneOf"].as_array().unwrap();
        let names = ["formula"].into_iter().chain(all().into_iter().map(|entry| entry.kind));
        for (kind, name) in kinds.iter().zip(names) {
            assert_eq!(kind["properties"]["kind"]["const"], name);
            assert_eq!(kind["required"][0], "kind");
        }
    }
}
