//! Measures of rankings: NDCG as scikit-learn has it, MRR, MAP and recall as `trec_eval`, Kendall's tau
//! as scipy.

use crate::score::{float, ratio};

/// A ranking, and what there is to rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The relevance of each ranked item, best rank first: 0 of what is not relevant.
    pub given: Vec<f64>,
    /// The relevance of every item of the reference, zero or more.
    pub wanted: Vec<f64>,
}

/// What an item of a relevance is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gain {
    /// Its relevance.
    #[default]
    Linear,
    /// 2 to the power of it, less 1.
    Exponential,
}

impl Ranked {
    fn relevant(&self) -> usize {
        self.wanted.iter().filter(|value| **value > 0.0).count()
    }

    /// The ranks, from 0, of relevant items among the first `k`.
    fn hits(&self, k: usize) -> impl Iterator<Item = usize> {
        let top = self.given.iter().take(k).enumerate();
        top.filter(|(_, value)| **value > 0.0).map(|(rank, _)| rank)
    }

    /// The discounted gain of the first `k` over the greatest one (Järvelin and Kekäläinen 2002).
    pub fn ndcg(&self, k: usize, gain: Gain) -> f64 {
        let worth = |value: f64| match gain {
            Gain::Linear => value,
            Gain::Exponential => value.exp2() - 1.0,
        };
        let sum = |values: &[f64]| -> f64 {
            let top = values.iter().take(k).enumerate();
            top.map(|(rank, value)| worth(*value) / (float(rank) + 2.0).log2()).sum()
        };
        let mut ideal = self.wanted.clone();
        ideal.sort_unstable_by(|one, two| two.total_cmp(one));
        let best = sum(&ideal);
        if best > 0.0 { sum(&self.given) / best } else { 0.0 }
    }

    /// 1 over the rank of the first relevant item, if it is among the first `k`.
    pub fn reciprocal_rank(&self, k: usize) -> f64 {
        self.hits(k).next().map_or(0.0, |rank| 1.0 / (float(rank) + 1.0))
    }

    /// The mean of the precisions at each relevant item; those beyond the first `k` count as 0.
    pub fn average_precision(&self, k: usize) -> f64 {
        let precisions = (1..).zip(self.hits(k)).map(|(hits, rank)| ratio(hits, rank + 1));
        precisions.sum::<f64>() / float(self.relevant().max(1))
    }

    /// The share of relevant items among the first `k`.
    pub fn recall(&self, k: usize) -> f64 {
        ratio(self.hits(k).count(), self.relevant())
    }

    /// The relevant share of the first `k`, of which missing ones are not relevant; of all that are
    /// listed for `usize::MAX`.
    pub fn precision(&self, k: usize) -> f64 {
        let listed = if k == usize::MAX { self.given.len() } else { k };
        ratio(self.hits(k).count(), listed)
    }
}

/// Kendall's tau-b of two series of one length, from -1 to 1; `None` where a side has no two different
/// values. Pays a unit for each pair.
///
/// # Errors
/// What `pay` refuses.
pub fn kendall<E>(
    one: &[f64],
    two: &[f64],
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Option<f64>, E> {
    let (mut balance, mut apart_one, mut apart_two) = (0.0, 0_usize, 0_usize);
    for (at, (x, y)) in one.iter().zip(two).enumerate() {
        pay(at as u64)?;
        for (u, v) in one.iter().zip(two).take(at) {
            let (dx, dy) = (sign(x - u), sign(y - v));
            balance += dx * dy;
            apart_one += usize::from(dx.abs() > 0.0);
            apart_two += usize::from(dy.abs() > 0.0);
        }
    }
    let both = float(apart_one).sqrt() * float(apart_two).sqrt();
    Ok((both > 0.0).then(|| (balance / both).clamp(-1.0, 1.0)))
}

fn sign(value: f64) -> f64 {
    f64::from(i8::from(value > 0.0) - i8::from(value < 0.0))
}
