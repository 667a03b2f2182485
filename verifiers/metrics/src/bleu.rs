//! BLEU of one sentence (Papineni et al. 2002) as sacrebleu 2.6 has it.

use std::cell::Cell;

use crate::grams::Grams;
use crate::intern::Vocabulary;
use crate::scan::Tokens;
use crate::score::{Overlap, float};
use crate::tokens::WordSplit;

/// The longest n-grams.
pub const ORDERS: usize = 4;

/// What an order without a match counts as (Chen and Cherry 2014).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Smoothing {
    /// Nothing: the score is then zero.
    None,
    /// This many matches.
    Floor(f64),
    /// This many matches and n-grams more, for every order from 2.
    Add(f64),
    /// Half a match, then a quarter, and so on.
    #[default]
    Exponential,
}

/// How BLEU is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BleuRules {
    /// The tokens.
    pub tokens: WordSplit,
    /// What an order without a match counts as.
    pub smoothing: Smoothing,
    /// Case does not count.
    pub ignore_case: bool,
    /// Leave out orders for which the text is too short.
    pub effective_order: bool,
}

/// BLEU and its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BleuScore {
    /// From 0 to 100; rounding may take it 1e-13 beyond.
    pub score: f64,
    /// The precision of each order, from 0 to 100.
    pub precisions: [f64; ORDERS],
    /// What a text shorter than the references costs, from 0 to 1.
    pub brevity: f64,
}

/// References, read once for all texts that are compared with them.
pub struct BleuReferences {
    rules: BleuRules,
    vocabulary: Vocabulary,
    grams: Grams,
    lengths: Vec<usize>,
}

impl BleuRules {
    fn with_tokens<T>(&self, text: &str, then: impl FnOnce(&Tokens) -> T) -> T {
        let mut tokens = TOKENS.take();
        self.tokens.read(&self.tokens.prepared(text, self.ignore_case), &mut tokens);
        let out = then(&tokens);
        TOKENS.set(tokens.room());
        out
    }
}

thread_local! {
    /// Room for the tokens of a text, kept for the next.
    static TOKENS: Cell<Tokens> = Cell::default();
}

impl BleuReferences {
    /// Reads one or several references. Linear.
    pub fn new(references: &[&str], rules: &BleuRules) -> Self {
        let all = references.iter().map(|text| text.len()).sum();
        let mut vocabulary = Vocabulary::for_text(all);
        let mut read = |text: &&str| rules.with_tokens(text, |tokens| vocabulary.ids(tokens));
        let wanted: Vec<Vec<u32>> = references.iter().map(&mut read).collect();
        let lengths = wanted.iter().map(Vec::len).collect();
        let grams = Grams::of(wanted, vocabulary.len() + 1, ORDERS);
        Self { rules: *rules, vocabulary, grams, lengths }
    }

    /// The matches of a text for each order, and its tokens.
    fn matches(&self, text: &str) -> (Vec<usize>, usize) {
        let given = self.rules.with_tokens(text, |tokens| self.vocabulary.known(tokens));
        (self.grams.matches(&given), given.len())
    }

    /// BLEU of a text. Linear.
    pub fn score(&self, text: &str) -> BleuScore {
        let (matches, given) = self.matches(text);
        let closest = self.lengths.iter().min_by_key(|len| (len.abs_diff(given), **len));
        combine(&matches, given, closest.copied().unwrap_or(0), &self.rules)
    }

    /// The n-grams of all orders together that a text has in common with the first reference, of which GLEU
    /// (Wu et al. 2016) is the lesser share. Linear.
    pub fn overlap(&self, text: &str) -> Overlap {
        let (matches, given) = self.matches(text);
        let all = |tokens: usize| (0..ORDERS).map(|less| tokens.saturating_sub(less)).sum();
        let wanted = self.lengths.first().copied().unwrap_or(0);
        Overlap::of(matches.iter().sum(), all(given), all(wanted))
    }
}

fn combine(matches: &[usize], given: usize, wanted: usize, rules: &BleuRules) -> BleuScore {
    let brevity = if given >= wanted {
        1.0
    } else if given == 0 {
        0.0
    } else {
        (1.0 - float(wanted) / float(given)).exp()
    };
    let mut out = BleuScore { brevity, ..BleuScore::default() };
    if matches.iter().all(|count| *count == 0) {
        return out;
    }
    let (mut orders, mut halved) = (ORDERS, 1.0);
    for (place, (count, precision)) in matches.iter().zip(&mut out.precisions).enumerate() {
        let (mut right, mut all) = (float(*count), float(given.saturating_sub(place)));
        if let Smoothing::Add(more) = rules.smoothing
            && place > 0
        {
            (right, all) = (right + more, all + more);
        }
        if all <= 0.0 {
            break;
        }
        if rules.effective_order {
            orders = place + 1;
        }
        *precision = if right > 0.0 {
            100.0 * right / all
        } else {
            match rules.smoothing {
                Smoothing::Exponential => {
                    halved *= 2.0;
                    100.0 / (halved * all)
                }
                Smoothing::Floor(floor) => 100.0 * floor / all,
                Smoothing::None | Smoothing::Add(_) => 0.0,
            }
        };
    }
    // sacrebleu takes the logarithm of zero for this number.
    let logarithm = |value: &f64| if *value > 0.0 { value.ln() } else { -9_999_999_999.0 };
    let sum: f64 = out.precisions.iter().take(orders).map(logarithm).sum();
    out.score = brevity * (sum / float(orders)).exp();
    out
}
