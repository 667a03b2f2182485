//! Whether two rewards order the rollouts of a prompt alike.

use assay_verifiers::stats::{complete, float, ratio, share};

use crate::prelude::*;

/// Pairs of rollouts of one prompt, by how two rewards order them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct OrderAgreement {
    /// Pairs with both rewards.
    pub pairs: usize,
    /// Pairs that both order alike.
    pub concordant: usize,
    /// Pairs that the two order in opposite ways.
    pub discordant: usize,
    /// The discordant pairs over those that both order: 0 where the rewards never contradict each
    /// other, 1 where they always do; `null` of none.
    pub discordance: Option<f64>,
    /// Kendall's tau-b over the pairs of all prompts, -1 to 1; `null` where a reward orders no pair.
    pub tau: Option<f64>,
}

/// Counts the pairs of rollouts of one prompt that two rewards order alike and in opposite ways. Parts
/// of a reward that oppose each other pull a policy apart, however they correlate over prompts.
///
/// Source: "The Treatment of Ties in Ranking Problems" (Kendall 1945); counted by inversions as in "A
/// Computer Method for Calculating Kendall's Tau with Ungrouped Data" (Knight 1966).
///
/// # Errors
/// Not one value for each row of the groups.
pub fn order_agreement(
    groups: &Groups,
    first: &[f64],
    second: &[f64],
) -> Result<OrderAgreement, TrainerError> {
    groups.along("first rewards", first.len())?;
    groups.along("second rewards", second.len())?;
    let mut found = OrderAgreement::default();
    let (mut ties_first, mut ties_second) = (0, 0);
    let (mut own_first, mut own_second) = (Vec::new(), Vec::new());
    for members in groups.iter() {
        let first = members.values(first, &mut own_first);
        let (first, second) = complete(first, members.values(second, &mut own_second));
        // Zero and negative zero are one value, in the order and among ties.
        let mut rows: Vec<(f64, f64)> =
            first.iter().zip(&second).map(|(a, b)| (a + 0.0, b + 0.0)).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let pairs = pairs_of(rows.len());
        let both: usize = rows.chunk_by(|a, b| a == b).map(|equal| pairs_of(equal.len())).sum();
        let own_first = ties(rows.iter().map(|row| row.0).collect());
        let mut column: Vec<f64> = rows.iter().map(|row| row.1).collect();
        let own_second = ties(column.clone());
        let discordant = inversions(&mut column);
        found.pairs += pairs;
        found.discordant += discordant;
        found.concordant += pairs + both - own_first - own_second - discordant;
        ties_first += own_first;
        ties_second += own_second;
    }
    found.discordance = share(found.discordant, found.concordant + found.discordant);
    let whole = float(found.pairs - ties_first).sqrt() * float(found.pairs - ties_second).sqrt();
    found.tau = ratio(float(found.concordant) - float(found.discordant), whole);
    Ok(found)
}

fn pairs_of(count: usize) -> usize {
    count * count.saturating_sub(1) / 2
}

/// Pairs of equal values.
fn ties(mut values: Vec<f64>) -> usize {
    values.sort_by(f64::total_cmp);
    values.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|equal| pairs_of(equal.len())).sum()
}

/// Pairs that stand in falling order. Sorts the values, by merging.
fn inversions(values: &mut [f64]) -> usize {
    if values.len() < 2 {
        return 0;
    }
    let (left, right) = values.split_at_mut(values.len() / 2);
    let mut count = inversions(left) + inversions(right);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut one, mut two) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(a), Some(b)) = (one.peek(), two.peek()) {
        if a <= b {
            merged.extend(one.next());
        } else {
            // All that is left of the first half is before it, and is greater.
            count += one.len();
            merged.extend(two.next());
        }
    }
    merged.extend(one);
    merged.extend(two);
    values.copy_from_slice(&merged);
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairs_by_hand() {
        // First group: 0 < 1 against 1 > 0, and a pair tied in the first. Second: alike.
        let groups = Groups::by_key([0, 0, 0, 1, 1, 1]);
        let first = [0.0, 1.0, 1.0, 0.0, 5.0, f64::NAN];
        let second = [1.0, 0.0, 2.0, 0.0, 1.0, 0.0];
        let found = order_agreement(&groups, &first, &second).unwrap();
        assert_eq!((found.pairs, found.concordant, found.discordant), (4, 2, 1));
        assert_eq!(found.discordance, Some(1.0 / 3.0));
        assert!((found.tau.unwrap() - 1.0 / 12.0_f64.sqrt()).abs() < 1e-12);
        assert!(order_agreement(&groups, &first, &second[..5]).is_err());
        let flat = order_agreement(&groups, &[1.0; 6], &second).unwrap();
        assert_eq!((flat.discordance, flat.tau), (None, None));
    }

    proptest! {
        #[test]
        fn counting_is_comparing_every_pair(
            rows in prop::collection::vec((-2_i8..3, -2_i8..3), 0..24),
        ) {
            let (first, second): (Vec<f64>, Vec<f64>) =
                rows.iter().map(|(a, b)| (f64::from(*a), f64::from(*b))).unzip();
            let groups = Groups::by_key(rows.iter().map(|_| 0));
            let found = order_agreement(&groups, &first, &second).unwrap();
            let (mut alike, mut opposed) = (0, 0);
            for (at, (a, b)) in rows.iter().enumerate() {
                for (c, d) in &rows[at + 1..] {
                    let product = i32::from(c - a) * i32::from(d - b);
                    alike += usize::from(product > 0);
                    opposed += usize::from(product < 0);
                }
            }
            prop_assert_eq!((found.concordant, found.discordant), (alike, opposed));
        }
    }
}
