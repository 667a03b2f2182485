//! What each part contributes to a combined reward.

use assay_verifiers::stats::{corrected_mean, float, ratio, share};

use crate::advantages::RewardPart;
use crate::prelude::*;

/// What one part contributes. A contribution is weight times reward, and 0 where the reward is missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PartShare {
    /// The name of the part.
    pub name: String,
    /// Its weight.
    pub weight: f64,
    /// The share of the rows that have it.
    pub present: Option<f64>,
    /// The mean contribution.
    pub mean: Option<f64>,
    /// The mean size of the contribution, over that of all parts; these add up to 1.
    pub size_share: Option<f64>,
    /// `cov(part, sum) / var(sum)` over all rows; these add up to 1, and one is negative where a part
    /// works against the others.
    pub variance_share: Option<f64>,
    /// The same relative to the prompt: the share of what a trainer that compares rollouts of a prompt
    /// learns from.
    pub variance_share_within: Option<f64>,
}

/// The shares of the parts of a weighted sum. Rows that have no part at all are left out.
///
/// Source: the decomposition of the variance of a sum into covariances ("Risk Contributions and
/// Performance Measurement", Tasche 1999, Euler's allocation).
///
/// # Errors
/// A part with other than one reward for each row of the groups.
pub fn part_shares(
    groups: &Groups,
    parts: &[RewardPart<'_>],
) -> Result<Vec<PartShare>, TrainerError> {
    for part in parts {
        groups.along(&format!("rewards of {}", part.name), part.rewards.len())?;
    }
    let value = |part: &RewardPart<'_>, row: usize| {
        part.rewards.get(row).copied().filter(|reward| reward.is_finite())
    };
    let has_any = |row: &usize| parts.iter().any(|part| value(part, *row).is_some());
    let by_group: Vec<Vec<usize>> =
        groups.iter().map(|members| members.rows().filter(has_any).collect()).collect();
    let rows = by_group.concat();
    let contribution = |part: &RewardPart<'_>, rows: &[usize]| -> Vec<f64> {
        rows.iter()
            .map(|row| value(part, *row).map_or(0.0, |reward| part.weight * reward))
            .collect()
    };
    let contributions = |rows: &[usize]| -> Vec<Vec<f64>> {
        parts.iter().map(|part| contribution(part, rows)).collect()
    };
    let all = contributions(&rows);
    let sizes: Vec<f64> =
        all.iter().map(|values| values.iter().map(|value| value.abs()).sum()).collect();
    let size: f64 = sizes.iter().sum();
    let overall = shares(std::slice::from_ref(&all));
    let within: Vec<Vec<Vec<f64>>> = by_group.iter().map(|rows| contributions(rows)).collect();
    let within = shares(&within);
    let part = |(at, part): (usize, &RewardPart<'_>)| PartShare {
        name: part.name.to_owned(),
        weight: part.weight,
        present: share(rows.iter().filter(|row| value(part, **row).is_some()).count(), rows.len()),
        mean: all.get(at).and_then(|values| corrected_mean(values)),
        size_share: sizes.get(at).and_then(|own| ratio(*own, size)),
        variance_share: overall.get(at).copied().flatten(),
        variance_share_within: within.get(at).copied().flatten(),
    };
    Ok(parts.iter().enumerate().map(part).collect())
}

/// For each part, the sum over blocks of rows of its products with the total, about the means of the
/// block, over that of all parts.
fn shares(blocks: &[Vec<Vec<f64>>]) -> Vec<Option<f64>> {
    let parts = blocks.first().map_or(0, Vec::len);
    let mut products = vec![0.0; parts];
    let (mut squares, mut noise) = (0.0, 0.0);
    for block in blocks {
        let rows = block.first().map_or(0, Vec::len);
        let total = |row: usize| block.iter().filter_map(|part| part.get(row)).sum::<f64>();
        let totals: Vec<f64> = (0..rows).map(total).collect();
        let Some(level) = corrected_mean(&totals) else { continue };
        for (part, product) in block.iter().zip(&mut products) {
            let own = corrected_mean(part).unwrap_or_default();
            let deviations = part.iter().zip(&totals);
            *product += deviations.map(|(part, all)| (part - own) * (all - level)).sum::<f64>();
        }
        squares += totals.iter().map(|total| (total - level).powi(2)).sum::<f64>();
        let greatest = block.iter().flatten().fold(0.0, |most: f64, value| most.max(value.abs()));
        noise += (8.0 * f64::EPSILON * greatest).powi(2) * float(rows);
    }
    // What is below is rounding: the total does not vary.
    let varies = squares > noise;
    products.iter().map(|product| varies.then(|| ratio(*product, squares)).flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-9)
    }

    #[test]
    fn shares_by_hand() {
        // Contributions: right (1, 0, 1, 0), form (0.5, 0.5, 0, 0). Sums (1.5, 0.5, 1, 0), mean 0.75:
        // squares 1.25; right: 0.5 * (0.75 + 0.25 + 0.25 + 0.75) = 1; form: 0.25.
        let groups = Groups::of_size(4, 2).unwrap();
        let parts = [
            RewardPart { name: "right", weight: 1.0, rewards: &[1.0, 0.0, 1.0, 0.0] },
            RewardPart { name: "form", weight: 0.5, rewards: &[1.0, 1.0, 0.0, f64::NAN] },
        ];
        let found = part_shares(&groups, &parts).unwrap();
        let [right, form] = &found[..] else { panic!("{found:?}") };
        assert!(near(right.variance_share, 0.8) && near(form.variance_share, 0.2));
        // The form is the same for both rollouts of a prompt.
        assert!(near(right.variance_share_within, 1.0) && near(form.variance_share_within, 0.0));
        assert!(near(right.size_share, 2.0 / 3.0) && near(form.size_share, 1.0 / 3.0));
        assert!(near(right.mean, 0.5) && near(form.present, 0.75));
    }

    #[test]
    fn nothing_varies() {
        let groups = Groups::of_size(2, 2).unwrap();
        let part = RewardPart { name: "a", weight: 0.1, rewards: &[0.3, 0.3] };
        let found = part_shares(&groups, &[part]).unwrap();
        assert_eq!((found[0].variance_share, found[0].size_share), (None, Some(1.0)));
        let short = RewardPart { rewards: &[0.3], ..part };
        assert!(part_shares(&groups, &[short]).is_err());
        let missing = RewardPart { rewards: &[f64::NAN; 2], ..part };
        assert_eq!(part_shares(&groups, &[missing]).unwrap()[0].mean, None);
        assert_eq!(part_shares(&groups, &[]).unwrap(), []);
    }
}
