//! Tokens of a text by 64 bytes at a time.

/// So many bytes are looked at together, one bit each.
pub(crate) const BLOCK: usize = 64;
pub(crate) type Block = [u8; BLOCK];

/// The bytes of a block that are so, the first in the lowest bit.
#[inline]
pub(crate) fn bits(block: &Block, is: impl Fn(u8) -> bool) -> u64 {
    let mut flags = [0; BLOCK];
    for (flag, byte) in flags.iter_mut().zip(block) {
        *flag = u8::from(is(*byte));
    }
    // The product has the lowest bits of eight bytes side by side in the highest byte.
    let eight =
        |flags: &[u8; 8]| u64::from_le_bytes(*flags).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    flags.as_chunks().0.iter().rev().fold(0, |bits, flags| (bits << 8) | eight(flags))
}

/// The longest token that its own bytes are the key of.
const SHORT: usize = 15;
/// What tells the key of a longer one: its place is in it.
const LONG: u128 = 0xff << 120;
/// The bytes of a key that a token of so many has.
const OWN: [u128; SHORT + 1] = own();

#[expect(clippy::indexing_slicing, reason = "a loop over the table, in a constant")]
const fn own() -> [u128; SHORT + 1] {
    let mut out = [0; SHORT + 1];
    let mut length = 1;
    while length <= SHORT {
        out[length] = (out[length - 1] << 8) | 0xff;
        length += 1;
    }
    out
}

/// For so many tokens, of 16 bytes each, room is kept for the next text.
const KEPT: usize = 1 << 16;

/// The tokens of a text.
#[derive(Default)]
pub(crate) struct Tokens {
    /// Where the long ones are.
    text: Vec<u8>,
    /// One each: the bytes of a short token and how many they are, or where a long one is.
    pub(crate) keys: Vec<u128>,
}

/// The key of a token of so many bytes, the first of `bytes`, if it is short.
#[inline]
fn key(bytes: [u8; 16], length: usize) -> Option<u128> {
    let own = OWN.get(length)?;
    Some((u128::from_le_bytes(bytes) & own) | ((length as u128) << 120))
}

/// The key of a token, if it is short.
#[inline]
pub(crate) fn short(token: &[u8]) -> Option<u128> {
    let length = token.len();
    // Both ends of a token, which may overlap, are read faster than so many bytes.
    let ends = |first: u64, last: u64, width: usize| {
        u128::from(first) | (u128::from(last) << (8 * (length - width)))
    };
    let own = match (token.first_chunk::<8>(), token.last_chunk::<8>()) {
        _ if length > SHORT => return None,
        (Some(first), Some(last)) => ends(u64::from_le_bytes(*first), u64::from_le_bytes(*last), 8),
        _ => match (token.first_chunk::<4>(), token.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                let four = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
                ends(four(first), four(last), 4)
            }
            _ => token.iter().rev().fold(0, |key, byte| (key << 8) | u128::from(*byte)),
        },
    };
    Some(own | ((length as u128) << 120))
}

/// Whether a key is that of a long token.
#[inline]
pub(crate) fn is_long(key: u128) -> bool {
    key >= LONG
}

fn long(start: usize, length: usize) -> u128 {
    LONG | ((length as u128) << 64) | start as u128
}

#[expect(clippy::indexing_slicing, reason = "tokens are within the text, which more follows")]
impl Tokens {
    /// The bytes of a long token.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "places that were numbers")]
    pub(crate) fn long(&self, key: u128) -> Option<&[u8]> {
        let (start, length) = (key as u64 as usize, (key >> 64) as usize & 0xff_ffff_ffff_ffff);
        is_long(key).then(|| &self.text[start..start + length])
    }

    /// The bytes of a token.
    pub(crate) fn bytes(&self, key: u128) -> Vec<u8> {
        let own = || key.to_le_bytes()[..(key >> 120) as usize].to_vec();
        self.long(key).map_or_else(own, <[u8]>::to_vec)
    }

    /// The key of another token.
    pub(crate) fn key(&mut self, token: &[u8]) -> u128 {
        short(token).unwrap_or_else(|| {
            self.text.extend_from_slice(token);
            long(self.text.len() - token.len(), token.len())
        })
    }

    /// Room for the next text.
    pub(crate) fn room(self) -> Self {
        let is_small = self.keys.capacity() <= KEPT && self.text.capacity() <= 16 * KEPT;
        if is_small { self } else { Self::default() }
    }

    /// No tokens, and the text of those to come.
    pub(crate) fn clear(&mut self, text: &str) -> &mut [u8] {
        self.keys.clear();
        self.text.clear();
        self.text.extend_from_slice(text.as_bytes());
        &mut self.text
    }

    /// Reads the tokens of the text. `kinds` says of the block at a place which bytes are not part of a token,
    /// and which are a token alone. Linear.
    #[inline]
    pub(crate) fn read(&mut self, kinds: impl Fn(&[u8], usize, &Block) -> (u64, u64)) {
        // Space ends the last token, and the last key.
        self.text.resize((self.text.len() / BLOCK + 1) * BLOCK + 16, b' ');
        let (bytes, keys) = (self.text.as_slice(), &mut self.keys);
        // The token that goes on, and of the byte before a block whether it ends one, and whether it is space.
        let (mut start, mut after_bound, mut after_space) = (0, 1, 1);
        for (at, block) in bytes.as_chunks().0.iter().enumerate() {
            let base = at * BLOCK;
            let (space, alone) = kinds(bytes, base, block);
            let bounds = ((space | alone) << 1) | after_bound | alone;
            let mut starts = !space & bounds;
            let mut ends = (space | bounds) & !((space << 1) | after_space);
            let next = |starts: &mut u64| {
                let next = base + starts.trailing_zeros() as usize;
                *starts &= starts.wrapping_sub(1);
                next
            };
            if after_space != 0 {
                start = next(&mut starts);
            }
            while ends != 0 {
                let length = base + ends.trailing_zeros() as usize - start;
                ends &= ends - 1;
                let first = bytes[start..].first_chunk::<16>().copied().unwrap_or_default();
                keys.push(key(first, length).unwrap_or_else(|| long(start, length)));
                start = next(&mut starts);
            }
            (after_bound, after_space) = ((space | alone) >> 63, space >> 63);
        }
    }
}
