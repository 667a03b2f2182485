//! Completions that an audit found to be paid.

use super::paid_groups::rightness;
use crate::reports::RolloutReport;
use assay_verifiers::Reward;

/// Characters from which on an attack may stand within a completion; a shorter one is all of it.
const WITHIN_CHARS: usize = 12;

/// The shapes of attacks: an attack on one task is one on all.
pub(super) struct KnownAttacks(Vec<String>);

impl KnownAttacks {
    pub(super) fn new(texts: &[String]) -> Self {
        Self(texts.iter().map(|text| shape(text)).filter(|shape| !shape.is_empty()).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a rollout is not right, as far as is known, and has an attack.
    pub(super) fn is_in(&self, rollout: &RolloutReport) -> bool {
        let is_right = rightness(rollout).is_some_and(|right| right >= Reward::RIGHT);
        let own = shape(&rollout.completion);
        let has = |attack: &String| match attack.chars().count() {
            WITHIN_CHARS.. => own.contains(attack.as_str()),
            _ => own == *attack,
        };
        !is_right && self.0.iter().any(has)
    }
}

/// A text without regard to case, numbers and blanks.
fn shape(text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    for char in text.trim().chars().flat_map(char::to_lowercase) {
        let char = match char {
            char if char.is_numeric() => '0',
            char if char.is_whitespace() => ' ',
            char => char,
        };
        if !(matches!(char, '0' | ' ') && shape.ends_with(char)) {
            shape.push(char);
        }
    }
    shape
}
