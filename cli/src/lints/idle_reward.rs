//! A reward counts, and moves no total: the expression leaves it out, its weight vanishes beside the others, or the clamp
//! gives back what it takes. An error where every weight is 0.
//!
//! Looks at totals with the least and the greatest that a reward gives, on the rows and where all others give 0, 0.5 and 1.
//! Fix: name it in the expression, or write weight = 0.0 to report it alone; lower the first end of the clamp.

use assay::verifiers::{Reward, Verdict};

use super::look::{Finding, Tested, which};

/// A smaller part of a total was hardly meant.
const SHARE: f64 = 1e-6;
/// Rows on which totals are tried.
const ROWS: usize = 200;
/// A step by which schedules have ended.
const LATE: u64 = 1_000_000;

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let (plan, step) = (tested.plan(), tested.look.step);
    let weights = || plan.rewards.iter().map(|own| own.weight.at(step));
    let is_expression = plan.config.combine.how.is_written();
    if !is_expression && plan.gates.is_empty() && weights().all(|own| own == 0.0) {
        let is_constant = plan.rewards.iter().all(|own| own.weight.constant().is_some());
        let (when, help) = if is_constant {
            (String::new(), "write weight = 1.0 for what counts")
        } else {
            (format!(" at step {step}"), "`assay score --step N` takes a later step")
        };
        let message = format!("no reward has a say: every weight is 0{when}");
        return vec![Finding::of_reward((0, "weight"), message, help).error_if(true)];
    }
    let idle = plan.rewards.iter().zip(tested.rewards).enumerate().filter_map(|(at, (own, report))| {
        let weight = own.weight.at(step);
        let is_silent = own.weight.constant() == Some(0.0) || !is_expression && weight == 0.0;
        // Behind a gate that no row passes it cannot move anything.
        let is_stopped = report.rows.as_ref().is_some_and(|own| own.rows > 0 && own.judged() + own.not_asked == 0);
        if is_silent || is_stopped || plan.gates.contains(&at) || is_read(tested, at) {
            return None;
        }
        if moves(tested, at) {
            return clamped(tested, at);
        }
        let (name, help) = (&own.name, "or write weight = 0.0 to report it alone");
        Some(if is_expression {
            let message = format!("`expression` does not name the reward \"{name}\", or nothing comes of it: it has no say");
            Finding::of_reward((at, "name"), message, format!("name it there, {help}"))
        } else {
            let message = format!("its weight is {weight:e}: beside the others \"{name}\" moves nothing that can be told");
            Finding::of_reward((at, "weight"), message, format!("write a weight such as 0.1, {help}")).with("weight", weight)
        })
    });
    idle.collect()
}

/// Whether another reward reads it.
fn is_read(tested: Tested<'_>, at: usize) -> bool {
    let Some(name) = tested.plan().names.get(at) else { return false };
    let quoted = serde_json::Value::from(name.as_str()).to_string();
    let in_settings = tested.look.rewards().any(|(other, _, config)| {
        let mut settings =
            config.config.values().chain(config.shape.iter().flat_map(|own| own.values()));
        other != at && settings.any(|value| value.to_string().contains(&quoted))
    });
    in_settings
        || tested
            .scripts
            .iter()
            .any(|script| script.role != super::script::Role::Combine && script.names_reward(name))
}

/// The total at a step with another reward in the place of one.
fn total(
    tested: Tested<'_>,
    verdicts: &[Verdict],
    (at, reward): (usize, f64),
    step: u64,
) -> Option<f64> {
    let mut verdicts = verdicts.to_vec();
    *verdicts.get_mut(at)? = Verdict::scored(Reward::new(reward)?);
    Some(tested.plan().combiner.combine(&verdicts, step).reward()?.get())
}

/// Whether any total is another with the least than with the greatest that a reward gives, now or late in a training.
fn moves(tested: Tested<'_>, at: usize) -> bool {
    let range =
        tested.rewards.get(at).and_then(|own| own.rows.as_ref()?.range).unwrap_or((0.0, 1.0));
    let (least, most) = (range.0.min(0.0), range.1.max(1.0));
    let rewards = tested.plan().rewards.len();
    let full = |own: f64| Reward::new(own).map(|own| vec![Verdict::scored(own); rewards]);
    let rows = tested.trial.rows.iter().take(ROWS).map(|tried| tried.verdicts.clone());
    let contexts: Vec<_> = [0.0, 0.5, 1.0].into_iter().filter_map(full).chain(rows).collect();
    let totals = contexts.iter().flat_map(|verdicts| {
        [tested.look.step, LATE].map(|step| {
            let total = |reward| total(tested, verdicts, (at, reward), step);
            Some([total(least)?, total(least.midpoint(most))?, total(most)?])
        })
    });
    // Of what fails nothing is known.
    let Some(totals) = totals.collect::<Option<Vec<_>>>() else { return true };
    let scale = totals.iter().flatten().fold(0.0, |most, own| own.abs().max(most));
    let moved = |[one, two, three]: &[f64; 3]| (one - two).abs().max((two - three).abs());
    totals.iter().any(|own| moved(own) > SHARE * scale)
}

/// A clamp that gives back what a reward takes, on every row where it does.
fn clamped(tested: Tested<'_>, at: usize) -> Option<Finding> {
    let [low, _] = tested.plan().config.combine.clamp?;
    let weight = tested.plan().rewards.get(at)?.weight.at(tested.look.step);
    let takes = tested
        .trial
        .rows
        .iter()
        .filter(|tried| tried.shaped(at).is_some_and(|own| own * weight < 0.0));
    let rows: Vec<_> = takes.filter(|tried| tried.outcome.reward().is_some()).collect();
    let is_cut = |tried: &&crate::trial::Tried<'_>| {
        let own = tried.outcome.reward().map(Reward::get);
        own.is_some() && own == total(tested, &tried.verdicts, (at, 0.0), tested.look.step)
    };
    let first = rows.first().filter(|_| rows.iter().all(is_cut))?.row.number;
    let name = tested.plan().names.get(at)?;
    let message = format!(
        "{}: \"{name}\" takes something away, and `clamp` gives it back on each of them: nothing is below {low}",
        which(rows.len(), first)
    );
    let help =
        format!("lower the first end, as in clamp = [{:.1}, ...], or leave clamp out", low - 1.0);
    Some(Finding::at("combine.clamp", message, help).with("rows", rows.len()).with("row", first))
}
