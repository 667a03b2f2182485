//! Selection by a formula: one of a configuration, or one of a recipe.

use assay_verifiers::code::Code;
use assay_verifiers::formula::{
    Axis, Formula, FormulaInput, FormulaScope, Frame, MISSING, Values, is_missing,
};
use assay_verifiers::recipe::RecipePlace;
use assay_verifiers::recipe::settings::Bound;
use assay_verifiers::stats::float;
use assay_verifiers::{BuildError, Reward};

use crate::formula::ordered;
use crate::selection::outcome::RolloutPair;
use crate::selection::prelude::*;

/// The names that it may use.
const NAMES: [(&str, Axis); 11] = [
    ("r", Axis::Row),
    ("correct", Axis::Row),
    ("length", Axis::Row),
    ("truncated", Axis::Row),
    ("advantage", Axis::Row),
    ("step_mean", Axis::Row),
    ("step_count", Axis::Row),
    ("pass_rate", Axis::Row),
    ("extra", Axis::Row),
    ("version", Axis::Row),
    ("policy_version", Axis::Number),
];

/// A policy that is a formula.
#[derive(Debug)]
pub(super) struct FormulaSelector {
    kind: String,
    formula: Formula,
}

impl FormulaSelector {
    pub(super) fn new(kind: &str, source: &str, bound: Bound) -> Result<Self, TrainerError> {
        let outputs = RecipePlace::Select.outputs().iter().copied();
        let scope = FormulaScope::new(NAMES, outputs).settings(bound.settings).batches();
        let formula = Formula::compile(source, &scope).map_err(BuildError::from)?;
        for why in formula.skips() {
            let unknown = |error| BuildError::new("", format!("skip(): {error}"));
            DropReason::of(why).map_err(|error| unknown(error).code(Code::UnknownWord))?;
        }
        Ok(Self { kind: kind.to_owned(), formula })
    }

    /// The numbers of an input along `rows`; missing for a rollout without a reward. What the formula can
    /// do without may not be given.
    fn column(
        &self,
        (at, input): (usize, &FormulaInput),
        batch: &RolloutBatch<'_>,
        rows: &[usize],
    ) -> Result<Vec<f64>, TrainerError> {
        let (what, given) = given(&input.name, batch);
        let Some(numbers) = given else {
            if self.formula.may_lack(at) {
                return Ok(vec![MISSING; if input.axis == Axis::Number { 1 } else { rows.len() }]);
            }
            let kind = format!("what the selection \"{}\" reads", self.kind);
            return Err(TrainerError::input(what, "not given", kind));
        };
        if input.axis == Axis::Number {
            return Ok(numbers);
        }
        // Who made a rollout is known whether it has a reward or not.
        let counts = |row: usize| input.name == "version" || batch.reward(row).is_some();
        let one = |row: &usize| {
            let number = numbers.get(*row).copied().filter(|own| !own.is_nan());
            number.filter(|_| counts(*row)).unwrap_or(MISSING)
        };
        Ok(rows.iter().map(one).collect())
    }

    fn refused(&self, why: String) -> TrainerError {
        TrainerError::input(format!("selection by \"{}\"", self.kind), why, "a finite number")
    }

    /// What becomes of a rollout with a reward; its place in the order.
    fn decide(
        &self,
        (place, row): (usize, usize),
        values: &Values<'_>,
        fates: &mut Fates,
    ) -> Result<f64, TrainerError> {
        if let Some((fails, why)) = values.guard(place) {
            if fails {
                let what = format!("selection by \"{}\"", self.kind);
                let have = format!("row {row}: {why}");
                return Err(TrainerError::input(what, have, "rows that it takes"));
            }
            fates.drop(row, DropReason::of(why).unwrap_or(DropReason::NotSelected));
            return Ok(0.0);
        }
        let at = |name: &str| values.output(name).and_then(|own| own.get(place)).copied();
        let found = ["keep", "weight", "order", "pair"].map(at);
        if found.iter().flatten().any(|own| !own.is_finite() && !is_missing(*own)) {
            return Err(self.refused(values.blame(place)));
        }
        let [keep, weight, order, _] = found;
        if keep.is_some_and(is_missing) || weight.is_some_and(is_missing) {
            fates.drop(row, DropReason::MissingMeasure);
        } else if keep == Some(0.0) || weight == Some(0.0) {
            fates.drop(row, DropReason::NotSelected);
        } else if let Some(weight) = weight {
            fates.weigh(row, weight);
        }
        Ok(order.unwrap_or_default())
    }
}

impl Selector for FormulaSelector {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let (rows, ends) = ordered(batch.groups);
        let inputs = self.formula.inputs().iter().enumerate();
        let columns = inputs.map(|input| Ok(self.column(input, batch, &rows)?.into()));
        let columns = columns.collect::<Result<Vec<_>, TrainerError>>()?;
        let frame = Frame::new(columns, &*ends, Vec::new());
        let values = self.formula.run(&frame).map_err(|fault| self.refused(fault.why.into()))?;
        let mut fates = Fates::new(batch);
        let mut orders = vec![0.0; batch.rows()];
        let scored =
            rows.iter().copied().enumerate().filter(|(_, row)| batch.reward(*row).is_some());
        for (place, row) in scored {
            let order = self.decide((place, row), &values, &mut fates)?;
            if let Some(own) = orders.get_mut(row) {
                *own = order;
            }
        }
        let pairs = values.output("pair").map(|numbers| pairs(&rows, &ends, numbers, &fates));
        // A selection of pairs ends a step.
        let steps = state.steps + u64::from(pairs.is_some());
        let after = SelectionState { steps, ..state.next() };
        let mut selection = fates.selection(after);
        selection.pairs = pairs.unwrap_or_default();
        let order = |row: usize| orders.get(row).copied().unwrap_or_default();
        selection.kept.sort_by(|one, other| order(one.row).total_cmp(&order(other.row)));
        Ok(selection)
    }
}

/// What the batch has under a name of formulas: what it is called there, and its numbers.
fn given(name: &str, batch: &RolloutBatch<'_>) -> (&'static str, Option<Vec<f64>>) {
    let truth = |truth: bool| f64::from(u8::from(truth));
    let owned = |given: Option<&[f64]>| given.map(<[f64]>::to_vec);
    let truths =
        |given: Option<&[bool]>| given.map(|own| own.iter().map(|own| truth(*own)).collect());
    let counts = |given: Option<&[usize]>| {
        given.map(|own| own.iter().map(|count| float(*count)).collect::<Vec<f64>>())
    };
    #[expect(clippy::cast_precision_loss, reason = "no training has 2^53 versions")]
    let version = |version: u64| version as f64;
    match name {
        "r" => ("rewards", Some(batch.rewards.to_vec())),
        "correct" => {
            let right = batch.rewards.iter().map(|own| truth(*own >= Reward::RIGHT));
            ("rewards", Some(right.collect()))
        }
        "length" => ("lengths", counts(batch.lengths)),
        "truncated" => ("truncated", truths(batch.truncated)),
        "advantage" => ("advantages", owned(batch.advantages)),
        "step_mean" => ("step_means", owned(batch.step_means)),
        "step_count" => ("step_counts", counts(batch.step_counts)),
        "extra" => ("extra", truths(batch.extra)),
        "policy_version" => ("version", batch.version.map(|own| vec![version(own)])),
        "version" => {
            let versions = batch.versions.map(|own| own.iter().map(|own| version(*own)).collect());
            ("versions", versions)
        }
        _ => ("pass_rates", batch.pass_rates.map(|rates| of_prompts(rates, batch))),
    }
}

/// A number of each prompt, along the rollouts.
fn of_prompts(numbers: &[f64], batch: &RolloutBatch<'_>) -> Vec<f64> {
    let mut along = vec![MISSING; batch.rows()];
    for (members, number) in batch.groups.iter().zip(numbers) {
        for row in members.rows() {
            if let Some(own) = along.get_mut(row) {
                *own = *number;
            }
        }
    }
    along
}

/// The pairs of each group: `n` is the preferred one of pair `n`, `-n` the other.
fn pairs(rows: &[usize], ends: &[usize], numbers: &[f64], fates: &Fates) -> Vec<RolloutPair> {
    let mut pairs = Vec::new();
    let mut start = 0;
    for end in ends {
        let own = |at: usize| Some((*rows.get(at)?, *numbers.get(at)?));
        let own = (start..*end).filter_map(own).filter(|(row, _)| fates.is_kept(*row));
        let own: Vec<(usize, f64)> = own.filter(|(_, number)| !number.is_nan()).collect();
        let mut chosen: Vec<&(usize, f64)> =
            own.iter().filter(|(_, number)| *number > 0.0).collect();
        chosen.sort_by(|one, other| one.1.total_cmp(&other.1));
        for (chosen, number) in chosen {
            let rejected = own.iter().find(|(_, other)| other.total_cmp(&-number).is_eq());
            pairs.extend(
                rejected.map(|(rejected, _)| RolloutPair { chosen: *chosen, rejected: *rejected }),
            );
        }
        start = *end;
    }
    pairs
}
