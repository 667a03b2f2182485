//! Random numbers from a seed, and hashes: the same on every machine and in every version.

/// What `SplitMix64` adds to its state: 2^64 over the golden ratio, made odd.
pub const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The generator `SplitMix64`: "Fast Splittable Pseudorandom Number Generators" (Steele, Lea, Flood
/// 2014), figure 16.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The generator of several seeds: any of them changes all that is drawn.
    pub fn of(seeds: &[u64]) -> Self {
        Self(seeds.iter().fold(0, |state, seed| Self(state ^ *seed).bits()))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN_GAMMA);
        mix64(self.0)
    }

    /// A number from 0 to `count - 1`, each equally likely; 0 where `count` is 0.
    #[expect(clippy::cast_possible_truncation, reason = "it is less than `count`")]
    pub fn below(&mut self, count: usize) -> usize {
        let Some(rest) = u64::MAX.checked_rem(count as u64) else { return 0 };
        let fair = u64::MAX - (rest + 1) % count as u64;
        loop {
            let bits = self.bits();
            if bits <= fair {
                return (bits % count as u64) as usize;
            }
        }
    }

    /// The same from one draw, with a bias below `count / 2^64`: other numbers than [`Self::below`].
    #[expect(clippy::cast_possible_truncation, reason = "it is less than `count`")]
    pub fn scaled_below(&mut self, count: usize) -> usize {
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }

    /// The numbers from 0 to `count - 1` in a random order (Fisher and Yates), drawn by `below`, such
    /// as [`Self::below`].
    pub fn order(&mut self, count: usize, below: fn(&mut Self, usize) -> usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, below(self, last + 1));
        }
        order
    }

    /// A number of at least 0 and below 1, on a grid of `2^-53`.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The finaliser of [`SplitMix64`].
pub fn mix64(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// FNV-1a in 64 bits ("The FNV Non-Cryptographic Hash Algorithm", Fowler, Noll, Vo, Eastlake), its
/// offset changed by a seed; 0 leaves it as it is.
pub fn fnv1a(seed: u64, text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_paper() {
        // The first outputs of the reference program in C.
        let mut random = SplitMix64::new(0);
        assert_eq!(random.bits(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.bits(), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(SplitMix64::new(1_234_567).bits(), 6_457_827_717_110_365_317);
    }

    #[test]
    fn numbers_stay_within_their_range() {
        let mut random = SplitMix64::of(&[1, 2]);
        for below in [SplitMix64::below, SplitMix64::scaled_below] {
            let mut seen = [0_usize; 5];
            for _ in 0..5000 {
                seen[below(&mut random, 5)] += 1;
                assert!((0.0..1.0).contains(&random.unit()));
            }
            assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
            assert_eq!(below(&mut random, 0), 0);
            let mut order = random.order(50, below);
            order.sort_unstable();
            assert_eq!(order, (0..50).collect::<Vec<_>>());
        }
        assert_ne!(SplitMix64::of(&[1, 2]).bits(), SplitMix64::of(&[2, 1]).bits());
    }

    #[test]
    fn the_hash_is_fnv() {
        assert_eq!(fnv1a(0, ""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(0, "a"), 0xaf63_dc4c_8601_ec8c);
    }
}
