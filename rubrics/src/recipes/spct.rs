//! Self-principled critique tuning: votes of a generative reward model, and the reward that trains it.
//!
//! "Inference-Time Scaling for Generalist Reward Modeling" (Liu et al. 2025), sections on rule-based
//! online reinforcement learning and on inference-time scaling.

/// The reward of one critique with a score for each response: 1 where the best response, at `best`, has
/// a score above all others, else -1. `None` for fewer than two scores, or where `best` is none of them.
pub fn rule_reward(scores: &[f64], best: usize) -> Option<f64> {
    let own = scores.get(best).filter(|_| scores.len() > 1)?;
    let beaten = scores.iter().enumerate().all(|(at, other)| at == best || own > other);
    Some(if beaten { 1.0 } else { -1.0 })
}

/// The reward of one critique of a single response: 1 where the score is the label, else -1.
#[expect(clippy::float_cmp, reason = "scores are whole numbers")]
pub fn single_rule_reward(score: f64, label: f64) -> f64 {
    if score == label { 1.0 } else { -1.0 }
}

/// The sum of the scores of each response over the critiques, and how many critiques were counted. With
/// `k` critiques of 1 to 10 the sums are `k` to `10 k`. A critique that is missing, of another length
/// or not finite is left out; `None` where all are.
pub fn vote(critiques: &[Option<Vec<f64>>], responses: usize) -> Option<(Vec<f64>, usize)> {
    let read = critiques.iter().flatten().filter(|scores| is_whole(scores, responses));
    sum(read, responses)
}

/// The same over the critiques that a meta reward model rates highest: `keep` of them, half of them by
/// default. `meta` has a rating for each critique; of equal ratings the first is kept.
pub fn meta_vote(
    critiques: &[Option<Vec<f64>>],
    meta: &[f64],
    responses: usize,
    keep: Option<usize>,
) -> Option<(Vec<f64>, usize)> {
    let mut read: Vec<(&Vec<f64>, f64)> = critiques
        .iter()
        .zip(meta)
        .filter_map(|(scores, rating)| Some((scores.as_ref()?, *rating)))
        .filter(|(scores, rating)| is_whole(scores, responses) && rating.is_finite())
        .collect();
    read.sort_by(|a, b| b.1.total_cmp(&a.1));
    read.truncate(keep.unwrap_or(critiques.len() / 2).max(1));
    sum(read.into_iter().map(|(scores, _)| scores), responses)
}

/// The response with the highest sum; `None` where several have it.
pub fn best(sums: &[f64]) -> Option<usize> {
    let most = sums.iter().copied().reduce(f64::max)?;
    let mut leaders = sums.iter().enumerate().filter(|(_, sum)| **sum >= most);
    let (leader, _) = leaders.next()?;
    leaders.next().is_none().then_some(leader)
}

fn is_whole(scores: &[f64], responses: usize) -> bool {
    scores.len() == responses && scores.iter().all(|score| score.is_finite())
}

fn sum<'a>(
    critiques: impl Iterator<Item = &'a Vec<f64>>,
    responses: usize,
) -> Option<(Vec<f64>, usize)> {
    let mut sums = vec![0.0; responses];
    let mut counted = 0;
    for scores in critiques {
        counted += 1;
        sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
    }
    (counted > 0).then_some((sums, counted))
}
