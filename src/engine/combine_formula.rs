//! `how = "formula"`: rewards become one by a formula of the configuration, or of a recipe.

use std::borrow::Cow;

use assay_verifiers::code::Code;
use assay_verifiers::formula::{Axis, Formula, FormulaScope, Frame, MISSING, is_missing};
use assay_verifiers::recipe::settings::{self, Bound};
use assay_verifiers::recipe::{self, RecipePlace};
use assay_verifiers::schedule::Schedule;
use assay_verifiers::{BuildError, Fault};

use super::config::{CombineBy, Config};

/// The formula that combines the rewards of a sample.
pub(super) struct CombineFormula {
    formula: Formula,
    /// The reward of each input; `None` for the step and for schedules.
    rewards: Vec<Option<usize>>,
    schedules: Vec<(String, Schedule)>,
}

impl CombineFormula {
    /// The formula of a configuration, where it combines by one.
    pub(super) fn of(config: &Config) -> Result<Option<Self>, BuildError> {
        let combine = &config.combine;
        let is_formula = combine.how == CombineBy::Formula;
        let given = [
            ("formula", combine.formula.is_some()),
            ("recipe", combine.recipe.is_some()),
            ("settings", !combine.settings.is_empty()),
        ];
        if let Some((key, _)) = given.iter().find(|(_, is_given)| *is_given && !is_formula) {
            let error = BuildError::new(*key, format!("`{key}` needs how = \"formula\""));
            return Err(error.code(Code::NoEffect));
        }
        if !is_formula {
            return Ok(None);
        }
        match (&combine.formula, &combine.recipe) {
            (Some(source), None) if combine.settings.is_empty() => {
                Self::new(config, source, &Bound::default(), "formula").map(Some)
            }
            (None, Some(name)) => {
                let found = recipe::find_in(RecipePlace::Combine, name);
                let Some((own, source)) = found.and_then(|own| Some((own, own.formula.as_ref()?)))
                else {
                    let why = format!("no recipe that combines rewards is called \"{name}\"");
                    let known = recipe::of(RecipePlace::Combine).map(|own| own.id.as_str());
                    return Err(BuildError::new("recipe", why)
                        .code(Code::UnknownWord)
                        .expected(known));
                };
                let bound = settings::bound(&own.settings, &own.refuse, &combine.settings)
                    .map_err(|error| error.within("settings"))?;
                Self::new(config, source, &bound, "recipe").map(Some)
            }
            _ => {
                let why = "how = \"formula\" needs `formula`, or `recipe` and its `settings`";
                Err(BuildError::new("how", why).code(Code::MissingKey))
            }
        }
    }

    fn new(config: &Config, source: &str, bound: &Bound, key: &str) -> Result<Self, BuildError> {
        let names: Vec<&str> = config.rewards.iter().map(|reward| reward.name.as_str()).collect();
        let bare = names.iter().map(|name| ((*name).to_owned(), Axis::Row));
        let dotted = names.iter().map(|name| (format!("rewards.{name}"), Axis::Row));
        let numbers = bound.schedules.iter().map(|(name, _)| (name.clone(), Axis::Number));
        let numbers = numbers.chain([("step".to_owned(), Axis::Number)]);
        let scope = FormulaScope::new(bare.chain(dotted).chain(numbers), [("reward", Axis::Row)])
            .settings(bound.settings.clone());
        let wrong = |error| BuildError::from(error).within(key);
        let formula = Formula::compile(source, &scope).map_err(wrong)?;
        if formula.compares_rows() {
            let why =
                "the formula compares the samples of a prompt, and [combine] sees one: a shape may";
            return Err(BuildError::new(key, why).code(Code::BadExpression));
        }
        let reward = |input: &assay_verifiers::formula::FormulaInput| {
            let name = input.name.strip_prefix("rewards.").unwrap_or(&input.name);
            names.iter().position(|own| *own == name).filter(|_| input.axis == Axis::Row)
        };
        let rewards = formula.inputs().iter().map(reward).collect();
        Ok(Self { formula, rewards, schedules: bound.schedules.clone() })
    }

    /// Whether the formula reads the reward at a place.
    pub(super) fn reads(&self, reward: usize) -> bool {
        self.rewards.contains(&Some(reward))
    }

    /// The reward of a sample; `None` where one that the formula needs abstained.
    pub(super) fn total(&self, rewards: &[Option<f64>], step: u64) -> Result<Option<f64>, Fault> {
        let column =
            |(input, reward): (&assay_verifiers::formula::FormulaInput, &Option<usize>)| {
                let number = if let Some(at) = reward {
                    #[expect(clippy::indexing_slicing, reason = "places are those of the rewards")]
                    rewards[*at].unwrap_or(MISSING)
                } else {
                    let schedule = self.schedules.iter().find(|(name, _)| *name == input.name);
                    #[expect(clippy::cast_precision_loss, reason = "no training has 2^53 steps")]
                    schedule.map_or(step as f64, |(_, schedule)| schedule.at(step))
                };
                Cow::Owned(vec![number])
            };
        let columns = self.formula.inputs().iter().zip(&self.rewards).map(column);
        let frame = Frame::new(columns.collect(), vec![1], Vec::new());
        let values = self.formula.run(&frame)?;
        if let Some((fails, why)) = values.guard(0) {
            let why = why.to_owned();
            return if fails { Err(Fault::bad_input(why)) } else { Ok(None) };
        }
        let total = values.output("reward").and_then(|own| own.first()).copied();
        match total.unwrap_or(MISSING) {
            total if is_missing(total) => Ok(None),
            total if total.is_finite() => Ok(Some(total)),
            _ => Err(Fault::trap(values.blame(0))),
        }
    }
}
