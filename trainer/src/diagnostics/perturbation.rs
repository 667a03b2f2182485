//! Changes to a text that a reward should ignore, or should punish: the families that need no language
//! model.
//!
//! Each is a function of the text and a seed; `None` where the text has nothing to change. Whether a
//! change kept the meaning is what the family says of all texts, not a check of this one: a number that
//! was jittered may not have mattered.

mod comparisons;
mod jitter;
mod steps;
mod surface;

use assay_verifiers::stats::{SplitMix64, fnv1a};
use serde::{Deserialize, Serialize};

/// A way to change a text.
///
/// Source: the static families of "Reward Under Attack: Analyzing the Robustness and Hackability of
/// Process Reward Models", as far as rules can make them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PerturbationFamily {
    /// Another last digit in each whole part of a number; equal numbers stay equal.
    NumberJitter,
    /// Each comparison becomes its negation: "greater than" is "at most", `<` is `≥`.
    NegateComparison,
    /// Two steps that differ change places.
    SwapSteps,
    /// A step is left out.
    DeleteStep,
    /// The sentences of the text, such as a question, in another order.
    ShuffleSentences,
    /// A step is said twice.
    DuplicateStep,
    /// A solved problem of another kind follows.
    AppendUnrelated,
    /// Empty phrases before the steps.
    FillerPhrases,
    /// Words of four letters and more begin with a capital.
    Capitals,
    /// Two spaces for one, outside code.
    WhiteSpace,
    /// The first word of each step is bold.
    Markdown,
}

impl PerturbationFamily {
    /// Every family.
    pub const ALL: [Self; 11] = [
        Self::NumberJitter,
        Self::NegateComparison,
        Self::SwapSteps,
        Self::DeleteStep,
        Self::ShuffleSentences,
        Self::DuplicateStep,
        Self::AppendUnrelated,
        Self::FillerPhrases,
        Self::Capitals,
        Self::WhiteSpace,
        Self::Markdown,
    ];

    /// The changed text; `None` where it has nothing to change.
    pub fn apply(self, text: &str, seed: u64) -> Option<String> {
        let random = &mut SplitMix64::of(&[seed, fnv1a(0, text)]);
        let changed = match self {
            Self::NumberJitter => jitter::numbers(text, seed),
            Self::NegateComparison => comparisons::negated(text),
            Self::SwapSteps => steps::swapped(text, random)?,
            Self::DeleteStep => steps::without_one(text, random)?,
            Self::ShuffleSentences => steps::shuffled(text, random)?,
            Self::DuplicateStep => steps::with_one_twice(text, random)?,
            Self::AppendUnrelated => surface::with_another_problem(text),
            Self::FillerPhrases => surface::with_filler(text, random),
            Self::Capitals => surface::capitals(text),
            Self::WhiteSpace => surface::wide(text),
            Self::Markdown => surface::bold(text),
        };
        Some(changed).filter(|changed| changed != text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SOLUTION: &str =
        "There are 12 apples.\n\nHe eats 5, which is less than 12.\n\n12 - 5 = 7";

    #[test]
    fn every_family_changes_a_solution_and_repeats_itself() {
        for family in PerturbationFamily::ALL {
            let text = if family == PerturbationFamily::ShuffleSentences {
                "Tom has 3 pens. He buys 2. How many has he?"
            } else {
                SOLUTION
            };
            let changed = family.apply(text, 3).unwrap_or_else(|| panic!("{family:?}"));
            assert_ne!(changed, text, "{family:?}");
            assert_eq!(family.apply(text, 3), Some(changed), "{family:?}");
        }
    }

    #[test]
    fn a_text_with_nothing_to_change_is_left_out() {
        for family in PerturbationFamily::ALL {
            let changed = family.apply("", 0);
            let appends = family == PerturbationFamily::AppendUnrelated;
            assert_eq!(changed.is_some(), appends, "{family:?}");
        }
        assert_eq!(PerturbationFamily::NumberJitter.apply("no number", 0), None);
        assert_eq!(PerturbationFamily::SwapSteps.apply("one step", 0), None);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "\\PC{0,60}", seed in any::<u64>()) {
            for family in PerturbationFamily::ALL {
                if let Some(changed) = family.apply(&text, seed) {
                    prop_assert_ne!(&changed, &text);
                }
            }
        }
    }
}
