//! Rollouts of similar length, decoded together.

/// Cuts rollouts into batches of similar length, so that the sum of the greatest lengths is least: a
/// batch takes as long as its longest rollout. Batches have at most `size` rollouts, and at most
/// `tokens_max` tokens with every rollout padded to the longest; one that is longer than that by itself
/// is alone. The batch of the shortest comes first, and rows of equal length stay in their order.
///
/// Sorted by length and cut from the longest on, every cut as late as it can be: a batch costs what its
/// first rollout costs, so that one more in it only takes from the others (Infinite Sampling: Efficient
/// and Stable Grouped RL Training for Large Language Models, its length-aware scheduler).
pub fn length_batches(
    lengths: &[usize],
    size: usize,
    tokens_max: Option<usize>,
) -> Vec<Vec<usize>> {
    let mut order: Vec<(usize, usize)> = lengths.iter().copied().enumerate().collect();
    order.sort_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(&right.0)));
    let mut batches = Vec::new();
    let mut rest: &[(usize, usize)] = &order;
    while let Some((_, longest)) = rest.first() {
        let tokens = tokens_max.unwrap_or(usize::MAX).checked_div(*longest).unwrap_or(usize::MAX);
        let (batch, after) = rest.split_at(size.min(tokens).clamp(1, rest.len()));
        batches.push(batch.iter().map(|(row, _)| *row).collect());
        rest = after;
    }
    batches.reverse();
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_ones_are_decoded_together() {
        let lengths = [7, 1, 9, 2, 8];
        assert_eq!(length_batches(&lengths, 2, None), [vec![1], vec![0, 3], vec![2, 4]]);
        // 9 + 9 and 7 + 7 + 7 tokens are too many for 15.
        let bounded = length_batches(&lengths, 3, Some(15));
        assert_eq!(bounded, [vec![1], vec![0, 3], vec![4], vec![2]]);
        assert_eq!(length_batches(&[20], 3, Some(15)), [vec![0]]);
        assert_eq!(length_batches(&[0, 0], 5, Some(1)), [vec![0, 1]]);
        assert!(length_batches(&[], 2, None).is_empty());
    }

    /// The least sum of greatest lengths over all ways to cut rollouts into batches.
    fn least(left: &mut Vec<usize>, size: usize, tokens_max: usize) -> usize {
        let Some(first) = left.pop() else { return 0 };
        let mut best = usize::MAX;
        for chosen in 0..1_usize << left.len() {
            let is_in = |at: &usize| chosen >> at & 1 == 1;
            let batch: Vec<usize> = (0..left.len()).filter(is_in).map(|at| left[at]).collect();
            let longest = batch.iter().copied().fold(first, usize::max);
            let count = batch.len() + 1;
            if count > size || (count > 1 && count * longest > tokens_max) {
                continue;
            }
            let mut rest: Vec<usize> =
                (0..left.len()).filter(|at| !is_in(at)).map(|at| left[at]).collect();
            best = best.min(longest + least(&mut rest, size, tokens_max));
        }
        left.push(first);
        best
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_other_cut_is_shorter(
            lengths in prop::collection::vec(1..20_usize, 1..7),
            size in 1..5_usize,
            tokens_max in 10..60_usize,
        ) {
            let batches = length_batches(&lengths, size, Some(tokens_max));
            let cost = |batch: &Vec<usize>| batch.iter().map(|row| lengths[*row]).max().unwrap();
            let sum: usize = batches.iter().map(cost).sum();
            prop_assert_eq!(sum, least(&mut lengths.clone(), size, tokens_max));
            let mut rows: Vec<usize> = batches.concat();
            rows.sort_unstable();
            prop_assert_eq!(rows, (0..lengths.len()).collect::<Vec<_>>());
        }
    }
}
