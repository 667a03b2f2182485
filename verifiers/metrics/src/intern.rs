//! Numbers for tokens, letters and pairs.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::scan::{Tokens, short};

/// About so many bytes of a text make a token.
pub(crate) const BYTES_A_TOKEN: usize = 5;

/// A count as a number of 32 bits: there are fewer tokens than bytes, and texts of 4 GiB are not judged.
#[expect(clippy::cast_possible_truncation, reason = "as said")]
pub(crate) fn number(count: usize) -> u32 {
    count as u32
}

/// Numbers tokens from 1 in the order in which they are first seen.
#[derive(Default)]
pub(crate) struct Vocabulary {
    table: Numbers<u128>,
    long: FxHashMap<Box<[u8]>, u32>,
}

impl Vocabulary {
    /// One for the tokens of a text of so many bytes.
    pub(crate) fn for_text(bytes: usize) -> Self {
        Self { table: Numbers::for_about(bytes / BYTES_A_TOKEN), long: FxHashMap::default() }
    }

    /// The number of a token.
    pub(crate) fn id(&mut self, token: &[u8]) -> u32 {
        let key = short(token).unwrap_or_else(|| self.of_long(token));
        self.table.id(key)
    }

    /// The key of a long token: none of a short one.
    #[cold]
    fn of_long(&mut self, token: &[u8]) -> u128 {
        let next = number(self.long.len());
        u128::MAX - u128::from(*self.long.entry(token.into()).or_insert(next))
    }

    /// The numbers of tokens.
    pub(crate) fn ids(&mut self, tokens: &Tokens) -> Vec<u32> {
        let id = |key: &u128| match tokens.long(*key) {
            Some(token) => self.id(token),
            None => self.table.id(*key),
        };
        tokens.keys.iter().map(id).collect()
    }

    /// The numbers of tokens; 0 of those without.
    pub(crate) fn known(&self, tokens: &Tokens) -> Vec<u32> {
        let id = |key: &u128| match tokens.long(*key) {
            Some(token) => self.find(token),
            None => self.table.find(*key),
        };
        tokens.keys.iter().map(id).collect()
    }

    /// The number of a token; 0 of one without.
    #[cold]
    pub(crate) fn find(&self, token: &[u8]) -> u32 {
        let long = || self.long.get(token).map(|place| u128::MAX - u128::from(*place));
        let key = short(token).or_else(long);
        key.map_or(0, |key| self.table.find(key))
    }

    /// The numbers of a text.
    pub(crate) fn text<'t>(&mut self, tokens: impl IntoIterator<Item = &'t str>) -> Vec<u32> {
        tokens.into_iter().map(|token| self.id(token.as_bytes())).collect()
    }

    /// How many tokens have a number.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }
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

    /// The numbers of a text.
    pub(crate) fn text(&mut self, text: &str) -> Vec<u32> {
        text.chars().for_each(|letter| _ = self.id(letter));
        self.known(text)
    }

    /// The numbers of a text, 0 for letters without.
    #[expect(clippy::indexing_slicing, reason = "the table has 128 entries")]
    pub(crate) fn known(&self, text: &str) -> Vec<u32> {
        if text.is_ascii() {
            return text.bytes().map(|byte| self.ascii[usize::from(byte & 127)]).collect();
        }
        let other = |letter| self.others.get(&letter).copied().unwrap_or(0);
        let id = |letter| self.ascii.get(letter as usize).copied().unwrap_or_else(|| other(letter));
        text.chars().map(id).collect()
    }

    /// The greatest number.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }
}

/// What is numbered: its hash has all that it can in the highest bits.
pub(crate) trait Key: Copy + Default + PartialEq {
    /// A hash.
    fn hash(self) -> u64;
    /// 0 of equal keys.
    fn differs(self, other: Self) -> u64;
}

impl Key for u64 {
    #[inline]
    fn hash(self) -> u64 {
        (self ^ (self >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[inline]
    fn differs(self, other: Self) -> u64 {
        self ^ other
    }
}

impl Key for u128 {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
    fn hash(self) -> u64 {
        let (low, high) = (self as u64, (self >> 64) as u64);
        low.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ high.wrapping_mul(0xd6e8_feb8_6659_fd93)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
    fn differs(self, other: Self) -> u64 {
        let bits = self ^ other;
        bits as u64 | (bits >> 64) as u64
    }
}

/// Numbers keys from 1 in the order in which they are first seen: an open table of numbers, at most half full.
pub(crate) struct Numbers<K> {
    /// The number of a key; 0 where the slot is free.
    slots: Vec<u32>,
    /// The keys, in their order, after one that is none.
    keys: Vec<K>,
    shift: u32,
}

impl<K: Key> Default for Numbers<K> {
    fn default() -> Self {
        Self::for_about(64)
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "slots are below the size of the table, a power of two, and numbers those of keys"
)]
impl<K: Key> Numbers<K> {
    /// A table for so many keys; it grows beyond.
    pub(crate) fn for_about(room: usize) -> Self {
        let size = (4 * room).next_power_of_two().max(16);
        let mut keys = Vec::with_capacity(room + 2);
        keys.push(K::default());
        Self { slots: vec![0; size], keys, shift: 64 - size.trailing_zeros() }
    }

    /// The slot of a key, or the free one where it would stand, and what is there.
    #[inline]
    fn slot(&self, key: K) -> (usize, u32) {
        let mask = self.slots.len() - 1;
        // The hash has as many bits as the size of the table.
        let mut at = usize::try_from(key.hash() >> self.shift).unwrap_or(0) & mask;
        loop {
            let id = self.slots[at];
            // One branch for both, which is seldom guessed wrong: most keys are in their first slot, if at all.
            if u64::from(id).min(self.keys[id as usize].differs(key)) == 0 {
                return (at, id);
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of a key, a new one if it has none.
    #[inline]
    pub(crate) fn id(&mut self, key: K) -> u32 {
        let ((at, id), next) = (self.slot(key), self.keys.len());
        // No branch: whether a key is new is hard to guess.
        let (id, more) = if id == 0 { (number(next), 1) } else { (id, 0) };
        self.keys.push(key);
        self.keys.truncate(next + more);
        self.slots[at] = id;
        if 2 * (next + more) > self.slots.len() {
            self.grow();
        }
        id
    }

    #[cold]
    fn grow(&mut self) {
        let keys = std::mem::take(&mut self.keys);
        *self = Self::for_about(keys.len());
        for key in keys.into_iter().skip(1) {
            self.id(key);
        }
    }

    /// The number of a key; 0 of one without.
    #[inline]
    pub(crate) fn find(&self, key: K) -> u32 {
        self.slot(key).1
    }

    /// How many keys have a number.
    pub(crate) fn len(&self) -> usize {
        self.keys.len() - 1
    }
}

/// The key of a pair.
#[inline]
pub(crate) fn pair(one: u32, two: u32) -> u64 {
    (u64::from(one) << 32) | u64::from(two)
}

/// Numbers pairs.
#[derive(Default)]
pub(crate) struct Pairs(Numbers<u64>);

impl Pairs {
    /// The number of a pair, a new one if it has none.
    pub(crate) fn id(&mut self, one: u32, two: u32) -> u32 {
        self.0.id(pair(one, two))
    }

    /// How many pairs have a number.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
