//! Numbers for tokens, letters and pairs.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

/// The longest token that its own bytes are the key of.
const SHORT: usize = 7;
/// What tells the key of a longer one.
const LONG: u64 = 1 << 63;

/// A count as a number of 32 bits: there are fewer tokens than bytes, and texts of 4 GiB are not judged.
pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Numbers tokens from 0 in the order in which they are first seen.
#[derive(Default)]
pub(crate) struct Vocabulary {
    table: Pairs,
    /// The tokens, one behind another, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Vocabulary {
    /// The bytes of a short token and how many they are, or else a hash.
    fn key(token: &[u8]) -> u64 {
        let short = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
        let length = token.len();
        match (token.first_chunk::<4>(), token.last_chunk::<4>()) {
            (Some(first), Some(last)) if length <= SHORT => {
                let rest = short(last) >> (8 * (8 - length));
                short(first) | (rest << 32) | ((length as u64) << 56)
            }
            (Some(_), Some(_)) => {
                let (chunks, _) = token.as_chunks::<8>();
                let last = token.last_chunk::<8>().copied().unwrap_or_default();
                let mixed = chunks.iter().chain([&last]).fold(length as u64, |key, chunk| {
                    let mixed =
                        (key ^ u64::from_le_bytes(*chunk)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    mixed ^ (mixed >> 32)
                });
                (mixed >> 2) | LONG
            }
            _ => token.iter().fold(length as u64, |key, byte| (key << 8) | u64::from(*byte)),
        }
    }

    /// Whether a number is that of a token whose key it has.
    fn is_same(&self, id: u32, key: u64, token: &[u8]) -> bool {
        if key < LONG {
            return true;
        }
        let place = id as usize;
        let start = place.checked_sub(1).and_then(|before| self.ends.get(before));
        let span = start.copied().unwrap_or(0)..self.ends.get(place).copied().unwrap_or(0);
        self.bytes.get(span) == Some(token)
    }

    /// The number of a token.
    pub(crate) fn id(&mut self, token: &[u8]) -> u32 {
        let next = number(self.len());
        let mut key = Self::key(token);
        loop {
            let id = self.table.entry(key, next);
            if id == next {
                self.bytes.extend_from_slice(token);
                self.ends.push(self.bytes.len());
                return id;
            }
            if self.is_same(id, key, token) {
                return id;
            }
            key = another(key);
        }
    }

    /// The number of a token; of one without a number, the count of them.
    pub(crate) fn find(&self, token: &[u8]) -> u32 {
        let mut key = Self::key(token);
        while let Some(id) = self.table.known(key) {
            if self.is_same(id, key, token) {
                return id;
            }
            key = another(key);
        }
        number(self.len())
    }

    /// The numbers of a text.
    pub(crate) fn text<'t>(&mut self, tokens: impl IntoIterator<Item = &'t str>) -> Vec<u32> {
        tokens.into_iter().map(|token| self.id(token.as_bytes())).collect()
    }

    /// How many tokens have a number.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }
}

/// The next key of a long token, where another one has its own.
fn another(key: u64) -> u64 {
    key.wrapping_add(1) | LONG
}

/// Numbers letters from 1.
pub(crate) struct Letters {
    ascii: [u32; 128],
    others: FxHashMap<char, u32>,
    count: u32,
}

impl Default for Letters {
    fn default() -> Self {
        Self { ascii: [0; 128], others: FxHashMap::default(), count: 0 }
    }
}

impl Letters {
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

    /// The number of a letter, or 0.
    pub(crate) fn find(&self, letter: char) -> u32 {
        let known = self.ascii.get(letter as usize).or_else(|| self.others.get(&letter));
        known.copied().unwrap_or(0)
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
        self.known((u64::from(one) << 32) | u64::from(two))
    }

    fn known(&self, key: u64) -> Option<u32> {
        let at = self.slot(key);
        (self.keys[at] != 0).then(|| self.ids[at])
    }

    /// How many pairs have a number.
    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }
}
