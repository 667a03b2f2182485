//! Selection: which rollouts of a batch are trained on, which prompts need more of them, and what is
//! trained on again.
//!
//! A policy is a [`Selector`]: it is given the rollouts of a batch and what it kept from the batches
//! before, and answers with a [`Selection`]. A configuration names its kind and its settings:
//!
//! ```toml
//! [select]
//! kind = "dynamic"
//! batch_groups = 512
//! ```
//!
//! `kind = "chain"` puts policies one after another: `stages` is a list of such tables, and each stage
//! selects from what the one before has kept.

pub mod chain;
pub mod fill;
mod formula;
pub mod outcome;
pub mod policy;
mod prelude;
pub mod rollouts;
pub mod state;
pub mod usable;

pub(crate) mod draws;
#[cfg(test)]
mod filter_tests;
#[cfg(test)]
mod simulations;
pub(crate) mod stats;
#[cfg(test)]
pub(crate) mod testing;

pub use chain::SelectionChain;
pub use outcome::{
    DropReason, DroppedRollout, KeptRollout, ReplayedRollout, RolloutPair, RolloutRequest,
    Selection, StoredPart, StoredRollout,
};
pub use policy::{Selector, SelectorSettings};
pub use rollouts::{Attempt, RolloutBatch};
pub use state::{BufferedRollout, HeldGroup, ReplayBuffer, SelectionState};

use assay_verifiers::BuildError;
use assay_verifiers::code::Code;
use assay_verifiers::recipe::{self, RecipePlace};
use serde_json::{Map, Value};

use formula::FormulaSelector;

pub use crate::config::SelectConfig;
use crate::error::TrainerError;
use crate::formula::{FORMULA, built};
use crate::presets;

/// A kind of selection, as the registry knows it.
pub struct SelectorEntry {
    /// What a configuration calls it.
    pub kind: &'static str,
    /// The JSON Schema of its settings; the `description` is its manual page.
    pub schema: fn() -> schemars::Schema,
    build: fn(Value) -> Result<Box<dyn Selector>, TrainerError>,
}

/// Declares the modules and lists the kinds. A kind, its module and its file share one name.
macro_rules! kinds {
    ($($module:ident :: $selector:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// Every kind of selection but `chain`, which is made of others.
        pub static ALL: &[SelectorEntry] = &[$(SelectorEntry {
            kind: stringify!($module),
            schema: || schemars::schema_for!($module::$selector),
            build: build_kind::<$module::$selector>,
        }),+];
    };
}

kinds! {
    adaptive_dapo::AdaptiveSampling,
    dynamic::DynamicSampling,
    eframe::EframeReplay,
    hard_mining::HardMining,
    joyagents::TopGroups,
    limr::LimrFilter,
    pairs::PairSelection,
    pf_ppo::RewardResampling,
    prof::ProfFilter,
    r3l::PivotalCredit,
    replace::GroupReplacement,
    ssr::SelectiveReplay,
    std_filter::StdFilter,
}

impl SelectConfig {
    /// The policy that the table describes.
    ///
    /// # Errors
    /// See [`build`].
    pub fn build(&self) -> Result<Box<dyn Selector>, TrainerError> {
        build(presets::table_of(self.kind.as_ref(), self.preset.as_ref(), &self.settings))
    }
}

/// The policy that a table describes: `kind` or `preset`, and settings.
///
/// # Errors
/// An unknown kind or preset, or a setting that is unknown, of another type or out of range.
pub fn build(mut table: Map<String, Value>) -> Result<Box<dyn Selector>, TrainerError> {
    if let Some(recipe) = table.remove("recipe") {
        table.insert("kind".to_owned(), recipe);
    }
    let (kind, settings) = presets::filled("select", table)?;
    if kind == "chain" {
        return Ok(Box::new(build_chain(settings)?));
    }
    let Some(entry) = ALL.iter().find(|entry| entry.kind == kind) else {
        let build = FormulaSelector::new;
        if let Some(own) = built(RecipePlace::Select, &kind, &settings, build)? {
            return Ok(Box::new(own));
        }
        let error = BuildError::new("kind", format!("no selection is called \"{kind}\""));
        let recipes = recipe::of(RecipePlace::Select).map(|recipe| recipe.id.as_str());
        let kinds = ALL.iter().map(|entry| entry.kind).chain(recipes).chain(["chain", FORMULA]);
        return Err(error.code(Code::UnknownWord).expected(kinds).into());
    };
    (entry.build)(Value::Object(settings))
}

fn build_kind<S: SelectorSettings>(settings: Value) -> Result<Box<dyn Selector>, TrainerError> {
    let selector: S = assay_verifiers::check::settings(settings)?;
    selector.check()?;
    Ok(Box::new(selector))
}

fn build_chain(settings: Map<String, Value>) -> Result<SelectionChain, TrainerError> {
    let tables: chain::ChainSettings = assay_verifiers::check::settings(Value::Object(settings))?;
    let stage = |(at, table): (usize, Map<String, Value>)| {
        build(table).map_err(|error| error.within(&format!("stages[{at}]")))
    };
    let stages = tables.stages.into_iter().enumerate().map(stage).collect::<Result<_, _>>()?;
    Ok(SelectionChain::new(stages))
}

#[cfg(test)]
mod tests;
