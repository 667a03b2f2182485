//! The Swiss system: in each round those with like points meet.

use std::collections::BTreeSet;

use assay_verifiers::stats::SplitMix64;
use serde::Serialize;

use super::result::{PairResult, verdict};

/// A Swiss tournament under way: a win is 1 point, a tie 1/2, sitting out 1, a failed comparison
/// nothing. Each meets the next in the standing that it has not met; where there is none, the next.
#[derive(Clone, Debug)]
pub struct Swiss {
    rounds_left: usize,
    /// The order drawn, which decides between equals.
    drawn: Vec<usize>,
    points: Vec<f64>,
    opponents: Vec<Vec<usize>>,
    sat_out: BTreeSet<usize>,
    round: Vec<(usize, usize)>,
}

/// The standing of one sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Placing {
    /// The sample, by its place in the group.
    pub sample: usize,
    /// Its points, 0 to the number of rounds.
    pub points: f64,
    /// The sum of the points of those whom it met (Buchholz), which decides between equal points.
    pub buchholz: f64,
}

#[expect(clippy::indexing_slicing, reason = "those drawn are the samples, which all have points")]
impl Swiss {
    /// Draws the order of `samples` for this many rounds.
    pub fn new(samples: usize, rounds: usize, seed: u64) -> Self {
        Self {
            rounds_left: rounds,
            drawn: SplitMix64::new(seed).order(samples, SplitMix64::below),
            points: vec![0.0; samples],
            opponents: vec![Vec::new(); samples],
            sat_out: BTreeSet::new(),
            round: Vec::new(),
        }
    }

    /// The pairs of the next round; none after the last.
    pub fn next_round(&mut self, results: &[PairResult]) -> Vec<(usize, usize)> {
        self.close(results);
        if self.rounds_left == 0 || self.drawn.len() < 2 {
            return Vec::new();
        }
        self.rounds_left -= 1;
        let mut waiting = self.by_points();
        if waiting.len() % 2 == 1 {
            let lowest = waiting.iter().rposition(|sample| !self.sat_out.contains(sample));
            let resting = waiting.remove(lowest.unwrap_or(waiting.len() - 1));
            self.sat_out.insert(resting);
            self.add(resting, 1.0);
        }
        let mut pairs = Vec::new();
        while waiting.len() > 1 {
            let first = waiting.remove(0);
            let met = &self.opponents[first];
            let at = waiting.iter().position(|other| !met.contains(other)).unwrap_or(0);
            pairs.push((first, waiting.remove(at)));
        }
        self.round.clone_from(&pairs);
        pairs
    }

    /// The standings after the rounds so far, the best first.
    pub fn standings(&self) -> Vec<Placing> {
        let standing = |&sample: &usize| Placing {
            sample,
            points: self.points[sample],
            buchholz: self.opponents[sample].iter().map(|&other| self.points[other]).sum(),
        };
        let mut standings: Vec<Placing> = self.drawn.iter().map(standing).collect();
        standings
            .sort_by(|a, b| b.points.total_cmp(&a.points).then(b.buchholz.total_cmp(&a.buchholz)));
        standings
    }

    fn by_points(&self) -> Vec<usize> {
        let mut order = self.drawn.clone();
        order.sort_by(|&a, &b| self.points[b].total_cmp(&self.points[a]));
        order
    }

    fn close(&mut self, results: &[PairResult]) {
        for (first, second) in std::mem::take(&mut self.round) {
            for (sample, other) in [(first, second), (second, first)] {
                self.opponents[sample].push(other);
            }
            let seen = |result: &PairResult| {
                result.seen_by(first).filter(|(other, _)| *other == second).map(|(_, by)| by)
            };
            match results.iter().find_map(seen).map(verdict) {
                Some(1) => self.add(first, 1.0),
                Some(-1) => self.add(second, 1.0),
                Some(_) => [first, second].into_iter().for_each(|sample| self.add(sample, 0.5)),
                None => {}
            }
        }
    }

    fn add(&mut self, sample: usize, points: f64) {
        self.points[sample] += points;
    }
}
