//! N-grams that texts share.

use crate::intern::{Numbers, pair};

/// References whose n-grams are looked for. Tokens are numbers from 1, below `kinds`; 0 is for those of other texts
/// that no reference has.
pub(crate) struct Grams {
    references: Vec<Vec<u32>>,
    kinds: usize,
    orders: usize,
}

/// An n-gram: where it starts, and its number.
type Gram = (u32, u32);

#[expect(
    clippy::indexing_slicing,
    reason = "numbers of n-grams are below the counts of them, places below the length"
)]
impl Grams {
    /// The n-grams of up to `orders` tokens.
    pub(crate) fn of(references: Vec<Vec<u32>>, kinds: usize, orders: usize) -> Self {
        Self { references, kinds, orders }
    }

    /// How many n-grams of a text the references have, for each order from 1: each as often as the reference
    /// that has it most often. Linear in the texts times the orders; n-grams that one side does not have are
    /// dropped from the other.
    pub(crate) fn matches(&self, text: &[u32]) -> Vec<usize> {
        let all = |ids: &[u32]| (0..).zip(ids.iter().copied()).collect::<Vec<Gram>>();
        let mut ours = all(text);
        let mut theirs: Vec<_> = self.references.iter().map(|ids| (ids, all(ids))).collect();
        let mut kinds = self.kinds;
        let one = |before| {
            if before > 0 {
                let mut table = Numbers::for_about(ours.len());
                longer(&mut ours, text, before, |key| table.id(key));
                for (ids, grams) in &mut theirs {
                    longer(grams, ids, before, |key| table.find(key));
                }
                kinds = table.len() + 1;
            }
            let [mut counts, mut most, mut seen] = [(); 3].map(|()| vec![0_u32; kinds]);
            for (_, gram) in &ours {
                counts[*gram as usize] += 1;
            }
            counts[0] = 0;
            for (_, grams) in &mut theirs {
                keep(grams, &counts);
                for (_, gram) in &*grams {
                    seen[*gram as usize] += 1;
                }
                for (_, gram) in grams {
                    let seen = std::mem::take(&mut seen[*gram as usize]);
                    most[*gram as usize] = most[*gram as usize].max(seen);
                }
            }
            keep(&mut ours, &most);
            counts.iter().zip(&most).map(|(count, most)| *count.min(most) as usize).sum()
        };
        (0..self.orders).map(one).collect()
    }
}

/// Makes n-grams longer by the token that comes after so many.
fn longer(grams: &mut Vec<Gram>, ids: &[u32], before: usize, mut id: impl FnMut(u64) -> u32) {
    let count = grams.partition_point(|(start, _)| *start as usize + before < ids.len());
    grams.truncate(count);
    for (start, gram) in grams {
        let last = ids.get(*start as usize + before).copied().unwrap_or(0);
        *gram = id(pair(*gram, last));
    }
}

/// Keeps the n-grams of which there are some, without a branch: which they are is hard to guess.
#[expect(clippy::indexing_slicing, reason = "no more are kept than there are")]
fn keep(grams: &mut Vec<Gram>, counts: &[u32]) {
    let mut kept = 0;
    for at in 0..grams.len() {
        let gram = grams[at];
        grams[kept] = gram;
        kept += usize::from(counts[gram.1 as usize] > 0);
    }
    grams.truncate(kept);
}
