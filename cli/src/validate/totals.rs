//! Totals that wrong answers earn in full: by form alone, by a floor for what fails, by a weight that turns round.

use assay::engine::config::{CombineBy, OnFault};
use assay::verifiers::{Outcome, Reward, Verdict};

use super::faults::{Faults, Found};
use super::problem::Problem;
use super::report::RewardReport;
use super::trial::Tried;

/// Rewards that differ by less are one.
const EPSILON: f64 = 1e-9;
/// Verifiers that judge the form of an answer where they read no reference.
const OF_FORM: [&str; 4] = ["contains", "regex", "tags", "length"];

impl Faults<'_> {
    /// Totals that are as high without a right answer as with one.
    pub(super) fn of_totals(&self, rewards: &[RewardReport], found: &mut Found) {
        let is_judge = |at: &usize| rewards.get(*at).is_some_and(RewardReport::judges_answers);
        let judges: Vec<usize> = (0..rewards.len()).filter(is_judge).collect();
        if judges.is_empty() || !self.plan().config.combine.normalise.is_none() {
            return;
        }
        let turning = self.turning(&judges);
        // What is turned round is told already.
        let is_told = found.is_inverted
            || turning.is_some()
            || found.warnings.iter().any(|problem| problem.key.starts_with("combine"));
        found.warnings.extend(turning);
        if !is_told {
            found.warnings.extend(self.without_answers(&judges, rewards));
        }
        found.warnings.extend(self.floor(&judges));
    }

    /// A weight that goes from above 0 to below it, or back.
    fn turning(&self, judges: &[usize]) -> Option<Problem> {
        let plan = self.plan();
        if !matches!(plan.config.combine.how, CombineBy::WeightedSum | CombineBy::Gate) {
            return None;
        }
        judges.iter().find_map(|at| {
            let planned = plan.rewards.get(*at)?;
            let (least, most) = planned.weight.bounds();
            let turns = planned.weight.constant().is_none() && least < 0.0 && most > 0.0;
            turns.then(|| {
                let rises = planned.weight.at(0) < 0.0;
                let (from, to) = if rises { (least, most) } else { (most, least) };
                let message = format!(
                    "its weight goes from {from} to {to}: at some step a right answer earns less than a wrong one"
                );
                let error = self.document.error(&format!("reward[{at}].weight"), message);
                let help = "let it stay at 0.0 or above".to_owned();
                Problem::new(format!("reward.{}", planned.name), error.help(Some(help)))
            })
        })
    }

    /// A wrong answer that earns what the best right one earns, and would earn no more if it were right.
    fn without_answers(&self, judges: &[usize], rewards: &[RewardReport]) -> Option<Problem> {
        let plan = self.plan();
        let total = |tried: &Tried<'_>| tried.outcome.reward().map(Reward::get);
        let totals = || self.trial.rows.iter().filter_map(total);
        let (least, most) = (totals().reduce(f64::min)?, totals().reduce(f64::max)?);
        if most - least <= EPSILON || !is_form(judges, rewards) {
            return None;
        }
        let right = self.trial.rows.iter().find(|tried| is_right(tried, judges))?;
        let step = self.trial.training.step;
        let if_right = |tried: &Tried<'_>| {
            plan.combiner.combine(&with_right(tried, judges), step).reward().map(Reward::get)
        };
        let is_paid = |tried: &&Tried<'_>| {
            total(tried).is_some_and(|own| own >= most - EPSILON)
                && is_wrong(tried, judges)
                && if_right(tried).is_some_and(|own| own <= most + EPSILON)
        };
        let wrong = self.trial.rows.iter().find(is_paid)?;
        let name = judges.iter().find_map(|at| plan.names.get(*at))?;
        let message = format!(
            "row {} earns {most}, the most that any row does, and \"{name}\" calls its answer wrong (row {}: right)",
            wrong.row.number, right.row.number
        );
        let silent = judges.iter().find(|at| {
            let planned = plan.rewards.get(**at);
            planned.is_some_and(|planned| planned.weight.at(step) == 0.0)
        });
        // A weight that rises from 0 is meant so.
        let rises = |at: &usize| {
            plan.rewards.get(*at).is_some_and(|planned| planned.weight.constant().is_none())
        };
        let how = plan.config.combine.how;
        if how != CombineBy::Expression
            && (judges.iter().any(rises) || silent.is_none() && plan.config.combine.clamp.is_none())
        {
            return None;
        }
        let (path, help) = match silent {
            _ if how == CombineBy::Expression => {
                ("combine.expression".to_owned(), format!("multiply by it: {name} * (...)"))
            }
            Some(at) => (
                format!("reward[{at}].weight"),
                format!("write weight = 1.0 if right answers are to be paid: the others judge form, and \"{name}\" has no say"),
            ),
            None => (
                "combine.clamp".to_owned(),
                "lower the weights of what judges form, so that form alone does not reach the upper end; or how = \
                 \"product\""
                    .to_owned(),
            ),
        };
        let error = self.document.error(&path, message).help(Some(help));
        Some(Problem::new(path, error))
    }

    /// A floor for what fails that is above what a wrong answer earns.
    fn floor(&self, judges: &[usize]) -> Option<Problem> {
        let plan = self.plan();
        let combine = &plan.config.combine;
        let floor = combine.floor.filter(|_| combine.on_fault == OnFault::Floor)?;
        let step = self.trial.training.step;
        let outcome = |tried: &Tried<'_>| {
            let has_fault =
                tried.verdicts.iter().any(|own| matches!(own.outcome, Outcome::Failed(_)));
            let wrong = is_wrong(tried, judges) && !has_fault;
            wrong
                .then(|| plan.combiner.combine(&tried.verdicts, step))
                .and_then(|own| own.reward().map(Reward::get))
        };
        let most = self.trial.rows.iter().filter_map(outcome).reduce(f64::max);
        let low = combine.clamp.map_or(0.0, |[low, _]| low);
        // Where no row is wrong, it is one that has nothing.
        let most = most.unwrap_or_else(|| 0.0_f64.max(low));
        (floor > most + EPSILON).then(|| {
            let message = format!(
                "a row that fails earns {floor}, and a wrong answer no more than {most}: who makes the verifier fail \
                 is paid"
            );
            let help = format!(
                "write floor = {:?}, or on_fault = \"mask\", by which what fails has no reward",
                low.min(most)
            );
            let error = self.document.error("combine.floor", message).help(Some(help));
            Problem::new("combine.floor", error)
        })
    }
}

/// Whether all that counts beside the judges of answers judges form.
fn is_form(judges: &[usize], rewards: &[RewardReport]) -> bool {
    rewards.iter().enumerate().filter(|(at, _)| !judges.contains(at)).all(|(_, report)| {
        let reads = report.data.as_ref().is_none_or(|data| data.uses_reference);
        OF_FORM.contains(&report.verifier.as_str()) && !reads
    })
}

fn is_right(tried: &Tried<'_>, judges: &[usize]) -> bool {
    judges.iter().any(|at| tried.unshaped(*at).is_some_and(|own| own >= 1.0))
}

fn is_wrong(tried: &Tried<'_>, judges: &[usize]) -> bool {
    judges.iter().all(|at| tried.unshaped(*at).is_some_and(|own| own <= 0.0))
}

/// The verdicts of a row, had its answer been right.
fn with_right(tried: &Tried<'_>, judges: &[usize]) -> Vec<Verdict> {
    let one = |(at, verdict): (usize, &Verdict)| {
        let right = Reward::new(1.0).map(Verdict::scored).filter(|_| judges.contains(&at));
        right.unwrap_or_else(|| verdict.clone())
    };
    tried.verdicts.iter().enumerate().map(one).collect()
}
