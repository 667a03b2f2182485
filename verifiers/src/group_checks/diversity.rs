//! `diversity`: how different a completion is from the others of its group, by n-grams.

use std::collections::BTreeMap;

use super::grams::{self, Grams, Shared};
use super::members::{alone, among_known, scored};
use crate::prelude::*;
use crate::stats::{float, mean_sorted};

/// How different a completion is from the others of its group, by n-grams of words.
///
/// `measure` says what is measured:
///
/// - `jaccard`: 1 minus the mean Jaccard index of its set of n-grams with that of each other member.
/// - `self_bleu`: 1 minus its BLEU with all other members as references, n-grams up to n ("Texygen:
///   A Benchmarking Platform for Text Generation Models", section "Self-BLEU"), smoothed as there
///   (NLTK, method 1: 0.1 for a precision without a match). A completion of fewer words than n is
///   measured up to its own length, so that a copy of a short text is a copy.
/// - `unique`: the share of its different n-grams that no other member has.
/// - `distinct`: distinct-n ("A Diversity-Promoting Objective Function for Neural Conversation
///   Models", section "Evaluation"): its different n-grams over all its n-grams. It looks at the
///   completion alone, and finds repetition.
///
/// Words are compared without case, and punctuation, markup and invisible characters change
/// nothing. Diversity is not quality: noise is diverse, so combine it with a reward for being right.
/// A completion without words earns 0 and is not a peer; one without peers abstains. Between 0 and 1.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct TextDiversity {
    /// What is measured: `jaccard`, `self_bleu`, `unique` or `distinct`.
    measure: DiversityMeasure,
    /// The words of an n-gram, from 1 to 10; of `self_bleu` the most. A shorter completion is one
    /// n-gram.
    #[default(2)]
    n: u8,
}

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DiversityMeasure {
    /// 1 minus the mean Jaccard index.
    #[default]
    Jaccard,
    /// 1 minus BLEU against the others.
    SelfBleu,
    /// The share of n-grams that no other has.
    Unique,
    /// Different n-grams over all n-grams.
    Distinct,
}

impl GroupCheck for TextDiversity {
    const ID: &'static str = "diversity";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        grams::order_error(self.n).map_or(Ok(()), Err)
    }

    fn check_group(&self, group: &Group<'_>, meter: &mut Meter<'_>) -> Result<Vec<Verdict>, Fault> {
        let grams = grams::read(group, self.n, meter)?.into_iter().map(|grams| match grams {
            Ok(grams) if grams.words() == 0 => Err(Verdict::graded(false).because("empty")),
            grams => grams,
        });
        among_known(grams.collect(), |members| self.judge(&members, meter))
    }
}

impl TextDiversity {
    fn judge(&self, members: &[Grams], meter: &mut Meter<'_>) -> Result<Vec<Verdict>, Fault> {
        if members.len() < 2 {
            return Ok(members.iter().map(|_| alone()).collect());
        }
        let rewards = match self.measure {
            DiversityMeasure::Jaccard => jaccard(members, meter)?,
            DiversityMeasure::SelfBleu => self_bleu(members, meter)?,
            DiversityMeasure::Unique => unique(members, meter)?,
            DiversityMeasure::Distinct => members.iter().map(distinct).collect(),
        };
        let judged = |(reward, grams): (f64, &Grams)| {
            scored(reward.clamp(0.0, 1.0)).with("words", grams.words())
        };
        Ok(rewards.into_iter().zip(members).map(judged).collect())
    }
}

fn jaccard(members: &[Grams], meter: &mut Meter<'_>) -> Result<Vec<f64>, Fault> {
    let sets: Vec<Vec<u32>> = members.iter().map(Grams::set).collect();
    let shared = Shared::count(&sets, meter)?;
    let overlap = |one: usize| {
        let others = (0..sets.len()).filter(|other| *other != one);
        mean_sorted(&others.map(|other| shared.jaccard(one, other)).collect::<Vec<_>>())
    };
    meter.spend(10 * (sets.len() as u64).saturating_mul(sets.len() as u64))?;
    Ok((0..sets.len()).map(|one| 1.0 - overlap(one)).collect())
}

fn unique(members: &[Grams], meter: &mut Meter<'_>) -> Result<Vec<f64>, Fault> {
    let sets: Vec<Vec<u32>> = members.iter().map(Grams::set).collect();
    let mut holders: BTreeMap<u32, u32> = BTreeMap::new();
    for set in &sets {
        meter.spend(20 * set.len() as u64)?;
        for gram in set {
            *holders.entry(*gram).or_default() += 1;
        }
    }
    let own = |set: &Vec<u32>| set.iter().filter(|gram| holders.get(gram) == Some(&1)).count();
    Ok(sets.iter().map(|set| float(own(set)) / float(set.len()).max(1.0)).collect())
}

fn distinct(grams: &Grams) -> f64 {
    float(grams.set().len()) / float(grams.longest().len()).max(1.0)
}

/// The most often that one member has an n-gram, who that is, and the most often that another has it.
#[derive(Clone, Copy, Default)]
struct Most {
    first: usize,
    holder: usize,
    second: usize,
}

fn self_bleu(members: &[Grams], meter: &mut Meter<'_>) -> Result<Vec<f64>, Fault> {
    let mut most: BTreeMap<u32, Most> = BTreeMap::new();
    let mut counted: Vec<Vec<BTreeMap<u32, usize>>> = Vec::new();
    for (at, grams) in members.iter().enumerate() {
        let all: usize = grams.orders().iter().map(Vec::len).sum();
        meter.spend(40 * all as u64)?;
        let counts: Vec<BTreeMap<u32, usize>> =
            grams.orders().iter().map(|one| counts(one)).collect();
        for (gram, count) in counts.iter().flatten() {
            let most = most.entry(*gram).or_default();
            if *count > most.first {
                *most = Most { first: *count, holder: at, second: most.first };
            } else {
                most.second = most.second.max(*count);
            }
        }
        counted.push(counts);
    }
    let lengths: Vec<usize> = members.iter().map(Grams::words).collect();
    meter.spend((lengths.len() as u64).saturating_mul(lengths.len() as u64))?;
    let diversity = |(at, counts): (usize, &Vec<BTreeMap<u32, usize>>)| {
        let in_others = |gram: &u32| match most.get(gram) {
            Some(most) if most.holder == at => most.second,
            Some(most) => most.first,
            None => 0,
        };
        1.0 - bleu(counts, in_others) * brevity(&lengths, at)
    };
    Ok(counted.iter().enumerate().map(diversity).collect())
}

fn counts(grams: &[u32]) -> BTreeMap<u32, usize> {
    let mut counts = BTreeMap::new();
    for gram in grams {
        *counts.entry(*gram).or_default() += 1;
    }
    counts
}

/// The geometric mean of the precisions of each order; 0 without a common word, as in NLTK.
fn bleu(orders: &[BTreeMap<u32, usize>], in_others: impl Fn(&u32) -> usize) -> f64 {
    let mut logs = 0.0;
    for (at, counts) in orders.iter().enumerate() {
        let all: usize = counts.values().sum();
        let matched: usize = counts.iter().map(|(gram, count)| (*count).min(in_others(gram))).sum();
        if at == 0 && matched == 0 {
            return 0.0;
        }
        let matched = if matched == 0 { UNMATCHED } else { float(matched) };
        logs += (matched / float(all).max(1.0)).ln();
    }
    (logs / float(orders.len()).max(1.0)).exp()
}

/// What stands in for no match.
const UNMATCHED: f64 = 0.1;

/// The brevity penalty, against the nearest length of another member; of two the shorter.
#[expect(clippy::indexing_slicing, reason = "`at` is a member")]
fn brevity(lengths: &[usize], at: usize) -> f64 {
    let own = lengths[at];
    let others = lengths.iter().enumerate().filter(|(other, _)| *other != at);
    let nearest = others.map(|(_, length)| *length).min_by_key(|one| (one.abs_diff(own), *one));
    match nearest {
        Some(nearest) if own <= nearest => (1.0 - float(nearest) / float(own).max(1.0)).exp(),
        _ => 1.0,
    }
}
