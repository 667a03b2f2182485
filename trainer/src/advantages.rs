//! Advantages: what a rollout earned, relative to the other rollouts of its batch.
//!
//! A kind of estimator is one file: its settings are the fields of its type, its doc comment is the
//! formula and its source, and its tests are worked by hand. A new one needs its file and a line here.

pub mod batch;
pub mod conventions;
mod formula;
pub mod per_group;
mod prelude;
pub mod steps;
#[cfg(test)]
pub(crate) mod testing;
pub mod tokens;

use assay_verifiers::BuildError;
use assay_verifiers::code::Code;
use assay_verifiers::recipe::{self, RecipePlace};
use serde_json::{Map, Value};

pub use batch::{
    AdvantageValues, Advantages, Estimator, EstimatorState, GroupReport, PolicyTokens, RewardBatch,
    RewardPart, StepReward,
};
use conventions::EstimatorSettings;
use formula::FormulaEstimator;
pub use formula::recipe_schema;

pub use crate::config::AdvantageConfig;
use crate::error::TrainerError;
use crate::formula::{FORMULA, built};
use crate::presets;

/// Builds an estimator from its settings.
pub type BuildEstimator = fn(Map<String, Value>) -> Result<Box<dyn Estimator>, TrainerError>;

/// What is known of a kind of estimator without building it.
pub struct EstimatorInfo {
    /// The name by which a configuration says it.
    pub kind: &'static str,
    /// Builds it from its settings.
    pub build: BuildEstimator,
    /// The JSON Schema of its settings; the `description` is its manual page.
    pub schema: fn() -> schemars::Schema,
}

/// Declares the modules and lists the kinds.
macro_rules! estimators {
    ($($kind:literal => $module:ident :: $estimator:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// Every kind of estimator.
        pub static ALL: &[EstimatorInfo] = &[$(EstimatorInfo {
            kind: $kind,
            build: build_one::<$module::$estimator>,
            schema: || schemars::schema_for!($module::$estimator),
        }),+];
    };
}

estimators! {
    "advantage_alignment" => advantage_alignment::AdvantageAlignment,
    "dcpo" => dcpo::Dcpo,
    "gae" => gae::Gae,
    "gdpo" => gdpo::Gdpo,
    "grpo" => grpo::Grpo,
    "optimal_token_baseline" => optimal_token_baseline::OptimalTokenBaseline,
    "process" => process::ProcessSupervision,
    "reinforce_plus_plus" => reinforce_plus_plus::ReinforcePlusPlus,
    "reinforce_plus_plus_baseline" => reinforce_plus_plus_baseline::ReinforcePlusPlusBaseline,
    "remax" => remax::ReMax,
    "spiral" => spiral::Spiral,
    "stcr" => stcr::Stcr,
}

impl AdvantageConfig {
    /// The estimator.
    ///
    /// ```
    /// use assay_trainer::advantages::AdvantageConfig;
    /// use assay_trainer::{Groups, advantages::{AdvantageValues, RewardBatch}};
    ///
    /// let config: AdvantageConfig = toml::from_str("kind = \"dr_grpo\"").unwrap();
    /// let groups = Groups::of_size(2, 2).unwrap();
    /// let batch = RewardBatch::new(&groups, &[1.0, 0.0]).unwrap();
    /// let advantages = config.build().unwrap().estimate(&batch).unwrap();
    /// assert_eq!(advantages.values, AdvantageValues::Rollouts(vec![0.5, -0.5]));
    /// ```
    ///
    /// # Errors
    /// Those of [`build`].
    pub fn build(&self) -> Result<Box<dyn Estimator>, TrainerError> {
        build(presets::table_of(self.kind.as_ref(), self.preset.as_ref(), &self.settings))
    }
}

/// The estimator of a table: its `kind`, the `preset` that fills in settings, and the settings.
///
/// # Errors
/// An unknown kind or preset; a setting that is unknown, of another type or out of range.
pub fn build(mut given: Map<String, Value>) -> Result<Box<dyn Estimator>, TrainerError> {
    if let Some(recipe) = given.remove("recipe") {
        given.insert("kind".to_owned(), recipe);
    }
    let (kind, settings) = presets::filled("advantage", given)?;
    let Some(info) = ALL.iter().find(|info| info.kind == kind) else {
        let build = FormulaEstimator::new;
        if let Some(own) = built(RecipePlace::Advantage, &kind, &settings, build)? {
            return Ok(Box::new(own));
        }
        let error = BuildError::new("kind", format!("no advantage is called \"{kind}\""));
        let recipes = recipe::of(RecipePlace::Advantage).map(|recipe| recipe.id.as_str());
        let kinds = ALL.iter().map(|info| info.kind).chain(recipes).chain([FORMULA]);
        return Err(error.code(Code::UnknownWord).expected(kinds).into());
    };
    (info.build)(settings)
}

fn build_one<E: EstimatorSettings>(
    settings: Map<String, Value>,
) -> Result<Box<dyn Estimator>, TrainerError> {
    let estimator: E = assay_verifiers::check::settings(Value::Object(settings))?;
    estimator.check()?;
    Ok(Box::new(estimator))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_every_setting_has_a_manual_page() {
        let described = |value: &Value| value.get("description").is_some();
        for info in ALL {
            let schema = (info.schema)();
            assert!(described(schema.as_value()), "{}", info.kind);
            let settings = schema.as_value().get("properties").and_then(Value::as_object);
            for (name, setting) in settings.into_iter().flatten() {
                assert!(described(setting), "{}: {name}", info.kind);
            }
            assert_eq!(
                schema.get("additionalProperties"),
                Some(&Value::Bool(false)),
                "{}",
                info.kind
            );
        }
        assert!(ALL.is_sorted_by_key(|info| info.kind));
    }

    #[test]
    fn every_table_of_a_preset_builds() {
        for (preset, text) in presets::ALL {
            let rooms: Map<String, Value> = toml::from_str(text).unwrap();
            let Some(kinds) = rooms.get("advantage").and_then(Value::as_object) else { continue };
            let default = AdvantageConfig { preset: Some((*preset).into()), ..Default::default() };
            assert!(default.build().is_ok(), "{preset}");
            for kind in kinds.keys().filter(|key| *key != "kind") {
                let config = AdvantageConfig { kind: Some(kind.clone()), ..default.clone() };
                let built = config.build();
                assert!(built.is_ok(), "{preset}, {kind}: {:?}", built.err());
            }
        }
    }

    #[test]
    fn a_formula_leaves_rollouts_out_or_fails() {
        let table = |call: &str| {
            format!("kind = 'formula'\nformula = '{call}(r < 0, \"lost\"); r - mean(r)'")
        };
        assert_eq!(testing::rollouts(&table("skip"), &[1.0, -1.0, 3.0], 3), [0.0, 0.0, 2.0]);
        let groups = crate::Groups::of_size(2, 2).unwrap();
        let config: AdvantageConfig = toml::from_str(&table("fail")).unwrap();
        let batch = RewardBatch::new(&groups, &[1.0, -1.0]).unwrap();
        let error = config.build().unwrap().estimate(&batch).unwrap_err().to_string();
        assert!(error.contains("row 1: lost"), "{error}");
    }

    #[test]
    fn a_table_is_read_and_written() {
        let text = "kind = \"grpo\"\npreset = \"verl-0.9\"\neps = 0.5\n";
        let config: AdvantageConfig = toml::from_str(text).unwrap();
        assert_eq!(toml::to_string(&config).unwrap(), text);
        assert_eq!(config.settings.get("eps"), Some(&Value::from(0.5)));
        assert_eq!(
            AdvantageConfig::default().build().err().map(|e| e.to_string()).unwrap_or_default(),
            "neither `kind` nor `preset` is given"
        );
    }
}
