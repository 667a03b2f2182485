//! Numbers for tokens, letters and pairs.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

/// The longest token that its own bytes are the key of.
const SHORT: usize = 7;

/// Numbers tokens from 0 in the order in which they are first seen.
#[derive(Default)]
pub(crate) struct Vocabulary<'t> {
    tokens: Vec<&'t str>,
    short: Pairs,
    long: FxHashMap<&'t str, u32>,
}

impl<'t> Vocabulary<'t> {
    /// The number of a token.
    pub(crate) fn id(&mut self, token: &'t str) -> u32 {
        let next = number(self.tokens.len());
        let id = if token.len() <= SHORT {
            // The bytes, and how many they are.
            let start = u64::from(number(token.len()));
            let key = token.bytes().fold(start, |key, byte| (key << 8) | u64::from(byte));
            self.short.entry(key, next)
        } else {
            *self.long.entry(token).or_insert(next)
        };
        if id == next {
            self.tokens.push(token);
        }
        id
    }

    /// The numbers of a text.
    pub(crate) fn text(&mut self, tokens: impl IntoIterator<Item = &'t str>) -> Vec<u32> {
        tokens.into_iter().map(|token| self.id(token)).collect()
    }

    /// The tokens, in the order of their numbers.
    pub(crate) fn tokens(&self) -> &[&'t str] {
        &self.tokens
    }

    /// How many tokens have a number.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }
}

/// A count as a number of 32 bits: there are fewer tokens than bytes, and texts of 4 GiB are not judged.
pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Numbers letters from 1.
pub(crate) struct Letters {
    ascii: [u32; 128],
    others: FxHashMap<char, u32>,
    count: u32,
}

impl Letters {
    pub(crate) fn new() -> Self {
        Self { ascii: [0; 128], others: FxHashMap::default(), count: 0 }
    }

    /// The number of a letter.
    pub(crate) fn id(&mut self, letter: char) -> u32 {
        let slot = match self.ascii.get_mut(letter as usize) {
            Some(slot) => slot,
            None => match self.others.entry(letter) {
                Entry::Occupied(known) => return *known.get(),
                Entry::Vacant(free) => free.insert(0),
            },
        };
        if *slot == 0 {
            self.count += 1;
            *slot = self.count;
        }
        *slot
    }

    /// The numbers of a text.
    pub(crate) fn text(&mut self, letters: impl IntoIterator<Item = char>) -> Vec<u32> {
        letters.into_iter().map(|letter| self.id(letter)).collect()
    }

    /// The greatest number.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }
}

/// Numbers pairs of numbers from 0: an open table, at most half full.
pub(crate) struct Pairs {
    /// Each key plus 1; 0 where the slot is free.
    keys: Vec<u64>,
    ids: Vec<u32>,
    shift: u32,
    count: u32,
}

impl Default for Pairs {
    fn default() -> Self {
        Self::for_at_most(256)
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "slots are below the size of the table, a power of two"
)]
impl Pairs {
    /// A table for so many pairs; it grows beyond.
    pub(crate) fn for_at_most(room: usize) -> Self {
        let size = (2 * room).next_power_of_two().max(16);
        Self {
            keys: vec![0; size],
            ids: vec![0; size],
            shift: 64 - size.trailing_zeros(),
            count: 0,
        }
    }

    fn slot(&self, key: u64) -> usize {
        let hash = (key ^ (key >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        let mask = self.keys.len() - 1;
        // The hash has as many bits as the size of the table.
        let mut at = usize::try_from(hash).unwrap_or(0);
        while self.keys[at] != key + 1 && self.keys[at] != 0 {
            at = (at + 1) & mask;
        }
        at
    }

    /// The number of a key, below the greatest of 64 bits; `next` if it has none.
    fn entry(&mut self, key: u64, next: u32) -> u32 {
        let at = self.slot(key);
        if self.keys[at] != 0 {
            return self.ids[at];
        }
        (self.keys[at], self.ids[at]) = (key + 1, next);
        self.count += 1;
        if 2 * self.len() > self.keys.len() {
            let mut grown = Self::for_at_most(self.keys.len());
            for (key, id) in self.keys.iter().zip(&self.ids).filter(|(key, _)| **key != 0) {
                grown.entry(key - 1, *id);
            }
            *self = grown;
        }
        next
    }

    /// The number of a pair, a new one if it has none.
    pub(crate) fn id(&mut self, one: u32, two: u32) -> u32 {
        self.entry((u64::from(one) << 32) | u64::from(two), self.count)
    }

    /// The number of a pair, if it has one.
    pub(crate) fn find(&self, one: u32, two: u32) -> Option<u32> {
        let at = self.slot((u64::from(one) << 32) | u64::from(two));
        (self.keys[at] != 0).then(|| self.ids[at])
    }

    /// How many pairs have a number.
    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }
}
