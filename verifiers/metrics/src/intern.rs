//! Numbers for tokens, letters and pairs.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

/// The longest token that its own bytes are the key of.
const SHORT: usize = 7;
/// What tells the key of a longer one.
const LONG: u64 = 1 << 63;

/// About so many bytes of a text make a token.
pub(crate) const BYTES_A_TOKEN: usize = 5;

/// A count as a number of 32 bits: there are fewer tokens than bytes, and texts of 4 GiB are not judged.
pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Numbers tokens from 0 in the order in which they are first seen.
#[derive(Default)]
pub(crate) struct Vocabulary {
    table: Pairs,
    /// The long tokens, one behind another, and where each token ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Vocabulary {
    /// One for the tokens of a text of so many bytes.
    pub(crate) fn for_text(bytes: usize) -> Self {
        let room = bytes / BYTES_A_TOKEN;
        Self { table: Pairs::for_about(room), bytes: Vec::new(), ends: Vec::with_capacity(room) }
    }

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
            let id = self.table.entry(key);
            if id == next {
                if key >= LONG {
                    self.bytes.extend_from_slice(token);
                }
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

/// Numbers keys from 0 in the order in which they are first seen: an open table of numbers, at most half full.
pub(crate) struct Pairs {
    /// The number of a key plus 1; 0 where the slot is free.
    slots: Vec<u32>,
    /// The keys, in their order.
    keys: Vec<u64>,
    shift: u32,
}

impl Default for Pairs {
    fn default() -> Self {
        Self::for_about(64)
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "slots are below the size of the table, a power of two, and numbers below the count of keys"
)]
impl Pairs {
    /// A table for so many keys; it grows beyond.
    pub(crate) fn for_about(room: usize) -> Self {
        let size = (2 * room).next_power_of_two().max(16);
        let shift = 64 - size.trailing_zeros();
        Self { slots: vec![0; size], keys: Vec::with_capacity(room), shift }
    }

    /// The slot of a key, or the free one where it would stand.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        let hash = (key ^ (key >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        let mask = self.slots.len() - 1;
        // The hash has as many bits as the size of the table.
        let mut at = usize::try_from(hash).unwrap_or(0) & mask;
        loop {
            let id = self.slots[at] as usize;
            if id == 0 || self.keys[id - 1] == key {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of a key, a new one if it has none.
    #[inline]
    fn entry(&mut self, key: u64) -> u32 {
        let at = self.slot(key);
        if self.slots[at] != 0 {
            return self.slots[at] - 1;
        }
        self.keys.push(key);
        self.slots[at] = number(self.keys.len());
        if 2 * self.keys.len() > self.slots.len() {
            self.grow();
        }
        number(self.keys.len()) - 1
    }

    #[cold]
    fn grow(&mut self) {
        let keys = std::mem::take(&mut self.keys);
        *self = Self::for_about(2 * keys.len());
        for key in keys {
            self.entry(key);
        }
    }

    #[inline]
    fn known(&self, key: u64) -> Option<u32> {
        self.slots[self.slot(key)].checked_sub(1)
    }

    /// The number of a pair, a new one if it has none.
    pub(crate) fn id(&mut self, one: u32, two: u32) -> u32 {
        self.entry((u64::from(one) << 32) | u64::from(two))
    }

    /// The number of a pair, if it has one.
    pub(crate) fn find(&self, one: u32, two: u32) -> Option<u32> {
        self.known((u64::from(one) << 32) | u64::from(two))
    }

    /// How many keys have a number.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }
}
