//! Faults by reward, by kind, and by prompt.

use assay_verifiers::stats::{corrected_mean, float, ratio, share};
use std::collections::BTreeMap;

use assay_verifiers::FaultKind;

use crate::prelude::*;

/// The faults of one row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowFaults<'a> {
    /// Whether the combined reward failed, and how.
    pub total: Option<FaultKind>,
    /// The rewards that failed, by name.
    pub rewards: Vec<(&'a str, FaultKind)>,
}

/// Where faults are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FaultShares {
    /// Rows.
    pub rows: usize,
    /// Rows whose combined reward failed.
    pub failed: usize,
    /// Their share.
    pub share: Option<f64>,
    /// Failed verdicts by the name of the reward, then by kind.
    pub by_reward: BTreeMap<String, BTreeMap<String, usize>>,
    /// Rows whose combined reward failed, by kind.
    pub by_kind: BTreeMap<String, usize>,
    /// Prompts.
    pub groups: usize,
    /// Prompts with a failed row.
    pub groups_with: usize,
    /// Prompts all of whose rows failed.
    pub groups_whole: usize,
    /// The mean over prompts of their share of failed rows.
    pub mean_group_share: Option<f64>,
    /// The variance of those shares over what independent faults of one probability would have: 1
    /// where faults strike at random, more where they stick to prompts. `null` without faults, or
    /// where all rows failed.
    pub clustering: Option<f64>,
    /// The prompts with the greatest share of failed rows, by place, at most ten.
    pub worst: Vec<GroupFaults>,
}

/// The faults of one prompt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GroupFaults {
    /// The place of the group.
    pub group: usize,
    /// Its rows.
    pub rows: usize,
    /// Those that failed.
    pub failed: usize,
}

/// Prompts that are named.
const WORST_MAX: usize = 10;

/// Where faults are: by reward, by kind and by prompt. Faults that stick to prompts bias a trainer that
/// masks rows: it sees fewer of the prompts that are hard to judge.
///
/// Source of `clustering`: the dispersion statistic `X^2 / (k - 1)` of "Statistical Methods for
/// Research Workers" (Fisher 1925), section 19, for shares of groups.
///
/// # Errors
/// Not one entry for each row of the groups.
pub fn fault_shares(groups: &Groups, rows: &[RowFaults<'_>]) -> Result<FaultShares, TrainerError> {
    groups.along("faults", rows.len())?;
    let mut found =
        FaultShares { rows: rows.len(), groups: groups.len(), ..FaultShares::default() };
    for row in rows {
        if let Some(kind) = row.total {
            found.failed += 1;
            *found.by_kind.entry(kind.to_string()).or_default() += 1;
        }
        for (name, kind) in &row.rewards {
            let kinds = found.by_reward.entry((*name).to_owned()).or_default();
            *kinds.entry(kind.to_string()).or_default() += 1;
        }
    }
    let failed = |row: &usize| rows.get(*row).is_some_and(|row| row.total.is_some());
    let counted = groups.iter().enumerate().map(|(group, members)| GroupFaults {
        group,
        rows: members.len(),
        failed: members.rows().filter(failed).count(),
    });
    let counted: Vec<GroupFaults> = counted.collect();
    let shares: Vec<f64> = counted.iter().filter_map(GroupFaults::share).collect();
    found.share = share(found.failed, found.rows);
    found.groups_with = counted.iter().filter(|group| group.failed > 0).count();
    found.groups_whole =
        counted.iter().filter(|group| group.failed > 0 && group.failed == group.rows).count();
    found.mean_group_share = corrected_mean(&shares);
    found.clustering = found.share.and_then(|share| clustering(&counted, share));
    found.worst = counted.into_iter().filter(|group| group.failed > 0).collect();
    found.worst.sort_by(|a, b| {
        let by_share = b.share().unwrap_or(0.0).total_cmp(&a.share().unwrap_or(0.0));
        by_share.then(b.failed.cmp(&a.failed)).then(a.group.cmp(&b.group))
    });
    found.worst.truncate(WORST_MAX);
    Ok(found)
}

impl GroupFaults {
    /// The share of the rows that failed.
    fn share(&self) -> Option<f64> {
        share(self.failed, self.rows)
    }
}

fn clustering(groups: &[GroupFaults], share: f64) -> Option<f64> {
    let freedom = groups.len().checked_sub(1).filter(|freedom| *freedom > 0)?;
    let spread = share * (1.0 - share);
    let term = |group: &GroupFaults| {
        let expected = float(group.rows) * share;
        (float(group.failed) - expected).powi(2) / float(group.rows)
    };
    let sum: f64 = groups.iter().filter(|group| group.rows > 0).map(term).sum();
    ratio(sum, spread * float(freedom))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(failed: &[bool]) -> Vec<RowFaults<'static>> {
        let row = |failed: &bool| match failed {
            true => RowFaults {
                total: Some(FaultKind::Timeout),
                rewards: vec![("runs", FaultKind::Timeout)],
            },
            false => RowFaults::default(),
        };
        failed.iter().map(row).collect()
    }

    #[test]
    fn faults_by_hand() {
        let groups = Groups::by_key([0, 0, 1, 1, 2, 2]);
        let found = fault_shares(&groups, &rows(&[true, true, false, true, false, false])).unwrap();
        assert_eq!((found.failed, found.share), (3, Some(0.5)));
        assert_eq!((found.groups_with, found.groups_whole), (2, 1));
        assert_eq!(found.by_kind["Timeout"], 3);
        assert_eq!(found.by_reward["runs"]["Timeout"], 3);
        // Expected 1 of 2 in each: (1 + 0 + 1) / 2 over 0.25 * 2.
        assert_eq!((found.clustering, found.mean_group_share), (Some(2.0), Some(0.5)));
        let worst: Vec<(usize, usize)> =
            found.worst.iter().map(|group| (group.group, group.failed)).collect();
        assert_eq!(worst, [(0, 2), (1, 1)]);
    }

    #[test]
    fn without_faults_nothing_clusters() {
        let groups = Groups::of_size(4, 2).unwrap();
        let found = fault_shares(&groups, &rows(&[false; 4])).unwrap();
        assert_eq!((found.failed, found.clustering, found.worst.len()), (0, None, 0));
        assert!(fault_shares(&groups, &rows(&[false; 3])).is_err());
    }
}
