//! METEOR (Banerjee and Lavie 2005) by equal words alone, as NLTK aligns and weighs them.

use crate::intern::Vocabulary;
use crate::score::{Overlap, float};
use crate::tokens::{lowered, words};

/// How METEOR weighs; by default as NLTK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeteorWeights {
    /// How much precision counts in the mean with recall, from 0 to 1.
    pub alpha: f64,
    /// The power of the share of chunks.
    pub beta: f64,
    /// The greatest penalty.
    pub gamma: f64,
}

impl Default for MeteorWeights {
    fn default() -> Self {
        Self { alpha: 0.9, beta: 3.0, gamma: 0.5 }
    }
}

/// The score of the best of several references, from 0 to 1, by words between white space in lower case.
/// Linear in the texts.
pub fn meteor(text: &str, references: &[&str], weights: MeteorWeights) -> f64 {
    references.iter().map(|reference| one(text, reference, weights)).fold(0.0, f64::max)
}

fn one(text: &str, reference: &str, weights: MeteorWeights) -> f64 {
    let (text, reference) = (lowered(text), lowered(reference));
    let mut vocabulary = Vocabulary::default();
    let given = vocabulary.text(words(&text));
    let wanted = vocabulary.text(words(&reference));
    // The places of each word in the reference, of which the last that is left is taken.
    let mut places = vec![Vec::new(); vocabulary.len() + 1];
    for (place, word) in wanted.iter().enumerate() {
        if let Some(places) = places.get_mut(*word as usize) {
            places.push(place);
        }
    }
    let mut pairs = Vec::new();
    for (at, word) in given.iter().enumerate().rev() {
        if let Some(place) = places.get_mut(*word as usize).and_then(Vec::pop) {
            pairs.push((at, place));
        }
    }
    if pairs.is_empty() {
        return 0.0;
    }
    let goes_on = |((at, place), (before, earlier)): &(&(usize, usize), &(usize, usize))| {
        *at == before + 1 && *place == earlier + 1
    };
    let chunks = pairs.len() - pairs.iter().zip(pairs.iter().skip(1)).filter(goes_on).count();
    let Overlap { precision, recall } = Overlap::of(pairs.len(), given.len(), wanted.len());
    let mean = precision * recall / (weights.alpha * precision + (1.0 - weights.alpha) * recall);
    let share = float(chunks) / float(pairs.len());
    (1.0 - weights.gamma * share.powf(weights.beta)) * mean
}
