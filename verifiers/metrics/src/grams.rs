//! N-grams that texts share.

use crate::intern::Pairs;

/// The n-grams of references, by their orders.
pub(crate) struct Grams {
    orders: Vec<Order>,
}

/// N-grams of as many tokens.
struct Order {
    /// An n-gram of one token less, and a token. Those of one token are its number.
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
        let mut known: Vec<Vec<u32>> = references.to_vec();
        let orders = (1..=orders).map(|order| {
            let mut longer = Pairs::for_at_most(if order > 1 { all } else { 0 });
            if order > 1 {
                for (grams, reference) in known.iter_mut().zip(references) {
                    grams.truncate((reference.len() + 1).saturating_sub(order));
                    for (gram, last) in grams.iter_mut().zip(reference.iter().skip(order - 1)) {
                        *gram = longer.id(*gram, *last);
                    }
                }
            }
            let kinds = if order > 1 { longer.len() } else { kinds };
            let (mut most, mut seen) = (vec![0_u32; kinds], vec![0_u32; kinds]);
            for grams in &known {
                for gram in grams {
                    let gram = *gram as usize;
                    seen[gram] += 1;
                    most[gram] = most[gram].max(seen[gram]);
                }
                for gram in grams {
                    seen[*gram as usize] = 0;
                }
            }
            Order { longer, most }
        });
        Self { orders: orders.collect() }
    }

    /// How many n-grams of a text the references have, for each order from 1: each as often as the reference
    /// that has it most often. Linear in the text times the orders.
    pub(crate) fn matches(&self, text: &[u32]) -> Vec<usize> {
        // The n-grams that references have, and where in the text they end.
        let mut given: Vec<(u32, usize)> = text.iter().copied().zip(1..).collect();
        let mut out = Vec::with_capacity(self.orders.len());
        for (place, Order { longer, most }) in self.orders.iter().enumerate() {
            if place > 0 {
                let longer = |(gram, end): (u32, usize)| {
                    Some((longer.find(gram, *text.get(end)?)?, end + 1))
                };
                given = given.into_iter().filter_map(longer).collect();
            }
            let mut left = most.clone();
            let mut matches = 0;
            for (gram, _) in &given {
                let left = &mut left[*gram as usize];
                matches += usize::from(*left > 0);
                *left = left.saturating_sub(1);
            }
            if place == 0 {
                given.retain(|(gram, _)| most[*gram as usize] > 0);
            }
            out.push(matches);
        }
        out
    }
}
