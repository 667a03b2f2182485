//! What was computed before: equal texts are computed once.

use std::sync::Arc;

use assay_verifiers::Digest;
use lru::LruCache;
use sha2::{Digest as _, Sha256};

use crate::score::ModelOutput;
use crate::tokens::Tokens;

/// All that decides the rows of a text, as a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key(Digest);

impl Key {
    /// The key of a text. Special tokens are no part of it: no graph sees them.
    pub(super) fn of(text: &Tokens) -> Self {
        let mut bytes = Vec::with_capacity(4 * text.ids.len() + 64);
        let mut list = |values: &mut dyn ExactSizeIterator<Item = u64>| {
            bytes.extend_from_slice(&wide(values.len()).to_le_bytes());
            for value in values {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
        };
        list(&mut text.ids.iter().map(|id| u64::from(*id)));
        list(&mut text.types.iter().map(|one| u64::from(*one)));
        list(&mut text.positions.iter().map(|position| wide(*position)));
        list(&mut text.targets.iter().map(|target| u64::from(*target)));
        if let Some(sampling) = &text.sampling {
            let numbers = [
                wide(sampling.votes),
                wide(sampling.tokens_max),
                sampling.temperature.to_bits(),
                sampling.top_p.to_bits(),
                sampling.seed,
            ];
            list(&mut numbers.into_iter());
            list(&mut sampling.ends.iter().map(|id| u64::from(*id)));
        }
        Self(Sha256::digest(&bytes).into())
    }
}

fn wide(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// The rows of texts, up to a limit of memory; what was used longest ago goes first.
pub(super) struct Memo {
    rows: LruCache<Key, Arc<ModelOutput>>,
    bytes: usize,
    bytes_max: usize,
}

impl Memo {
    /// Keeps what fits into `bytes_max`.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { rows: LruCache::unbounded(), bytes: 0, bytes_max }
    }

    /// The rows of a text that was computed before.
    pub(super) fn get(&mut self, key: &Key) -> Option<Arc<ModelOutput>> {
        self.rows.get(key).map(Arc::clone)
    }

    /// Keeps the rows of a text.
    pub(super) fn put(&mut self, key: Key, rows: &Arc<ModelOutput>) {
        self.bytes += cost(rows);
        if let Some(before) = self.rows.put(key, Arc::clone(rows)) {
            self.bytes -= cost(&before);
        }
        while self.bytes > self.bytes_max {
            let Some((_, oldest)) = self.rows.pop_lru() else { return };
            self.bytes -= cost(&oldest);
        }
    }
}

/// Memory of one entry.
fn cost(rows: &ModelOutput) -> usize {
    /// The key and the links of the list.
    const ENTRY: usize = 128;
    ENTRY + rows.bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::SamplingParams;

    fn text(ids: &[u32]) -> Tokens {
        Tokens { ids: ids.to_vec(), positions: vec![0], ..Tokens::default() }
    }

    fn sampling(seed: u64) -> SamplingParams {
        SamplingParams {
            votes: 1,
            tokens_max: 8,
            temperature: 0.0,
            top_p: 1.0,
            seed,
            ends: vec![3],
            stops: Arc::new(|_| false),
        }
    }

    #[test]
    fn whatever_decides_the_rows_is_in_the_key() {
        let base = text(&[1, 2]);
        let others = [
            text(&[1, 2, 0]),
            Tokens { types: vec![0, 1], ..base.clone() },
            Tokens { positions: vec![1], ..base.clone() },
            Tokens { positions: vec![], targets: vec![0], ..base.clone() },
            Tokens { targets: vec![2], ..base.clone() },
            Tokens { sampling: Some(sampling(1)), ..base.clone() },
            Tokens { sampling: Some(sampling(2)), ..base.clone() },
        ];
        let keys: std::collections::HashSet<Key> =
            others.iter().chain([&base]).map(Key::of).collect();
        assert_eq!(keys.len(), others.len() + 1);
        assert_eq!(Key::of(&base), Key::of(&Tokens { special: vec![0], ..base.clone() }));
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let rows = |count: usize| {
            Arc::new(ModelOutput { data: vec![0.0; count], ..ModelOutput::default() })
        };
        let key = |id| Key::of(&text(&[id]));
        let one = cost(&rows(100));
        let mut memo = Memo::new(2 * one);
        memo.put(key(1), &rows(100));
        memo.put(key(2), &rows(100));
        assert!(memo.get(&key(1)).is_some());
        memo.put(key(3), &rows(100));
        assert!(memo.get(&key(2)).is_none() && memo.get(&key(1)).is_some());
        // The same again takes no more room; what is too large for all of it is not kept.
        memo.put(key(3), &rows(100));
        assert!(memo.get(&key(1)).is_some());
        memo.put(key(4), &rows(1_000));
        assert!(memo.get(&key(4)).is_none());
        assert_eq!(memo.bytes, 0);
    }
}
