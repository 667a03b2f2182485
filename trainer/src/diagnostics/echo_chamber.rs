//! Echo chambers: training that narrows to one of the base model's formats or answers.

use assay_verifiers::stats::{entropy, ratio, share};
use std::collections::BTreeMap;

use serde::Serialize;

/// When the narrowing is told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EchoSettings {
    /// The entropy fell below this share of that of the first outputs.
    pub entropy_below: f64,
    /// The most frequent cluster has more than this share.
    pub top_above: f64,
}

impl Default for EchoSettings {
    fn default() -> Self {
        Self { entropy_below: 0.5, top_above: 0.8 }
    }
}

/// The clusters of the outputs at one point of training.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EchoState {
    /// The most frequent cluster; of several, the first in the order of the alphabet.
    pub top: Option<String>,
    /// Its share of the outputs.
    pub top_share: Option<f64>,
    /// Its share of the first outputs: what the base model had of it.
    pub top_share_at_first: Option<f64>,
    /// The entropy of the clusters, in nats.
    pub entropy: Option<f64>,
    /// The entropy over that of the first outputs; `null` where that is 0.
    pub entropy_kept: Option<f64>,
    /// Whether the outputs have narrowed by either limit. The first outputs have not.
    pub narrowed: bool,
}

/// Follows the clusters of outputs, such as their formats, over training. Each step is the cluster of
/// each of its outputs; the first step is the base model.
///
/// Source: "Echo Chamber: RL Post-training Amplifies Behaviors Learned in Pretraining" (Zhao et al.
/// 2025), section 3.
pub fn echo_chamber(steps: &[Vec<&str>], settings: EchoSettings) -> Vec<EchoState> {
    let counted: Vec<BTreeMap<&str, usize>> = steps.iter().map(|step| counts(step)).collect();
    let Some(first) = counted.first() else { return Vec::new() };
    let first_entropy = entropy(first.values().copied());
    let state = |(at, counts): (usize, &BTreeMap<&str, usize>)| {
        let all: usize = counts.values().sum();
        let top = counts.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)));
        let own_entropy = entropy(counts.values().copied());
        let entropy_kept =
            own_entropy.zip(first_entropy).and_then(|(own, first)| ratio(own, first));
        let top_share = top.and_then(|(_, count)| share(*count, all));
        let at_first = |name: &str| first.get(name).copied().unwrap_or_default();
        let narrowed = entropy_kept.is_some_and(|kept| kept < settings.entropy_below)
            || top_share.is_some_and(|share| share > settings.top_above);
        EchoState {
            top: top.map(|(name, _)| (*name).to_owned()),
            top_share,
            top_share_at_first: top
                .and_then(|(name, _)| share(at_first(name), first.values().sum())),
            entropy: own_entropy,
            entropy_kept,
            narrowed: at > 0 && narrowed,
        }
    };
    counted.iter().enumerate().map(state).collect()
}

fn counts<'a>(labels: &[&'a str]) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for label in labels {
        *counts.entry(*label).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrowing_is_told() {
        let steps = [
            vec!["code", "prose", "code", "prose"],
            vec!["code", "code", "prose", "code"],
            vec!["code", "code", "code", "code"],
        ];
        let states = echo_chamber(&steps, EchoSettings::default());
        assert_eq!(states[0].top.as_deref(), Some("code"));
        assert_eq!((states[0].top_share, states[2].top_share), (Some(0.5), Some(1.0)));
        assert_eq!(states[2].top_share_at_first, Some(0.5));
        // -(3/4 ln 3/4 + 1/4 ln 1/4) / ln 2 = 0.8113.
        assert!((states[1].entropy_kept.unwrap() - 0.8113).abs() < 1e-4);
        let told: Vec<bool> = states.iter().map(|state| state.narrowed).collect();
        assert_eq!(told, [false, false, true]);
        assert_eq!(echo_chamber(&[], EchoSettings::default()), []);
    }

    #[test]
    fn a_base_model_without_variety_has_nothing_to_lose() {
        let states = echo_chamber(&[vec!["a"], vec!["a"], vec![]], EchoSettings::default());
        assert!(!states[0].narrowed && states[1].narrowed);
        assert_eq!((states[1].entropy_kept, states[2].top_share), (None, None));
    }
}
