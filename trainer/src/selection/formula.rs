//! Selection by a formula: one of a configuration, or one of a recipe.

use assay_verifiers::formula::{
    Axis, Formula, FormulaInput, FormulaScope, Frame, MISSING, is_missing,
};
use assay_verifiers::recipe::settings::Bound;
use assay_verifiers::stats::float;
use assay_verifiers::{BuildError, Reward};

use crate::error::TrainerError;
use crate::formula::ordered;
use crate::selection::outcome::{DropReason, Fates, Selection};
use crate::selection::policy::Selector;
use crate::selection::rollouts::RolloutBatch;
use crate::selection::state::SelectionState;

/// What a formula gives: whether a rollout is kept (not 0), how often it counts, and by what the rollouts
/// are ordered, ascending.
const OUTPUTS: [(&str, Axis); 3] =
    [("keep", Axis::Row), ("weight", Axis::Row), ("order", Axis::Row)];

/// The names that it may use.
const NAMES: [&str; 8] =
    ["r", "correct", "length", "truncated", "advantage", "step_mean", "step_count", "pass_rate"];

/// A policy that is a formula.
#[derive(Debug)]
pub(super) struct FormulaSelector {
    kind: String,
    formula: Formula,
}

impl FormulaSelector {
    pub(super) fn new(kind: &str, source: &str, bound: Bound) -> Result<Self, BuildError> {
        let scope = FormulaScope::new(NAMES.map(|name| (name, Axis::Row)), OUTPUTS)
            .settings(bound.settings)
            .batches();
        Ok(Self { kind: kind.to_owned(), formula: Formula::compile(source, &scope)? })
    }

    /// The numbers of an input along `rows`; missing for a rollout without a reward.
    fn column(
        &self,
        input: &FormulaInput,
        batch: &RolloutBatch<'_>,
        rows: &[usize],
    ) -> Result<Vec<f64>, TrainerError> {
        let truth = |truth: bool| f64::from(u8::from(truth));
        let needed = |what: &str, given: Option<Vec<f64>>| {
            let kind = format!("what the selection \"{}\" reads", self.kind);
            given.ok_or_else(|| TrainerError::input(what, "not given", kind))
        };
        let owned = |given: Option<&[f64]>| given.map(<[f64]>::to_vec);
        let counts = |given: Option<&[usize]>| {
            given.map(|own| own.iter().map(|count| float(*count)).collect::<Vec<f64>>())
        };
        let numbers = match input.name.as_str() {
            "r" => batch.rewards.to_vec(),
            "correct" => batch.rewards.iter().map(|own| truth(*own >= Reward::RIGHT)).collect(),
            "length" => needed("lengths", counts(batch.lengths))?,
            "truncated" => {
                let given = batch.truncated.map(|own| own.iter().map(|own| truth(*own)).collect());
                needed("truncated", given)?
            }
            "advantage" => needed("advantages", owned(batch.advantages))?,
            "step_mean" => needed("step_means", owned(batch.step_means))?,
            "step_count" => needed("step_counts", counts(batch.step_counts))?,
            _ => {
                let rates = needed("pass_rates", owned(batch.pass_rates))?;
                let mut along = vec![MISSING; batch.rows()];
                for (members, rate) in batch.groups.iter().zip(rates) {
                    for row in members.rows() {
                        if let Some(own) = along.get_mut(row) {
                            *own = rate;
                        }
                    }
                }
                along
            }
        };
        let one = |row: &usize| {
            let number = numbers.get(*row).copied().filter(|own| !own.is_nan());
            batch.reward(*row).and(number).unwrap_or(MISSING)
        };
        Ok(rows.iter().map(one).collect())
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
        let inputs = self.formula.inputs().iter();
        let columns = inputs.map(|input| Ok(self.column(input, batch, &rows)?.into()));
        let columns = columns.collect::<Result<Vec<_>, TrainerError>>()?;
        let frame = Frame::new(columns, ends, Vec::new());
        let refused = |why: String| {
            let what = format!("selection by \"{}\"", self.kind);
            TrainerError::input(what, why, "a finite number")
        };
        let values = self.formula.run(&frame).map_err(|fault| refused(fault.why.into()))?;
        let mut fates = Fates::new(batch);
        let at = |name: &str, at: usize| values.output(name).and_then(|own| own.get(at)).copied();
        let mut orders = vec![0.0; batch.rows()];
        for (place, row) in rows.iter().enumerate().filter(|(_, row)| batch.reward(**row).is_some())
        {
            let found = ["keep", "weight", "order"].map(|name| at(name, place));
            if found.iter().flatten().any(|own| !own.is_finite() && !is_missing(*own)) {
                return Err(refused(values.blame(place)));
            }
            let [keep, weight, order] = found;
            if keep.is_some_and(is_missing) || weight.is_some_and(is_missing) {
                fates.drop(*row, DropReason::MissingMeasure);
            } else if keep == Some(0.0) || weight == Some(0.0) {
                fates.drop(*row, DropReason::NotSelected);
            } else if let Some(weight) = weight {
                fates.weigh(*row, weight);
            }
            if let (Some(own), Some(order)) = (orders.get_mut(*row), order) {
                *own = order;
            }
        }
        let mut selection = fates.selection(state.next());
        let order = |row: usize| orders.get(row).copied().unwrap_or_default();
        selection.kept.sort_by(|one, other| order(one.row).total_cmp(&order(other.row)));
        Ok(selection)
    }
}
