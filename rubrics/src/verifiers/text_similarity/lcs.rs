//! The longest common subsequence, 64 cells at a time.

use std::collections::BTreeMap;

use assay_verifiers::{Fault, Meter};

/// The length of the longest common subsequence, by the algorithm of "Bit-Parallel LCS-length
/// Computation Revisited".
pub(super) fn common<T: Ord>(a: &[T], b: &[T], meter: &mut Meter<'_>) -> Result<usize, Fault> {
    let mut places: BTreeMap<&T, Vec<usize>> = BTreeMap::new();
    for (at, token) in a.iter().enumerate() {
        places.entry(token).or_default().push(at);
    }
    // A bit that is 0 stands for a step of the subsequence at that place of `a`.
    let mut row = vec![u64::MAX; a.len().div_ceil(64)];
    let mut matches = vec![0_u64; row.len()];
    for token in b {
        let Some(found) = places.get(token) else { continue };
        meter.spend(1 + (row.len() / 8 + found.len()) as u64)?;
        for at in found {
            if let Some(word) = matches.get_mut(at / 64) {
                *word |= 1 << (at % 64);
            }
        }
        let mut carry = false;
        for (word, hit) in row.iter_mut().zip(&mut matches) {
            let kept = *word & !*hit;
            let (sum, first) = word.overflowing_add(*word & *hit);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            *word = sum | kept;
            *hit = 0;
        }
    }
    Ok(row.iter().map(|word| word.count_zeros() as usize).sum())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The table that everyone learns.
    fn table(a: &[u8], b: &[u8]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut corner = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y { corner + 1 } else { above.max(row[at]) };
                corner = above;
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_table(
            a in proptest::collection::vec(0_u8..5, 0..200),
            b in proptest::collection::vec(0_u8..5, 0..200),
        ) {
            prop_assert_eq!(common(&a, &b, &mut Meter::default()).unwrap(), table(&a, &b));
        }
    }
}
