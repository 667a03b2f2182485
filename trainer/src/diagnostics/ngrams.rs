//! Repetition within texts, and phrases that came up between two sets of texts.

use assay_verifiers::stats::{float, share};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::correlation::correlation;
use crate::prelude::*;

/// The share of the n-grams of a text that repeat an earlier one: `1 - distinct / all`. Words are
/// separated by white space and compared in lower case. `None` of a text with fewer than `n` words, or
/// of `n` 0.
///
/// Source: `rep-n` of "Neural Text Generation with Unlikelihood Training" (Welleck et al. 2020),
/// section 6.
pub fn duplicate_ngrams(text: &str, n: usize) -> Option<f64> {
    let words = Words::of(text);
    let all = words.ngrams(n).count();
    let distinct: BTreeSet<&str> = words.ngrams(n).collect();
    share(all - distinct.len(), all)
}

/// What counts as a phrase that came up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, SmartDefault)]
pub struct PhraseSettings {
    /// Words of a phrase.
    #[default(4)]
    pub words: usize,
    /// The share of texts that have the phrase rose by more than this.
    #[default(0.1)]
    pub rise_above: f64,
    /// Having the phrase correlates with the reward by more than this.
    #[default(0.1)]
    pub correlation_above: f64,
    /// The most phrases that are given.
    #[default(20)]
    pub limit: usize,
}

/// A phrase that came up and pays.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NewPhrase {
    /// The phrase, in lower case.
    pub phrase: String,
    /// The share of the texts before that have it.
    pub before: f64,
    /// The share of the texts now that have it.
    pub now: f64,
    /// Pearson's correlation, over the texts now, of having it with the reward.
    pub reward_correlation: f64,
}

/// The phrases whose share of the texts rose and which go with a higher reward: the greatest rise
/// first, equal ones in the order of the alphabet. A reward that is NaN is missing: its text counts in
/// the shares alone.
///
/// There is no paper to follow: a phrase that came up and pays is the first trace of a hack that people
/// can read.
pub fn new_phrases(
    before: &[&str],
    now: &[(&str, f64)],
    settings: PhraseSettings,
) -> Vec<NewPhrase> {
    let old: Vec<Words> = before.iter().map(|text| Words::of(text)).collect();
    let new: Vec<Words> = now.iter().map(|(text, _)| Words::of(text)).collect();
    let (had, have) = (places(&old, settings.words), places(&new, settings.words));
    let rewards: Vec<f64> = now.iter().map(|(_, reward)| *reward).collect();
    let mut found: Vec<NewPhrase> = Vec::new();
    for (phrase, texts) in have {
        let earlier = had.get(phrase).map_or(0, Vec::len);
        let (before, now) =
            (share(earlier, old.len()).unwrap_or(0.0), float(texts.len()) / float(new.len()));
        if now - before <= settings.rise_above {
            continue;
        }
        let mut has = vec![0.0; new.len()];
        for text in texts {
            if let Some(has) = has.get_mut(text) {
                *has = 1.0;
            }
        }
        // A phrase that all texts have correlates with nothing.
        let Some(reward_correlation) = correlation(&has, &rewards).pearson else { continue };
        if reward_correlation > settings.correlation_above {
            let phrase = phrase.to_owned();
            found.push(NewPhrase { phrase, before, now, reward_correlation });
        }
    }
    let rise = |phrase: &NewPhrase| phrase.now - phrase.before;
    found.sort_by(|a, b| rise(b).total_cmp(&rise(a)).then_with(|| a.phrase.cmp(&b.phrase)));
    found.truncate(settings.limit);
    found
}

/// For each phrase of `n` words, in lower case, the texts that have it, ascending.
pub fn phrase_places(texts: &[&str], n: usize) -> BTreeMap<String, Vec<usize>> {
    let words: Vec<Words> = texts.iter().map(|text| Words::of(text)).collect();
    places(&words, n).into_iter().map(|(phrase, texts)| (phrase.to_owned(), texts)).collect()
}

/// For each phrase, the texts that have it.
fn places(texts: &[Words], n: usize) -> BTreeMap<&str, Vec<usize>> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, words) in texts.iter().enumerate() {
        for phrase in words.ngrams(n) {
            let texts = places.entry(phrase).or_default();
            if texts.last() != Some(&at) {
                texts.push(at);
            }
        }
    }
    places
}

/// The words of a text in lower case, one space between them.
struct Words {
    text: String,
    spans: Vec<Range<usize>>,
}

impl Words {
    fn of(text: &str) -> Self {
        let mut words = Self { text: String::with_capacity(text.len()), spans: Vec::new() };
        for word in text.split_whitespace() {
            if !words.text.is_empty() {
                words.text.push(' ');
            }
            let start = words.text.len();
            words.text.push_str(&word.to_lowercase());
            words.spans.push(start..words.text.len());
        }
        words
    }

    /// Every run of `n` words.
    fn ngrams(&self, n: usize) -> impl Iterator<Item = &str> {
        // Of 0 words there is none.
        let runs = self.spans.windows(n.max(1)).filter(move |_| n > 0);
        runs.filter_map(|run| self.text.get(run.first()?.start..run.last()?.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_by_hand() {
        // "a b", "b a", "a b": one of three repeats.
        assert_eq!(duplicate_ngrams("a b\n A  b", 2), Some(1.0 / 3.0));
        assert_eq!(duplicate_ngrams("a b c", 3), Some(0.0));
        assert_eq!((duplicate_ngrams("a b", 3), duplicate_ngrams("a b", 0)), (None, None));
    }

    #[test]
    fn a_phrase_that_pays_is_found() {
        let before = ["the sum is 4", "so it is 5"];
        let now = [
            ("I am certain of this: 4", 1.0),
            ("well I am certain", 0.9),
            ("the sum is 4", 0.0),
            ("the product is 6", 0.1),
        ];
        let settings = PhraseSettings { words: 3, ..PhraseSettings::default() };
        let found = new_phrases(&before, &now, settings);
        assert_eq!(found[0].phrase, "i am certain");
        assert_eq!((found[0].before, found[0].now), (0.0, 0.5));
        assert!(found[0].reward_correlation > 0.9);
        assert!(found.iter().all(|phrase| phrase.phrase != "the product is"));
        let one = PhraseSettings { limit: 1, ..settings };
        assert_eq!(new_phrases(&before, &now, one).len(), 1);
        // What was there before has not come up.
        let same: Vec<&str> = now.iter().map(|(text, _)| *text).collect();
        assert_eq!(new_phrases(&same, &now, settings), []);
    }
}
