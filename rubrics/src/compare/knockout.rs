//! Knockout: the loser of a pair leaves.

use assay_verifiers::stats::SplitMix64;

use super::result::PairResult;

/// A knockout under way. Of an odd number the one drawn first that has not sat out sits out.
#[derive(Clone, Debug)]
pub struct Knockout {
    /// Who is left, in the order drawn.
    left: Vec<usize>,
    /// Who sat out a round.
    sat_out: Vec<usize>,
    /// The pairs that are judged now.
    round: Vec<(usize, usize)>,
    /// Those who left, by rounds.
    out: Vec<Vec<usize>>,
}

impl Knockout {
    /// Draws the order of `samples`.
    pub fn new(samples: usize, seed: u64) -> Self {
        let left = SplitMix64::new(seed).order(samples, SplitMix64::below);
        Self { left, sat_out: Vec::new(), round: Vec::new(), out: Vec::new() }
    }

    /// The pairs of the next round; none where one sample is left.
    pub fn next_round(&mut self, results: &[PairResult]) -> Vec<(usize, usize)> {
        self.close(results);
        let mut playing = self.left.clone();
        if playing.len() % 2 == 1 && playing.len() > 1 {
            let rested = playing.iter().position(|sample| !self.sat_out.contains(sample));
            self.sat_out.push(playing.remove(rested.unwrap_or(0)));
        }
        let pairs =
            playing.chunks_exact(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)));
        self.round = pairs.collect();
        self.round.clone()
    }

    /// The place of each sample: 1 for the winner, 2 for the other of the last pair, 3 for the losers
    /// of the round before, and so on by the number of samples that did better. `None` while it is
    /// not decided, and for samples that are still in.
    pub fn placement(&self, samples: usize) -> Vec<Option<usize>> {
        let mut places = vec![None; samples];
        let mut set = |sample: usize, place: usize| {
            if let Some(own) = places.get_mut(sample) {
                *own = Some(place);
            }
        };
        if let ([winner], true) = (self.left.as_slice(), self.round.is_empty()) {
            set(*winner, 1);
        }
        let mut better = self.left.len();
        for round in self.out.iter().rev() {
            for &sample in round {
                set(sample, better + 1);
            }
            better += round.len();
        }
        places
    }

    fn close(&mut self, results: &[PairResult]) {
        let mut lost = Vec::new();
        for &(first, second) in &self.round {
            let against = |result: &PairResult| {
                result.seen_by(first).is_some_and(|(other, by)| other == second && by < 0.0)
            };
            lost.push(if results.iter().any(against) { first } else { second });
        }
        self.left.retain(|sample| !lost.contains(sample));
        if !lost.is_empty() {
            self.out.push(lost);
        }
        self.round.clear();
    }
}
