//! Random numbers from a seed: the same on every machine and in every version.

/// The generator `SplitMix64`: "Fast Splittable Pseudorandom Number Generators" (Steele, Lea, Flood
/// 2014), figure 16.
#[derive(Clone, Debug)]
pub(super) struct SeededBits(u64);

impl SeededBits {
    /// The generator of a seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The generator of several seeds: any of them changes all that is drawn.
    pub(super) fn of(seeds: &[u64]) -> Self {
        let mix = |state: u64, seed: &u64| Self(state ^ *seed).bits();
        Self(seeds.iter().fold(0, mix))
    }

    /// The next 64 bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `count - 1`; 0 where `count` is 0. The bias is below `count / 2^64`.
    #[expect(clippy::cast_possible_truncation, reason = "it is less than `count`")]
    pub(super) fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }

    /// The numbers from 0 to `count - 1` in a random order (Fisher and Yates).
    pub(super) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }

    /// A number of at least 0 and below 1, on a grid of `2^-53`.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// FNV-1a in 64 bits: "The FNV Non-Cryptographic Hash Algorithm" (Fowler, Noll, Vo, Eastlake).
pub(super) fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_paper() {
        // The first outputs for seed 0, as the reference program in C gives them.
        let mut random = SeededBits::new(0);
        assert_eq!(random.bits(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.bits(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn numbers_are_in_their_range() {
        let mut random = SeededBits::of(&[1, 2]);
        let mut seen = [0_usize; 5];
        for _ in 0..5000 {
            seen[random.below(5)] += 1;
            assert!((0.0..1.0).contains(&random.unit()));
        }
        assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
        assert_eq!(random.below(0), 0);
        assert_ne!(SeededBits::of(&[1, 2]).bits(), SeededBits::of(&[2, 1]).bits());
    }

    #[test]
    fn the_hash_is_fnv() {
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
    }
}
