//! The formulas over the answers.

use assay_verifiers::{Fault, Meter};

use super::expression::expression;
use crate::rubric::{Aggregation, Answers, Criterion, How, OnMissing, Rubric};

/// What the answers of a rubric come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregated {
    /// The reward.
    pub reward: f64,
    /// The share of each criterion with criteria below it, by name.
    pub nodes: Vec<(String, Option<f64>)>,
    /// The gate that was not passed.
    pub gate: Option<String>,
}

impl Aggregation {
    /// The reward of the answers to the criteria of `rubric`, by the names of its leaves. `Ok(None)`
    /// where too many are missing.
    ///
    /// # Errors
    /// An expression that fails, or a reward that is not finite.
    pub fn of(
        &self,
        rubric: &Rubric,
        answers: &Answers,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Aggregated>, Fault> {
        let mut nodes = Vec::new();
        let top = self.shares(rubric, answers, &mut nodes);
        if let Some(gate) = self.gate(rubric, answers, &nodes) {
            let reward = self.floor;
            return Ok(Some(Aggregated { reward, nodes, gate: Some(gate.to_owned()) }));
        }
        if !self.is_complete(rubric, answers) {
            return Ok(None);
        }
        let Some(combined) = self.combined(&top, answers, meter)? else { return Ok(None) };
        let reward = self.finished(combined, &top);
        if !reward.is_finite() {
            return Err(Fault::bad_input(format!("the rubric comes to {reward}, not a number")));
        }
        Ok(Some(Aggregated { reward, nodes, gate: None }))
    }

    /// The share of each criterion with criteria below it, by name; `None` where they are not all
    /// answered.
    pub fn nodes(&self, rubric: &Rubric, answers: &Answers) -> Vec<(String, Option<f64>)> {
        let mut nodes = Vec::new();
        self.shares(rubric, answers, &mut nodes);
        nodes
    }

    /// The shares of the criteria at the top.
    fn shares<'a>(
        &self,
        rubric: &'a Rubric,
        answers: &Answers,
        nodes: &mut Vec<(String, Option<f64>)>,
    ) -> Vec<(&'a Criterion, Option<f64>)> {
        let each = rubric.criteria.iter();
        each.map(|criterion| (criterion, self.share(criterion, answers, nodes))).collect()
    }

    /// The first gate that the answers so far close; more answers do not open it.
    pub fn gate<'a>(
        &self,
        rubric: &'a Rubric,
        answers: &Answers,
        nodes: &[(String, Option<f64>)],
    ) -> Option<&'a str> {
        fn closed<'a>(
            criterion: &'a Criterion,
            share: &dyn Fn(&str) -> Option<f64>,
        ) -> Option<&'a str> {
            let share_own = share(&criterion.name);
            let is_closed = share_own.is_some_and(|own| {
                let met = criterion.is_met(own);
                (criterion.essential && !met) || (criterion.veto && met)
            });
            let below = || criterion.criteria.iter().find_map(|one| closed(one, share));
            if is_closed { Some(&criterion.name) } else { below() }
        }
        let share = |name: &str| match answers.get(name) {
            Some(answer) => answer.as_ref().map(|answer| answer.share),
            None => nodes.iter().find(|(node, _)| node == name).and_then(|(_, share)| *share),
        };
        rubric.criteria.iter().find_map(|criterion| closed(criterion, &share))
    }

    /// Whether enough is answered.
    #[expect(clippy::cast_precision_loss, reason = "criteria are few")]
    fn is_complete(&self, rubric: &Rubric, answers: &Answers) -> bool {
        let leaves = rubric.leaves();
        let answered = |leaf: &&&Criterion| answers.get(&leaf.name).is_some_and(Option::is_some);
        let missing = leaves.len() - leaves.iter().filter(answered).count();
        match self.on_missing {
            OnMissing::Unscored => missing == 0,
            OnMissing::Renormalise => {
                missing < leaves.len() && missing as f64 <= self.missing_max * leaves.len() as f64
            }
        }
    }

    /// The share of a criterion; of a node, the weighted mean of those below it that are answered.
    #[expect(clippy::indexing_slicing, reason = "the node was just pushed")]
    fn share(
        &self,
        criterion: &Criterion,
        answers: &Answers,
        nodes: &mut Vec<(String, Option<f64>)>,
    ) -> Option<f64> {
        if !criterion.is_node() {
            return answers.get(&criterion.name)?.as_ref().map(|answer| answer.share);
        }
        let at = nodes.len();
        nodes.push((criterion.name.clone(), None));
        let below: Vec<(&Criterion, Option<f64>)> = criterion
            .criteria
            .iter()
            .map(|below| (below, self.share(below, answers, nodes)))
            .collect();
        let (mut sum, mut weights) = (0.0, 0.0);
        for (below, share) in below {
            let Some(share) = share else {
                if self.on_missing == OnMissing::Unscored {
                    return None;
                }
                continue;
            };
            sum += below.points * share;
            weights += below.points;
        }
        // A node below which nothing has weight earns nothing.
        let share = if weights == 0.0 { 0.0 } else { sum / weights };
        nodes[at].1 = Some(share);
        Some(share)
    }

    /// The formula over the criteria at the top.
    fn combined(
        &self,
        top: &[(&Criterion, Option<f64>)],
        answers: &Answers,
        meter: &mut Meter<'_>,
    ) -> Result<Option<f64>, Fault> {
        let answered =
            || top.iter().filter_map(|(one, share)| Some((one.points, self.saturated((*share)?))));
        let sum = || answered().map(|(points, share)| points * share).sum::<f64>();
        let over = |weight: fn(f64) -> f64| {
            let whole: f64 = answered().map(|(points, _)| weight(points)).sum();
            (whole != 0.0).then(|| sum() / whole)
        };
        Ok(match self.how {
            How::WeightedMean => over(|points| points),
            How::PositivePoints => over(|points| points.max(0.0)),
            How::AbsolutePoints => over(f64::abs),
            How::Sum => Some(sum()),
            How::Value => {
                let mut values = answers.values().filter_map(Option::as_ref);
                values.next().map(|answer| answer.value)
            }
            How::Min => answered().map(|(_, share)| share).reduce(f64::min),
            How::Product => answered().map(|(_, share)| share).reduce(|a, b| a * b),
            How::Expression => {
                let source = self.expression.as_deref().unwrap_or_default();
                Some(expression(source, top, answers, meter)?)
            }
        })
    }

    /// What comes after the formula: interactions, range, top, clip, threshold.
    fn finished(&self, combined: f64, top: &[(&Criterion, Option<f64>)]) -> f64 {
        let share = |name: &str| {
            let found = top.iter().find(|(criterion, _)| criterion.name == name);
            found.and_then(|(_, share)| *share).map_or(0.0, |share| self.saturated(share))
        };
        let together: f64 = self.interactions.iter().map(|one| one.of(share)).sum();
        let reward = combined + together;
        let reward = self.range.map_or(reward, |[low, high]| (reward - low) / (high - low));
        let reward = self.top.map_or(reward, |top| top.of(reward));
        let reward = self.clip.map_or(reward, |[low, high]| reward.clamp(low, high));
        match self.threshold {
            Some(threshold) if reward >= threshold => 1.0,
            Some(_) => 0.0,
            None => reward,
        }
    }
}
