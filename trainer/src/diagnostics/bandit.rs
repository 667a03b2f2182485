//! Bandits: whether a policy explores, and the rewards that are made of regret.

use assay_verifiers::stats::{corrected_mean, float, ratio};
use serde::Serialize;

/// One play of a bandit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BanditPlay<'a> {
    /// The true mean reward of each arm.
    pub means: &'a [f64],
    /// The arms that were pulled, in their order.
    pub pulls: &'a [usize],
    /// What they paid, along the pulls.
    pub rewards: &'a [f64],
}

/// How a play went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BanditReport {
    /// Pulls.
    pub pulls: usize,
    /// The share of the pulls, from the second on, of an arm whose mean so far was the greatest.
    pub greedy_share: Option<f64>,
    /// The sum over pulls of the best mean minus that of the arm.
    pub regret: f64,
    /// The last pull of a best arm, from 0; `null` where none was pulled.
    pub last_best: Option<usize>,
}

/// Measures a play. Pulls of arms that do not exist are left out.
///
/// Source: "Can Large Language Models Explore In-Context?" (Krishnamurthy et al. 2024), section 2.
pub fn bandit_report(play: &BanditPlay<'_>) -> BanditReport {
    let mut report = BanditReport::default();
    let Some(best) = play.means.iter().copied().reduce(f64::max) else { return report };
    let mut arms = vec![Arm::default(); play.means.len()];
    let mut greedy = Vec::new();
    for (pull, reward) in play.pulls.iter().zip(play.rewards) {
        let Some(own) = play.means.get(*pull) else { continue };
        let top = arms.iter().filter_map(Arm::mean).reduce(f64::max);
        if let Some(top) = top {
            let chosen = arms.get(*pull).and_then(Arm::mean);
            greedy.push(f64::from(chosen.is_some_and(|mean| mean >= top)));
        }
        report.regret += best - own;
        if *own >= best {
            report.last_best = Some(report.pulls);
        }
        report.pulls += 1;
        if let Some(arm) = arms.get_mut(*pull) {
            arm.pulls += 1;
            arm.sum += reward;
        }
    }
    report.greedy_share = corrected_mean(&greedy);
    report
}

/// The share of plays in which no best arm is pulled from pull `from` on: suffix failure. Plays that
/// are not longer than `from` are left out.
///
/// Source: as [`bandit_report`].
pub fn suffix_failure(plays: &[BanditPlay<'_>], from: usize) -> Option<f64> {
    let reports = plays.iter().map(bandit_report).filter(|report| report.pulls > from);
    let failed = reports.map(|report| f64::from(report.last_best.is_none_or(|last| last < from)));
    corrected_mean(&failed.collect::<Vec<_>>())
}

/// The reward of a pull that is made of its regret: `-(best - own)`, or `1 - (best - own) / gap` where
/// `gap` (the greatest possible regret) is given. It has no noise of the payment. `None` of an arm that
/// does not exist or a gap of 0.
///
/// There is no paper to follow: it is the definition of regret.
pub fn regret_reward(means: &[f64], arm: usize, gap: Option<f64>) -> Option<f64> {
    let best = means.iter().copied().reduce(f64::max)?;
    let regret = best - means.get(arm)?;
    match gap {
        None => Some(-regret),
        Some(gap) => Some(1.0 - ratio(regret, gap)?),
    }
}

/// The arm that UCB1 pulls next: an arm that was not pulled, else the greatest `mean + sqrt(2 ln t / n)`;
/// of several, the first. `None` without arms. A reward of 1 for pulling it imitates the oracle.
///
/// Source: "Finite-time Analysis of the Multiarmed Bandit Problem" (Auer, Cesa-Bianchi, Fischer 2002),
/// figure 1.
pub fn ucb_arm(arms: usize, pulls: &[usize], rewards: &[f64]) -> Option<usize> {
    let mut known = vec![Arm::default(); arms];
    for (pull, reward) in pulls.iter().zip(rewards) {
        if let Some(arm) = known.get_mut(*pull) {
            arm.pulls += 1;
            arm.sum += reward;
        }
    }
    let all: usize = known.iter().map(|arm| arm.pulls).sum();
    let bound = |arm: &Arm| match arm.mean() {
        None => f64::INFINITY,
        Some(mean) => mean + (2.0 * float(all).ln() / float(arm.pulls)).sqrt(),
    };
    let bounds = known.iter().map(bound).enumerate();
    bounds.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(arm, _)| arm)
}

#[derive(Clone, Copy, Default)]
struct Arm {
    pulls: usize,
    sum: f64,
}

impl Arm {
    fn mean(&self) -> Option<f64> {
        ratio(self.sum, float(self.pulls))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEANS: [f64; 2] = [0.5, 0.75];

    #[test]
    fn a_play_by_hand() {
        let play =
            BanditPlay { means: &MEANS, pulls: &[1, 0, 0, 0], rewards: &[0.0, 1.0, 1.0, 0.0] };
        let report = bandit_report(&play);
        assert_eq!((report.pulls, report.last_best), (4, Some(0)));
        assert!((report.regret - 0.75).abs() < 1e-12);
        // The second pull is of an arm that was not known; the others of the best so far.
        assert_eq!(report.greedy_share, Some(2.0 / 3.0));
        let good = BanditPlay { pulls: &[0, 1, 1, 1], ..play };
        assert_eq!(suffix_failure(&[play, good], 2), Some(0.5));
        assert_eq!(suffix_failure(&[play], 4), None);
    }

    #[test]
    fn rewards_of_regret() {
        assert_eq!(regret_reward(&MEANS, 0, None), Some(-0.25));
        assert_eq!(regret_reward(&MEANS, 0, Some(0.5)), Some(0.5));
        assert_eq!(regret_reward(&MEANS, 1, Some(0.5)), Some(1.0));
        assert_eq!(
            (regret_reward(&MEANS, 2, None), regret_reward(&MEANS, 0, Some(0.0))),
            (None, None)
        );
    }

    #[test]
    fn the_oracle_tries_all_arms_first() {
        assert_eq!(ucb_arm(2, &[], &[]), Some(0));
        assert_eq!(ucb_arm(2, &[0], &[1.0]), Some(1));
        // 1 + sqrt(2 ln 5 / 4) = 1.897 and 0.2 + sqrt(2 ln 5) = 1.994.
        assert_eq!(ucb_arm(2, &[0, 0, 0, 0, 1], &[1.0, 1.0, 1.0, 1.0, 0.2]), Some(1));
        assert_eq!(ucb_arm(0, &[], &[]), None);
    }
}
