//! N-grams that a text says more than once.

use crate::intern::{Letters, Pairs, Vocabulary};
use crate::score::{float, ratio};
use crate::tokens::{lowered, words};

/// What n-grams are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GramUnit {
    /// Words between white space, in lower case.
    #[default]
    Words,
    /// Characters.
    Characters,
}

/// The n-grams of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GramCounts {
    /// All of them.
    pub all: usize,
    /// Different ones.
    pub distinct: usize,
}

impl GramCounts {
    /// Counts the n-grams of `length` units, at least 1. Linear in the text times the length.
    pub fn of(text: &str, unit: GramUnit, length: usize) -> Self {
        let text = lowered(text);
        let ids = match unit {
            GramUnit::Words => Vocabulary::default().text(words(&text)),
            GramUnit::Characters => Letters::default().text(&text),
        };
        let (mut grams, mut distinct) = (ids.clone(), 0);
        for order in 1..=length.max(1) {
            let mut pairs = Pairs::default();
            grams.truncate((ids.len() + 1).saturating_sub(order));
            for (gram, last) in grams.iter_mut().zip(ids.iter().skip(order - 1)) {
                *gram = pairs.id(*gram, *last);
            }
            distinct = pairs.len();
            if grams.is_empty() {
                break;
            }
        }
        Self { all: grams.len(), distinct }
    }

    /// The share of n-grams that were there before, as Open-R1 counts; 0 where there are none.
    pub fn repeated(self) -> f64 {
        if self.all == 0 { 0.0 } else { 1.0 - ratio(self.distinct, self.all) }
    }

    /// How often the text says each n-gram, in the mean.
    pub fn times(self) -> f64 {
        float(self.all) / float(self.distinct.max(1))
    }
}
