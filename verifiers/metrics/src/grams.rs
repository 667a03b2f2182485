//! N-grams that two texts share.

use crate::intern::Pairs;

/// The n-grams of `text` that `references` have, for each n from 1 to `orders`: each as often as the
/// reference that has it most often. Tokens are numbers from 0 below `tokens`. Linear in the texts times
/// the orders.
#[expect(clippy::indexing_slicing, reason = "numbers of n-grams are below the count of them")]
pub(crate) fn shared(
    references: &[Vec<u32>],
    text: &[u32],
    tokens: usize,
    orders: usize,
) -> Vec<usize> {
    let all: usize = references.iter().map(Vec::len).sum();
    let mut known: Vec<Vec<u32>> = references.to_vec();
    let mut given: Vec<Option<u32>> = text.iter().copied().map(Some).collect();
    let mut kinds = tokens;
    let mut out = Vec::with_capacity(orders);
    for order in 1..=orders {
        if order > 1 {
            // An n-gram is that of one token less, and a token.
            let mut pairs = Pairs::for_at_most(all);
            for (grams, reference) in known.iter_mut().zip(references) {
                let length = reference.len().saturating_sub(order - 1);
                grams.truncate(length);
                for (gram, last) in grams.iter_mut().zip(reference.iter().skip(order - 1)) {
                    *gram = pairs.id(*gram, *last);
                }
            }
            given.truncate(text.len().saturating_sub(order - 1));
            for (gram, last) in given.iter_mut().zip(text.iter().skip(order - 1)) {
                *gram = gram.and_then(|gram| pairs.find(gram, *last));
            }
            kinds = pairs.len();
        }
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
        let mut matches = 0;
        for gram in given.iter().flatten() {
            let gram = *gram as usize;
            matches += usize::from(most[gram] > 0);
            most[gram] = most[gram].saturating_sub(1);
        }
        out.push(matches);
    }
    out
}
