//! Whether rewards tell rollouts of one prompt apart.

use assay_verifiers::stats::{
    bounds, corrected_mean, entropy, float, present, ranks, ratio, sample_variance, share,
};

use crate::groups::Groups;
use crate::prelude::*;

/// From where on rewards differ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, SmartDefault)]
pub struct DiscriminabilitySettings {
    /// Rewards are rounded to multiples of this before distinct values and levels are counted; above 0.
    #[default(1e-3)]
    pub resolution: f64,
    /// A group with right and wrong rollouts has collapsed where the standard deviation of its
    /// rewards is below this.
    #[default(0.03)]
    pub collapsed_below: f64,
}

/// Whether rewards tell rollouts of one prompt apart. Means are over the groups in which two rollouts
/// or more have a reward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Discriminability {
    /// Groups.
    pub groups: usize,
    /// Groups in which no rollout has a reward.
    pub without_reward: usize,
    /// Groups in which one rollout alone has a reward: nothing to compare it with.
    pub of_one: usize,
    /// Groups of more, all of whose rewards are equal: nothing is learned from them.
    pub zero_variance: usize,
    /// Their share among the groups of two rewards or more.
    pub zero_variance_share: Option<f64>,
    /// Rollouts without a reward.
    pub missing: usize,
    /// The mean of greatest minus least reward.
    pub range: Option<f64>,
    /// The mean of the standard deviation, with the denominator n - 1.
    pub standard_deviation: Option<f64>,
    /// The mean number of distinct rewards, rounded to the resolution.
    pub distinct: Option<f64>,
    /// The mean of exp(entropy) of the rounded rewards: how many levels are in use, if all were used
    /// alike.
    pub effective_levels: Option<f64>,
    /// The probability that a right rollout has a higher reward than a wrong one of its prompt, a tie
    /// counting half, over all such pairs; `null` without labels.
    pub pairwise_auc: Option<f64>,
    /// The mean, over groups with both labels, of the mean reward of the right rollouts minus that of
    /// the wrong ones.
    pub contrast: Option<f64>,
    /// Groups with right and wrong rollouts.
    pub mixed: usize,
    /// Those of them whose rewards hardly differ.
    pub collapsed: usize,
    /// Their share among the mixed groups.
    pub collapsed_share: Option<f64>,
}

/// Measures how rewards tell rollouts apart, and whether they agree with `correct`, a label that is
/// trusted; without labels, `correct` is empty.
///
/// Sources: "DAPO: An Open-Source LLM Reinforcement Learning System at Scale" (Yu et al. 2025), section
/// 3.2, for groups without variance; effective levels are the exponential of Shannon's entropy
/// ("Diversity and Evenness", Hill 1973, order 1).
///
/// # Errors
/// Not one reward, or label if there are any, for each row of the groups; a resolution of 0 or less.
pub fn discriminability(
    groups: &Groups,
    rewards: &[f64],
    correct: &[Option<bool>],
    settings: DiscriminabilitySettings,
) -> Result<Discriminability, TrainerError> {
    groups.along("rewards", rewards.len())?;
    if !correct.is_empty() {
        groups.along("labels", correct.len())?;
    }
    above("resolution", settings.resolution, 0.0)?;
    let mut tally = GroupTally::default();
    for members in groups.iter() {
        #[expect(clippy::indexing_slicing, reason = "there is a reward for each row")]
        let row = |row: usize| (rewards[row], correct.get(row).copied().flatten());
        let rows: Vec<(f64, Option<bool>)> = members.rows().map(row).collect();
        tally.add(&rows, settings);
    }
    Ok(tally.found())
}

/// The probability that a positive has a higher score than a negative, a tie counting half. Rows whose
/// score or label is missing are left out. `None` where either label is missing altogether.
///
/// Source: "The Meaning and Use of the Area under a Receiver Operating Characteristic (ROC) Curve"
/// (Hanley, `McNeil` 1982): by ranks, the statistic of Mann and Whitney.
pub fn auroc(scores: &[f64], labels: &[Option<bool>]) -> Option<f64> {
    let (wins, pairs) = ranked_pairs(scores, labels);
    ratio(wins, pairs)
}

/// Pairs of a positive and a negative in which the positive is higher, ties counting half; and all.
fn ranked_pairs(scores: &[f64], labels: &[Option<bool>]) -> (f64, f64) {
    let rows = scores.iter().zip(labels);
    let rows = rows.filter_map(|(score, label)| Some((*score, (*label)?)));
    let (scores, labels): (Vec<f64>, Vec<bool>) =
        rows.filter(|(score, _)| score.is_finite()).unzip();
    let positives = float(labels.iter().filter(|label| **label).count());
    let ranks = ranks(&scores);
    let sum: f64 =
        ranks.iter().zip(&labels).filter(|(_, label)| **label).map(|(rank, _)| rank).sum();
    let wins = sum - positives * (positives + 1.0) / 2.0;
    (wins, positives * (float(labels.len()) - positives))
}

/// Groups in the making.
#[derive(Default)]
struct GroupTally {
    found: Discriminability,
    ranges: Vec<f64>,
    deviations: Vec<f64>,
    distinct: Vec<f64>,
    levels: Vec<f64>,
    contrasts: Vec<f64>,
    wins: f64,
    pairs: f64,
}

impl GroupTally {
    fn add(&mut self, rows: &[(f64, Option<bool>)], settings: DiscriminabilitySettings) {
        let (all, labels): (Vec<f64>, Vec<Option<bool>>) = rows.iter().copied().unzip();
        let rewards = present(&all);
        self.found.groups += 1;
        self.found.missing += all.len() - rewards.len();
        match rewards.len() {
            0 => self.found.without_reward += 1,
            1 => self.found.of_one += 1,
            _ => self.compare(&rewards, settings.resolution),
        }
        let (wins, pairs) = ranked_pairs(&all, &labels);
        self.wins += wins;
        self.pairs += pairs;
        if pairs > 0.0 {
            self.contrast(rows);
            let deviation = sample_variance(&rewards).map(f64::sqrt);
            let collapsed = deviation.is_some_and(|value| value < settings.collapsed_below);
            self.found.mixed += 1;
            self.found.collapsed += usize::from(collapsed);
        }
    }

    fn compare(&mut self, rewards: &[f64], resolution: f64) {
        let range = bounds(rewards).map(|(least, most)| most - least);
        self.found.zero_variance += usize::from(range == Some(0.0));
        self.ranges.extend(range);
        self.deviations.extend(sample_variance(rewards).map(f64::sqrt));
        let mut rounded: Vec<f64> = rewards.iter().map(|r| (r / resolution).round()).collect();
        rounded.sort_by(f64::total_cmp);
        #[expect(clippy::float_cmp, reason = "rounded to whole numbers")]
        let counts: Vec<usize> = rounded.chunk_by(|a, b| a == b).map(<[f64]>::len).collect();
        self.distinct.push(float(counts.len()));
        self.levels.extend(entropy(counts).map(f64::exp));
    }

    fn contrast(&mut self, rows: &[(f64, Option<bool>)]) {
        let of_label = |wanted: bool| {
            let rows = rows.iter().filter(|(_, label)| *label == Some(wanted));
            corrected_mean(&present(&rows.map(|(reward, _)| *reward).collect::<Vec<_>>()))
        };
        let both = of_label(true).zip(of_label(false));
        self.contrasts.extend(both.map(|(right, wrong)| right - wrong));
    }

    fn found(self) -> Discriminability {
        let compared = self.found.groups - self.found.of_one - self.found.without_reward;
        Discriminability {
            zero_variance_share: share(self.found.zero_variance, compared),
            range: corrected_mean(&self.ranges),
            standard_deviation: corrected_mean(&self.deviations),
            distinct: corrected_mean(&self.distinct),
            effective_levels: corrected_mean(&self.levels),
            pairwise_auc: ratio(self.wins, self.pairs),
            contrast: corrected_mean(&self.contrasts),
            collapsed_share: share(self.found.collapsed, self.found.mixed),
            ..self.found
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: Option<bool> = Some(true);
    const WRONG: Option<bool> = Some(false);

    #[test]
    fn groups_by_hand() {
        let groups = Groups::by_key([0, 0, 0, 1, 1, 2, 3, 3, 3]);
        let nan = f64::NAN;
        let rewards = [1.0, 0.0, 0.5, 0.7, 0.7, 0.2, nan, nan, nan];
        let labels = [RIGHT, WRONG, WRONG, RIGHT, WRONG, RIGHT, RIGHT, WRONG, None];
        let found =
            discriminability(&groups, &rewards, &labels, DiscriminabilitySettings::default());
        let found = found.unwrap();
        assert_eq!((found.groups, found.without_reward, found.of_one), (4, 1, 1));
        assert_eq!((found.zero_variance, found.zero_variance_share), (1, Some(0.5)));
        assert_eq!((found.missing, found.range, found.distinct), (3, Some(0.5), Some(2.0)));
        assert_eq!(found.standard_deviation, Some(0.25));
        assert!((found.effective_levels.unwrap() - 2.0).abs() < 1e-12);
        // Pairs: 1 > 0, 1 > 0.5, and 0.7 = 0.7.
        assert_eq!(found.pairwise_auc, Some(2.5 / 3.0));
        assert_eq!(found.contrast, Some(0.375));
        assert_eq!((found.mixed, found.collapsed, found.collapsed_share), (2, 1, Some(0.5)));
    }

    #[test]
    fn without_labels_there_is_no_agreement() {
        let groups = Groups::of_size(2, 2).unwrap();
        let settings = DiscriminabilitySettings::default();
        let found = discriminability(&groups, &[0.0, 1.0], &[], settings).unwrap();
        assert_eq!((found.pairwise_auc, found.contrast, found.collapsed_share), (None, None, None));
        assert!(discriminability(&groups, &[0.0], &[], settings).is_err());
        assert!(discriminability(&groups, &[0.0, 1.0], &[RIGHT], settings).is_err());
        let none = DiscriminabilitySettings { resolution: 0.0, ..settings };
        assert!(discriminability(&groups, &[0.0, 1.0], &[], none).is_err());
    }

    #[test]
    fn auroc_by_hand() {
        let labels = [RIGHT, WRONG, RIGHT, WRONG, None];
        assert_eq!(auroc(&[0.9, 0.8, 0.8, 0.1, 0.0], &labels), Some(3.5 / 4.0));
        assert_eq!(auroc(&[0.9, 0.8], &[RIGHT, RIGHT]), None);
    }
}
