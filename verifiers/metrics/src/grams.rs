//! N-grams that texts share.

use crate::intern::{Pairs, number};

/// Where no n-gram ends.
const NONE: u32 = u32::MAX;

/// The n-grams of references.
pub(crate) struct Grams {
    orders: usize,
    /// How many different tokens there are: an n-gram of one token is its number.
    kinds: u32,
    /// An n-gram of one token less and a token: longer ones are numbered behind the tokens.
    longer: Pairs,
    /// How often the reference has each that has it most often.
    most: Vec<u32>,
}

#[expect(clippy::indexing_slicing, reason = "numbers of n-grams are below the count of them")]
impl Grams {
    /// The n-grams of up to `orders` tokens. Tokens are numbers below `kinds`; the greatest is for those of
    /// other texts that no reference has. Linear in the references times the orders.
    pub(crate) fn of(references: &[Vec<u32>], kinds: usize, orders: usize) -> Self {
        let all: usize = references.iter().map(Vec::len).sum();
        let more = all * orders.saturating_sub(1);
        let mut most = vec![0_u32; kinds];
        most.reserve(more);
        let mut grams = Self { orders, kinds: number(kinds), longer: Pairs::for_about(more), most };
        if let [only] = references {
            grams.each(only, |most| *most += 1);
            return grams;
        }
        for reference in references {
            let before = std::mem::replace(&mut grams.most, vec![0; kinds + grams.longer.len()]);
            grams.each(reference, |seen| *seen += 1);
            for (most, before) in grams.most.iter_mut().zip(before) {
                *most = before.max(*most);
            }
        }
        grams
    }

    /// Numbers the n-grams of a reference, and changes the count of each.
    fn each(&mut self, reference: &[u32], change: impl Fn(&mut u32)) {
        let mut ending = vec![NONE; self.orders];
        for token in reference {
            for order in (1..self.orders).rev() {
                if ending[order - 1] == NONE {
                    continue;
                }
                let gram = self.kinds + self.longer.id(ending[order - 1], *token);
                if self.most.len() == gram as usize {
                    self.most.push(0);
                }
                change(&mut self.most[gram as usize]);
                ending[order] = gram;
            }
            if let Some(first) = ending.first_mut() {
                change(&mut self.most[*token as usize]);
                *first = *token;
            }
        }
    }

    /// How many n-grams of a text the references have, for each order from 1: each as often as the reference
    /// that has it most often. Linear in the text times the orders.
    pub(crate) fn matches(&self, text: &[u32]) -> Vec<usize> {
        let mut left = self.most.clone();
        let mut matches = vec![0; self.orders];
        // The n-grams of references that end at a token.
        let mut ending = vec![NONE; self.orders];
        if self.orders == 0 {
            return matches;
        }
        for token in text {
            for order in (0..self.orders).rev() {
                let gram = match order.checked_sub(1).map(|shorter| ending[shorter]) {
                    None => Some(*token).filter(|token| self.most[*token as usize] > 0),
                    Some(NONE) => None,
                    Some(shorter) => self.longer.find(shorter, *token).map(|at| self.kinds + at),
                };
                ending[order] = gram.unwrap_or(NONE);
                if let Some(gram) = gram {
                    let left = &mut left[gram as usize];
                    matches[order] += usize::from(*left > 0);
                    *left = left.saturating_sub(1);
                }
            }
        }
        matches
    }
}
