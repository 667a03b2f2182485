//! The learning rate over the updates.
//!
//! Source: transformers 5, `optimization.py`: `get_constant_schedule_with_warmup`,
//! `get_linear_schedule_with_warmup`, `get_cosine_schedule_with_warmup` (half a cosine).

use std::f64::consts::PI;

use crate::config::{LrScheduler, OptimizerConfig};
use crate::statistics::float;

/// The learning rate of an update, counted from 0, among `total_updates`.
///
/// It rises from 0 in the first `warmup_steps`: the first update of a warm-up changes nothing. A linear
/// schedule stays at 0 after the last update; a cosine goes on.
pub fn learning_rate(config: &OptimizerConfig, total_updates: u64, update: u64) -> f64 {
    config.learning_rate * factor(config, total_updates, update)
}

fn factor(config: &OptimizerConfig, total: u64, update: u64) -> f64 {
    let warmup = config.warmup_steps;
    if update < warmup {
        return float(update) / float(warmup);
    }
    let length = float(total.saturating_sub(warmup).max(1));
    match config.lr_scheduler_type {
        LrScheduler::Constant => 1.0,
        LrScheduler::Linear => float(total.saturating_sub(update)) / length,
        LrScheduler::Cosine => {
            (0.5 * (1.0 + (PI * (float(update - warmup) / length)).cos())).max(0.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(lr_scheduler_type: LrScheduler, warmup_steps: u64, total: u64) -> Vec<f64> {
        let learning_rate = 8.0;
        let config = OptimizerConfig {
            learning_rate,
            lr_scheduler_type,
            warmup_steps,
            ..OptimizerConfig::default()
        };
        (0..6).map(|update| super::learning_rate(&config, total, update)).collect()
    }

    #[test]
    fn a_rate_rises_and_falls() {
        assert_eq!(rates(LrScheduler::Linear, 0, 4), [8.0, 6.0, 4.0, 2.0, 0.0, 0.0]);
        assert_eq!(rates(LrScheduler::Linear, 2, 4), [0.0, 4.0, 8.0, 4.0, 0.0, 0.0]);
        assert_eq!(rates(LrScheduler::Constant, 2, 4), [0.0, 4.0, 8.0, 8.0, 8.0, 8.0]);
        let cosine = rates(LrScheduler::Cosine, 1, 5);
        let half = 4.0 * (1.0 + 0.5_f64.sqrt());
        let expected = [0.0, 8.0, half, 4.0, 8.0 - half, 0.0];
        for (have, expected) in cosine.iter().zip(expected) {
            assert!((have - expected).abs() < 1e-12, "{have} is not {expected}");
        }
    }

    #[test]
    fn a_warm_up_may_be_longer_than_the_training() {
        assert_eq!(rates(LrScheduler::Linear, 8, 2), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(rates(LrScheduler::Cosine, 5, 0)[5..], [8.0]);
        assert!(rates(LrScheduler::Cosine, 0, 1).iter().all(|rate| (0.0..=8.0).contains(rate)));
    }
}
