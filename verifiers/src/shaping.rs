//! The kinds of shaping, one file each. A new one needs its file, its fixture file and one word here.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::check::{BuildError, Files};
use crate::checks::VerifierInfo;
use crate::code::Code;
use crate::from_value;
use crate::shape::{BuiltShape, Shape};

/// A kind of shaping, as the registry knows it.
pub struct ShapeEntry {
    /// What is known of it: its id is its kind.
    pub about: VerifierInfo,
    /// Builds it from its settings, without `kind`.
    pub build: fn(Value, &dyn Files) -> Result<BuiltShape, BuildError>,
    /// The JSON Schema of its settings inside a larger one.
    settings: fn(&mut SchemaGenerator) -> Schema,
}

impl ShapeEntry {
    const fn of<S: Shape>(fixtures: &'static str) -> Self {
        Self {
            about: VerifierInfo::new::<S>(S::KIND, 1, fixtures),
            build: crate::shape::build::<S>,
            settings: <S as JsonSchema>::json_schema,
        }
    }
}

/// Declares the modules and lists the kinds. A module, its file, its fixture file and its kind share
/// one name.
macro_rules! shapes {
    ($($module:ident :: $shape:ident),+ $(,)?) => {
        $(mod $module;)+

        /// Every kind of shaping, in the order of its name.
        pub static ALL: &[ShapeEntry] = &[$(ShapeEntry::of::<$module::$shape>(include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"), "/../fixtures/shaping/", stringify!($module), ".toml"
        )))),+];
    };
}

shapes! {
    aalc::Aalc,
    affine::Affine,
    clip::Clip,
    conditional_length::ConditionalLength,
    contrast_stretch::ContrastStretch,
    cosine_length::CosineLength,
    fallback::Fallback,
    gate::Gate,
    group_rank::GroupRank,
    group_zscore::GroupZscore,
    l1_exact::L1Exact,
    l1_max::L1Max,
    length_band::LengthBand,
    normalise::Normalise,
    normalise_running::NormaliseRunning,
    overlong::Overlong,
    potential::Potential,
    renorm::Renorm,
    repetition_ngrams::RepetitionNgrams,
    repetition_windows::RepetitionWindows,
    saturation::Saturation,
    search_bonus::SearchBonus,
    search_penalty::SearchPenalty,
    state_weight::StateWeight,
    stcr::Stcr,
    step_clip::StepClip,
    step_delta::StepDelta,
    step_min_form::StepMinForm,
    step_return::StepReturn,
    stop_properly::StopProperly,
    synergy::Synergy,
    tool_calls::ToolCalls,
    trust::Trust,
    turn_thrift::TurnThrift,
}

/// The kind of shaping called `kind`.
pub fn find(kind: &str) -> Option<&'static ShapeEntry> {
    ALL.iter().find(|entry| entry.about.id == kind)
}

/// Builds a shape from an entry of a configuration: a table of `kind` and its settings.
///
/// # Errors
/// No kind, one that is not known, or what the kind refuses. The setting is a path inside the table.
pub fn build(entry: Value, files: &dyn Files) -> Result<BuiltShape, BuildError> {
    let kinds = || ALL.iter().map(|entry| entry.about.id);
    let Value::Object(mut settings) = entry else {
        let found = from_value::shown(&entry);
        let error = BuildError::new("", format!("expected a table with a kind, found {found}"));
        return Err(error.code(Code::WrongType));
    };
    let kind = match settings.remove("kind") {
        Some(Value::String(kind)) => kind,
        Some(other) => {
            let found = from_value::shown(&other);
            let error = BuildError::new("kind", format!("expected a string, found {found}"));
            return Err(error.code(Code::WrongType).expected(kinds()));
        }
        None => {
            let error = BuildError::new("kind", "missing key `kind`");
            return Err(error.code(Code::MissingKey).expected(kinds()));
        }
    };
    let entry = find(&kind).ok_or_else(|| {
        let error = BuildError::new("kind", format!("no shape is called \"{kind}\""));
        error.code(Code::UnknownWord).expected(kinds())
    })?;
    (entry.build)(Value::Object(settings), files)
}

/// The JSON Schema of an entry of `shape`: one of the kinds, each with its settings.
pub fn schema(generator: &mut SchemaGenerator) -> Schema {
    let kinds: Vec<Schema> = ALL.iter().map(|entry| kind_schema(entry, generator)).collect();
    json_schema!({ "description": "How a reward is shaped.", "oneOf": kinds })
}

fn kind_schema(entry: &ShapeEntry, generator: &mut SchemaGenerator) -> Schema {
    let mut schema = (entry.settings)(generator);
    let kind = json!({ "const": entry.about.id });
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

    #[test]
    fn the_kinds_are_named_where_one_is_not_known() {
        let refused = |entry: Value| build(entry, &NoFiles).err().expect("refused");
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
            let error = build(entry.clone(), &NoFiles).err().expect("refused");
            assert_eq!(error.setting, at, "{entry}: {error}");
        }
    }

    #[test]
    fn settings_are_shown_with_their_defaults() {
        let built =
            build(json!({"kind": "overlong", "max": 100, "cache": 10}), &NoFiles).ok().unwrap();
        assert_eq!(built.kind, "overlong");
        assert_eq!(built.settings["kind"], "overlong");
        assert_eq!(built.settings["max"], 100);
        assert_eq!(built.settings["factor"], 1.0);
        let again = build(built.settings.clone(), &NoFiles).ok().unwrap();
        assert_eq!(again.settings, built.settings);
    }

    #[test]
    fn names_are_sorted_and_every_kind_and_setting_has_docs() {
        assert!(ALL.is_sorted_by(|one, next| one.about.id < next.about.id));
        for entry in ALL {
            assert_eq!(entry.about.documented(), Ok(()));
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
        assert_eq!(kinds.len(), ALL.len());
        for (kind, entry) in kinds.iter().zip(ALL) {
            assert_eq!(kind["properties"]["kind"]["const"], entry.about.id);
            assert_eq!(kind["required"][0], "kind");
        }
    }
}
