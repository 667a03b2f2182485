//! Random numbers from a seed: the same on every machine and in every version.

/// The generator `SplitMix64`: "Fast Splittable Pseudorandom Number Generators" (Steele, Lea, Flood
/// 2014), figure 16.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    /// The generator of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `count - 1`, each equally likely; 0 where `count` is 0.
    #[expect(clippy::cast_possible_truncation, reason = "it is less than `count`")]
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let Some(rest) = u64::MAX.checked_rem(count as u64) else { return 0 };
        let fair = u64::MAX - (rest + 1) % count as u64;
        loop {
            let bits = self.bits();
            if bits <= fair {
                return (bits % count as u64) as usize;
            }
        }
    }

    /// The numbers from 0 to `count - 1` in a random order (Fisher and Yates).
    pub(crate) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    #[test]
    fn the_sequence_is_that_of_the_paper() {
        // The first numbers of the reference implementation for the seed 1234567.
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn numbers_stay_within_their_range() {
        let mut random = SplitMix64::new(7);
        assert!((0..1000).all(|_| random.below(3) < 3));
        let mut order = random.order(50);
        order.sort_unstable();
        assert_eq!(order, (0..50).collect::<Vec<_>>());
        assert_eq!(random.below(0), 0);
    }
}
