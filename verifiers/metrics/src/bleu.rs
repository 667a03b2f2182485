//! BLEU of one sentence (Papineni et al. 2002) as sacrebleu 2.6 has it.

use std::borrow::Cow;

use crate::grams::shared;
use crate::intern::Vocabulary;
use crate::score::{float, ratio};
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

/// BLEU against one or several references. Linear in the texts.
pub fn bleu(text: &str, references: &[&str], rules: &BleuRules) -> BleuScore {
    let prepare = |text: &'_ str| rules.tokens.prepared(text, rules.ignore_case).into_owned();
    let texts: Vec<Cow<'_, str>> =
        references.iter().map(|text| rules.tokens.prepared(text, rules.ignore_case)).collect();
    let text = prepare(text);
    let mut vocabulary = Vocabulary::default();
    let mut read = |text| {
        let mut ids = Vec::new();
        rules.tokens.split(text, |token| ids.push(vocabulary.id(token)));
        ids
    };
    let wanted: Vec<Vec<u32>> = texts.iter().map(|text| read(text)).collect();
    let given = read(&text);
    let matches = shared(&wanted, &given, vocabulary.len(), ORDERS);
    let closest = wanted.iter().map(Vec::len).min_by_key(|len| (len.abs_diff(given.len()), *len));
    combine(&matches, given.len(), closest.unwrap_or(0), rules)
}

/// GLEU of one sentence (Wu et al. 2016): the n-grams 1 to 4 that both texts have, over those of the text
/// that has more; from 0 to 1. Linear in the texts.
pub fn gleu(text: &str, reference: &str, tokens: WordSplit) -> f64 {
    let [text, reference] = [text, reference].map(|text| tokens.prepared(text, false));
    let mut vocabulary = Vocabulary::default();
    let [given, wanted] = [&text, &reference].map(|text| {
        let mut ids = Vec::new();
        tokens.split(text, |token| ids.push(vocabulary.id(token)));
        ids
    });
    let grams = |ids: &[u32]| (0..ORDERS).map(|order| ids.len().saturating_sub(order)).sum();
    let most = usize::max(grams(&given), grams(&wanted));
    let both = shared(&[wanted], &given, vocabulary.len(), ORDERS).iter().sum();
    ratio(both, most)
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
