//! Rewards of steps for a trainer that adds them up.

/// The reward of each step by Clip and Delta: scores above `ceiling` count as it, so that repeating
/// good steps gains nothing; then each step earns what it has over the next, so that what follows a
/// step adds up to its own clipped score, however many steps there are.
///
/// With `c_k = min(p_k - ceiling, 0)`: `r_k = c_k - c_(k+1)` up to the last but two, the last but
/// one keeps `c`, and the last earns nothing: the outcome speaks for it.
///
/// Source: "On Designing Effective RL Reward at Training Time for LLM Reasoning", Clip and
/// Delta.
pub fn clip_delta(scores: &[f64], ceiling: f64) -> Vec<f64> {
    let clipped: Vec<f64> = scores.iter().map(|score| (score - ceiling).min(0.0)).collect();
    let count = clipped.len();
    let reward = |(at, own): (usize, &f64)| match clipped.get(at + 1) {
        None => 0.0,
        Some(_) if at + 2 == count => *own,
        Some(next) => own - next,
    };
    clipped.iter().enumerate().map(reward).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_good_steps_gain_nothing_by_clip_and_delta() {
        let all = |rewards: &[f64]| rewards.iter().sum::<f64>();
        let short = clip_delta(&[0.9, 0.2, 0.8], 0.7);
        let long = clip_delta(&[0.9, 0.9, 0.9, 0.9, 0.2, 0.8], 0.7);
        assert!((all(&short) - all(&long)).abs() < 1e-12);
        assert_eq!(clip_delta(&[0.3], 0.7), [0.0]);
    }
}
