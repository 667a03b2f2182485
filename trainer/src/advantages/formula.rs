//! Advantages by a formula: one of a configuration, or one of a recipe.

use std::borrow::Cow;
use std::collections::BTreeMap;

use assay_verifiers::formula::{
    Axis, Formula, FormulaInput, FormulaScope, Frame, MISSING, Values, is_missing,
};
use assay_verifiers::recipe::settings::Bound;
use assay_verifiers::recipe::{Recipe, RecipePlace};
use assay_verifiers::{BuildError, Reward, check};
use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::batch::EstimatorState;
use super::conventions::EstimatorSettings as _;
use super::grpo::{Grpo, NormLevel};
use super::steps;
use crate::advantages::prelude::*;
use crate::formula::ordered;

/// The names that it may use, but for those with any member.
const NAMES: [(&str, Axis); 6] = [
    ("r", Axis::Row),
    ("length", Axis::Row),
    ("correct", Axis::Row),
    ("value", Axis::Row),
    ("relative", Axis::Row),
    ("start", Axis::Row),
];

/// The setting that says what `relative` and `steps.normalised` are: settings of `grpo`.
const GROUP: &str = "group";

/// Rewards of steps, normalised over those of the group, and over those of the batch with the same tag.
const NORMALISED: [&str; 2] = ["steps.normalised", "steps.normalised_by_tag"];

/// An estimator that is a formula.
#[derive(Debug)]
pub(super) struct FormulaEstimator {
    kind: String,
    formula: Formula,
    group: Grpo,
}

impl FormulaEstimator {
    pub(super) fn new(kind: &str, source: &str, mut bound: Bound) -> Result<Self, TrainerError> {
        let scope = FormulaScope::new(NAMES, RecipePlace::Advantage.outputs().iter().copied())
            .open("rewards", Axis::Row)
            .open("steps", Axis::Step)
            .open("role", Axis::Row)
            .settings(bound.settings)
            .batches();
        let formula = Formula::compile(source, &scope).map_err(BuildError::from)?;
        let given = ["advantage", "steps", "credited"].map(|name| formula.gives(name));
        if given.into_iter().filter(|gives| *gives).count() != 1 {
            let why = "the formula gives one of `advantage`, `steps` and `credited`";
            return Err(BuildError::new("", why).into());
        }
        let group = bound.filled.remove(GROUP).unwrap_or_else(|| Value::Object(Map::new()));
        let group: Grpo = check::settings(group).map_err(|error| error.within(GROUP))?;
        let [over_group, over_tags] = NORMALISED.map(|name| source.contains(name));
        let message = match group.scale {
            NormLevel::Batch | NormLevel::None if over_tags => {
                "`group.scale` is not \"group\": a step is divided by the deviation of its tag"
            }
            NormLevel::Batch if over_group => {
                "`group.scale` is \"batch\": the steps are normalised in their group"
            }
            _ => "",
        };
        if !message.is_empty() {
            return Err(TrainerError::setting("group.scale", message));
        }
        group.check()?;
        Ok(Self { kind: kind.to_owned(), formula, group })
    }

    fn column(
        &self,
        input: &FormulaInput,
        batch: &RewardBatch<'_>,
        rows: &[usize],
    ) -> Result<Cow<'static, [f64]>, TrainerError> {
        let reward = |row: &usize| batch.rewards.get(*row).copied().filter(|own| !own.is_nan());
        let along = |numbers: &[f64]| -> Cow<'static, [f64]> {
            // Whoever has no reward takes part in nothing.
            let one = |row: &usize| match reward(row) {
                Some(_) => {
                    numbers.get(*row).copied().filter(|own| !own.is_nan()).unwrap_or(MISSING)
                }
                None => MISSING,
            };
            rows.iter().map(one).collect()
        };
        let kind = self.kind.as_str();
        match input.name.split_once('.') {
            Some(("rewards", name)) => {
                let part = batch.parts.iter().find(|part| part.name == name);
                let part = part.ok_or_else(|| unknown(&format!("rewards.{name}"), kind))?;
                batch.groups.along(name, part.rewards.len())?;
                Ok(along(part.rewards))
            }
            Some(("steps", _)) => self.along_steps(input, batch, rows),
            Some(("role", name)) => {
                let roles = batch.needed(kind, "roles", batch.roles)?;
                let is = |row: &usize| roles.get(*row).is_some_and(|role| role == name);
                Ok(rows.iter().map(|row| f64::from(u8::from(is(row)))).collect())
            }
            _ => match input.name.as_str() {
                "r" => Ok(along(batch.rewards)),
                "correct" => {
                    let right = |own: &f64| {
                        if own.is_nan() { *own } else { f64::from(u8::from(*own >= Reward::RIGHT)) }
                    };
                    Ok(along(&batch.rewards.iter().map(right).collect::<Vec<_>>()))
                }
                "length" => Ok(along(&tokens::lengths(batch, kind)?)),
                "value" => Ok(along(batch.needed(kind, "values", batch.values)?)),
                "relative" => {
                    let mut relative = vec![0.0; batch.rewards.len()];
                    self.group.estimate_into(batch, &mut relative)?;
                    Ok(along(&relative))
                }
                "start" => {
                    let starts = batch.needed(kind, "starts", batch.starts)?;
                    // Where a rollout starts is known whether it has a reward or not.
                    let start = |row: &usize| starts.get(*row).map_or(MISSING, |own| float(*own));
                    Ok(rows.iter().map(start).collect())
                }
                name => Err(unknown(name, kind)),
            },
        }
    }

    /// The numbers of an input along the steps.
    fn along_steps(
        &self,
        input: &FormulaInput,
        batch: &RewardBatch<'_>,
        rows: &[usize],
    ) -> Result<Cow<'static, [f64]>, TrainerError> {
        let kind = self.kind.as_str();
        let steps = batch.needed_rows(kind, "steps", batch.steps)?;
        let tags = || batch.needed_rows(kind, "step_tags", batch.step_tags);
        match (input.name.as_str(), &input.is) {
            ("steps.reward", None) => Ok(of_steps(steps, rows, batch)),
            ("steps.tag", is) => Ok(of_tags(tags()?, steps, rows, is.as_deref())),
            ("steps.normalised", None) => {
                let groups = steps::group_of_rows(batch);
                let class = |row: usize, _| groups.get(row).copied();
                Ok(self.normalised(batch, steps, rows, class))
            }
            ("steps.normalised_by_tag", None) => {
                let tags = tags()?;
                if !steps.is_along(tags) {
                    let have = format!("{} tags", tags.values().len());
                    let due = format!("one for each of {} steps", steps.values().len());
                    return Err(TrainerError::input("step tags", have, due));
                }
                let class = |row: usize, at: usize| tags.row(row).get(at);
                Ok(self.normalised(batch, steps, rows, class))
            }
            (name, _) => Err(unknown(name, kind)),
        }
    }

    /// The rewards of steps less the means of their classes, by what the settings of `group` say.
    fn normalised<K: Ord>(
        &self,
        batch: &RewardBatch<'_>,
        steps: &Ragged<StepReward>,
        rows: &[usize],
        class: impl Fn(usize, usize) -> Option<K>,
    ) -> Cow<'static, [f64]> {
        let divisor = |moments: &_| Some(self.group.divisor(moments));
        let found = steps::normalized(batch, steps, class, divisor);
        rows.iter().flat_map(|row| found.row(*row)).copied().collect()
    }

    /// The numbers of an output over rollouts, in their own order: 0 for those that have no place.
    fn of_rollouts(
        &self,
        name: &str,
        values: &Values<'_>,
        places: &[Option<usize>],
    ) -> Result<Option<Vec<f64>>, TrainerError> {
        let Some(found) = values.output(name) else { return Ok(None) };
        let mut numbers = vec![0.0; places.len()];
        for ((at, place), found) in places.iter().enumerate().zip(found) {
            let Some(out) = place.and_then(|row| numbers.get_mut(row)) else { continue };
            if !found.is_finite() {
                return Err(self.refused(values.blame(at)));
            }
            *out = *found;
        }
        Ok(Some(numbers))
    }

    fn refused(&self, why: String) -> TrainerError {
        TrainerError::input(format!("advantages by \"{}\"", self.kind), why, "a finite number")
    }
}

impl Estimator for FormulaEstimator {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let report = report(batch)?;
        let (rows, ends) = ordered(batch.groups);
        let column = |(at, input): (usize, &FormulaInput)| match self.column(input, batch, &rows) {
            // What it reads by `??` alone may not be given.
            Err(_) if input.axis == Axis::Row && self.formula.may_lack(at) => {
                Ok(vec![MISSING; rows.len()].into())
            }
            column => column,
        };
        let columns = self.formula.inputs().iter().enumerate().map(column);
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let steps = batch.steps.map(|steps| step_ends(steps, &rows)).unwrap_or_default();
        let frame = Frame::new(columns, ends, steps);
        let values = self.formula.run(&frame).map_err(|fault| self.refused(fault.why.into()))?;
        let scored = |row: usize| batch.rewards.get(row).is_some_and(|own| !own.is_nan());
        let guards = rows.iter().enumerate().filter(|(_, row)| scored(**row));
        let guards: BTreeMap<usize, (bool, &str)> =
            guards.filter_map(|(at, row)| Some((*row, values.guard(at)?))).collect();
        if let Some((row, (_, why))) = guards.iter().find(|(_, (fails, _))| *fails) {
            let what = format!("advantages by \"{}\"", self.kind);
            let have = format!("row {row}: {why}");
            return Err(TrainerError::input(what, have, "rows that it takes"));
        }
        // Nothing is learned of what the formula skips.
        let is_scored = |row: &usize| scored(*row) && !guards.contains_key(row);
        let places: Vec<Option<usize>> =
            rows.iter().map(|row| Some(*row).filter(is_scored)).collect();
        let of_rollouts = |name: &str| self.of_rollouts(name, &values, &places);
        if let Some(advantages) = of_rollouts("advantage")? {
            return Ok(Advantages::of_rollouts(advantages, report));
        }
        if let Some(advantages) = of_rollouts("credited")? {
            let values = tokens::credited(batch, &self.kind, advantages)?;
            return Ok(Advantages { values, report, state: EstimatorState::default() });
        }
        let given = batch.needed_rows(&self.kind, "steps", batch.steps)?;
        let mask = tokens::trained(batch, &self.kind)?;
        tokens::ordered_steps(&mask, given)?;
        let mut of_rows: Vec<Vec<f64>> = vec![Vec::new(); rows.len()];
        for (at, row) in rows.iter().enumerate() {
            let found = values.steps("steps", at).unwrap_or_default();
            let found = found.iter().map(|own| if is_missing(*own) { 0.0 } else { *own });
            let found: Vec<f64> =
                if is_scored(row) { found.collect() } else { vec![0.0; found.len()] };
            if found.iter().any(|own| !own.is_finite()) {
                return Err(self.refused(values.blame(at)));
            }
            if let Some(out) = of_rows.get_mut(*row) {
                *out = found;
            }
        }
        let advantages: Ragged<f64> = of_rows.into_iter().collect();
        let rest = of_rollouts("rest")?.unwrap_or_else(|| vec![0.0; rows.len()]);
        let advantages = tokens::spread_steps(&mask, given, &advantages, &rest);
        tokens::checked(batch, &advantages)?;
        Ok(Advantages::of_tokens(advantages, report))
    }
}

/// The JSON Schema of the settings of a recipe: the table `group` has those of `grpo`.
pub fn recipe_schema(recipe: &Recipe) -> Schema {
    let mut schema = recipe.schema();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(Value::Object(group)) = properties.and_then(|all| all.get_mut(GROUP)) {
        let inline = SchemaSettings::draft2020_12().with(|own| own.inline_subschemas = true);
        let mut own = inline.into_generator().into_root_schema_for::<Grpo>();
        for key in ["properties", "additionalProperties"] {
            group.extend(own.remove(key).map(|value| (key.to_owned(), value)));
        }
    }
    schema
}

fn unknown(name: &str, kind: &str) -> TrainerError {
    TrainerError::input(name, "not given", format!("what the advantage \"{kind}\" reads"))
}

fn step_ends(steps: &Ragged<StepReward>, rows: &[usize]) -> Vec<usize> {
    let ends = rows.iter().scan(0, |end, row| {
        *end += steps.row(*row).len();
        Some(*end)
    });
    ends.collect()
}

fn of_steps(
    steps: &Ragged<StepReward>,
    rows: &[usize],
    batch: &RewardBatch<'_>,
) -> Cow<'static, [f64]> {
    let one = |row: &usize| {
        let is_scored = batch.rewards.get(*row).is_some_and(|own| !own.is_nan());
        let number = move |step: &StepReward| {
            if is_scored && !step.reward.is_nan() { step.reward } else { MISSING }
        };
        steps.row(*row).iter().map(number).collect::<Vec<_>>()
    };
    rows.iter().flat_map(one).collect()
}

/// Whether the tag of each step is this one; without one, a number for each tag.
fn of_tags(
    tags: &Ragged<String>,
    steps: &Ragged<StepReward>,
    rows: &[usize],
    is: Option<&str>,
) -> Cow<'static, [f64]> {
    let mut known: Vec<&str> = Vec::new();
    let number = |tag: &'_ str, known: &mut Vec<&'_ str>| -> f64 {
        match is {
            Some(is) => f64::from(u8::from(tag == is)),
            None => float(known.iter().position(|own| *own == tag).unwrap_or_default()),
        }
    };
    let mut all = Vec::new();
    for row in rows {
        for at in 0..steps.row(*row).len() {
            let tag = tags.row(*row).get(at).map(String::as_str);
            if let Some(tag) = tag
                && !known.contains(&tag)
            {
                known.push(tag);
            }
            all.push(tag.map_or(MISSING, |tag| number(tag, &mut known)));
        }
    }
    all.into()
}
