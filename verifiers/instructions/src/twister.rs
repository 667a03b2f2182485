//! The Mersenne Twister, drawn from as Python's `random.Random(0)` draws.

use std::f64::consts::TAU;
use std::sync::LazyLock;

const WORDS: usize = 624;
const SHIFT: usize = 397;

/// A generator, seeded with 0.
#[derive(Clone)]
pub(crate) struct Twister {
    state: [u32; WORDS],
    next: usize,
    /// The second number of a pair of normal ones.
    spare: Option<f64>,
}

static SEEDED: LazyLock<Twister> = LazyLock::new(Twister::seeded);

impl Twister {
    pub(crate) fn new() -> Twister {
        SEEDED.clone()
    }

    /// `init_by_array([0])`.
    fn seeded() -> Twister {
        let mut state = [0_u32; WORDS];
        let mut last = 19_650_218_u32;
        for (at, word) in (0_u32..).zip(state.iter_mut()) {
            if at > 0 {
                last = 1_812_433_253_u32.wrapping_mul(last ^ last >> 30).wrapping_add(at);
            }
            *word = last;
        }
        let mut at = 1;
        for round in 0..2 * WORDS - 1 {
            let first = round < WORDS;
            let factor = if first { 1_664_525_u32 } else { 1_566_083_941 };
            let before = read(&state, at - 1);
            let mixed = read(&state, at) ^ (before ^ before >> 30).wrapping_mul(factor);
            let mixed = if first { mixed } else { mixed.wrapping_sub(index(at)) };
            write(&mut state, at, mixed);
            at += 1;
            if at == WORDS {
                let end = read(&state, WORDS - 1);
                write(&mut state, 0, end);
                at = 1;
            }
        }
        write(&mut state, 0, 0x8000_0000);
        let mut made = Twister { state, next: WORDS, spare: None };
        made.twist();
        made
    }

    fn twist(&mut self) {
        for at in 0..WORDS {
            let high = read(&self.state, at) & 0x8000_0000;
            let low = read(&self.state, (at + 1) % WORDS) & 0x7fff_ffff;
            let joined = high | low;
            let odd = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            let mixed = read(&self.state, (at + SHIFT) % WORDS) ^ joined >> 1 ^ odd;
            write(&mut self.state, at, mixed);
        }
        self.next = 0;
    }

    fn word(&mut self) -> u32 {
        if self.next == WORDS {
            self.twist();
        }
        let mut word = read(&self.state, self.next);
        self.next += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c_5680;
        word ^= word << 15 & 0xefc6_0000;
        word ^ word >> 18
    }

    /// `random()`: 53 bits.
    fn unit(&mut self) -> f64 {
        let (high, low) = (self.word() >> 5, self.word() >> 6);
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// `gauss(0, 1)`.
    pub(crate) fn gauss(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let angle = self.unit() * TAU;
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        self.spare = Some(angle.sin() * radius);
        angle.cos() * radius
    }

    /// `_randbelow(count)`, which `choice` uses. The count is more than zero.
    pub(crate) fn below(&mut self, count: u32) -> u32 {
        let bits = 32 - count.leading_zeros();
        loop {
            let drawn = self.word() >> (32 - bits);
            if drawn < count {
                return drawn;
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a place is below 624")]
fn index(at: usize) -> u32 {
    at as u32
}

#[expect(clippy::indexing_slicing, reason = "every place is below the count of words")]
fn read(state: &[u32; WORDS], at: usize) -> u32 {
    state[at]
}

#[expect(clippy::indexing_slicing, reason = "every place is below the count of words")]
fn write(state: &mut [u32; WORDS], at: usize, word: u32) {
    state[at] = word;
}

#[cfg(test)]
mod tests {
    use super::Twister;

    #[test]
    fn draws_are_those_of_python() {
        let mut draws = Twister::new();
        let first: Vec<f64> = (0..2).map(|_| draws.unit()).collect();
        assert_eq!(first, [0.844_421_851_525_048_1, 0.757_954_402_940_302_5]);
        let mut draws = Twister::new();
        let mixed = (draws.gauss(), draws.below(1000), draws.gauss(), draws.below(7));
        assert_eq!(mixed, (0.941_715_404_680_664_4, 430, -1.396_578_104_701_149_8, 0));
    }
}
