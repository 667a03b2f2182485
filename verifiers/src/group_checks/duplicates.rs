//! `duplicates`: a completion that repeats another of its group earns nothing.

use std::collections::BTreeMap;

use super::grams::{self, Shared};
use super::members::{Known, alone, among_known, read_each, scored};
use super::words::normal;
use crate::prelude::*;
use crate::stats::float;

/// Whether a completion repeats another of its group.
///
/// Completions that repeat each other are a cluster; a chain of near-copies is one, too (single
/// linkage). The first of a cluster earns 1 and the others 0, or all of them a share. Nothing that
/// can be seen (an empty completion, white space) earns 0. A member alone abstains. Between 0 and 1.
///
/// The Jaccard index of n-gram sets is that of "On the Resemblance and Containment of Documents"
/// (section "Definitions", resemblance of shingles), computed without sampling. With `credit =
/// "first"` the order of the rows decides who is the first.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Duplicates {
    /// What repeats: `text`, equal completions but for case, white space and invisible characters;
    /// `ngrams`, completions whose sets of n-grams have a Jaccard index of `threshold` or more.
    by: SameBy,
    /// With `ngrams`: the words of an n-gram, from 1 to 10. A shorter completion is one n-gram.
    #[default(3)]
    n: u8,
    /// With `ngrams`: the least Jaccard index of a copy, above 0 and up to 1.
    #[default(0.9)]
    threshold: f64,
    /// What a cluster earns: `first`, 1 for its first row; `share`, 1 over its size for each member.
    credit: ClusterCredit,
}

/// What repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SameBy {
    /// Equal completions, normalised.
    #[default]
    Text,
    /// Sets of n-grams that are nearly equal.
    Ngrams,
}

/// What a cluster earns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ClusterCredit {
    /// 1 for the first, 0 for the others.
    #[default]
    First,
    /// The same share for each.
    Share,
}

impl GroupCheck for Duplicates {
    const ID: &'static str = "duplicates";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if let Some(error) = grams::order_error(self.n) {
            return Err(error);
        }
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            let message = format!("threshold is {}; it is above 0 and at most 1", self.threshold);
            return Err(BuildError::new("threshold", message));
        }
        Ok(())
    }

    fn check_group(&self, group: &Group<'_>, meter: &mut Meter<'_>) -> Result<Vec<Verdict>, Fault> {
        let sets: Vec<Known<Vec<u32>>> = match self.by {
            SameBy::Text => {
                let texts =
                    read_each(group, meter, |member, own| normal(member.sample.completion(), own))?;
                numbered(texts)
            }
            SameBy::Ngrams => {
                let grams = grams::read(group, self.n, meter)?;
                grams.into_iter().map(|grams| Ok(grams?.set())).collect()
            }
        };
        among_known(sets, |sets| self.judge(&sets, meter))
    }
}

/// Each different text as a set of one number; an empty text as the empty set.
fn numbered(texts: Vec<Known<String>>) -> Vec<Known<Vec<u32>>> {
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    let mut set = |text: String| {
        if text.is_empty() {
            return Vec::new();
        }
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        vec![*known.entry(text).or_insert(next)]
    };
    texts.into_iter().map(|text| text.map(&mut set)).collect()
}

impl Duplicates {
    fn judge(&self, sets: &[Vec<u32>], meter: &mut Meter<'_>) -> Result<Vec<Verdict>, Fault> {
        if sets.len() < 2 {
            return Ok(sets.iter().map(|_| alone()).collect());
        }
        let cluster_of = self.clusters(sets, meter)?;
        let judged = |(at, (set, &first)): (usize, (&Vec<u32>, &usize))| {
            if set.is_empty() {
                return Verdict::graded(false).because("empty");
            }
            let size = cluster_of.iter().filter(|other| **other == first).count();
            let (reward, reason) = match self.credit {
                _ if size == 1 => (1.0, "unique"),
                ClusterCredit::Share => (1.0 / float(size), "shared"),
                ClusterCredit::First if first == at => (1.0, "first"),
                ClusterCredit::First => (0.0, "duplicate"),
            };
            scored(reward).with("cluster", size).because(reason)
        };
        meter.spend((sets.len() as u64).saturating_mul(sets.len() as u64))?;
        Ok(sets.iter().zip(&cluster_of).enumerate().map(judged).collect())
    }

    /// For each member the first member of its cluster.
    fn clusters(&self, sets: &[Vec<u32>], meter: &mut Meter<'_>) -> Result<Vec<usize>, Fault> {
        let shared = Shared::count(sets, meter)?;
        let mut cluster_of: Vec<usize> = (0..sets.len()).collect();
        for one in 0..sets.len() {
            meter.spend(sets.len() as u64)?;
            for other in one + 1..sets.len() {
                let (Some(&a), Some(&b)) = (cluster_of.get(one), cluster_of.get(other)) else {
                    continue;
                };
                if a != b && shared.jaccard(one, other) >= self.threshold {
                    meter.spend(sets.len() as u64)?;
                    let (first, later) = (a.min(b), a.max(b));
                    let moved = cluster_of.iter_mut().filter(|cluster| **cluster == later);
                    moved.for_each(|cluster| *cluster = first);
                }
            }
        }
        Ok(cluster_of)
    }
}
