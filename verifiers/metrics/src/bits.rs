//! Bit-parallel comparison of two sequences of numbers, 64 rows of the table at a time.

/// The rows of a table that one word holds.
const BLOCK: usize = 64;

/// What both comparisons cost: steps of one word.
pub(crate) fn steps(one: usize, two: usize) -> u64 {
    (one.div_ceil(BLOCK) as u64).saturating_mul(two as u64)
}

/// Where in a block each number stands. Numbers are below `kinds`.
pub(crate) struct Masks {
    of: Vec<u64>,
}

#[expect(
    clippy::indexing_slicing,
    reason = "numbers are below the kinds that the masks are made for"
)]
impl Masks {
    pub(crate) fn new(kinds: usize) -> Self {
        Self { of: vec![0; kinds] }
    }

    pub(crate) fn set(&mut self, block: &[u32]) {
        for (place, id) in block.iter().enumerate() {
            self.of[*id as usize] |= 1 << place;
        }
    }

    pub(crate) fn clear(&mut self, block: &[u32]) {
        for id in block {
            self.of[*id as usize] = 0;
        }
    }

    pub(crate) fn get(&self, id: u32) -> u64 {
        self.of[id as usize]
    }

    /// Levenshtein's distance of the one block that is set, which is `length` long, to a sequence.
    pub(crate) fn distance(&self, length: usize, two: &[u32]) -> usize {
        let last = 1_u64 << (length - 1);
        let (mut plus, mut minus, mut out) = (u64::MAX, 0_u64, length);
        for id in two {
            let equal = self.get(*id);
            let vertical = equal | minus;
            let horizontal = ((equal & plus).wrapping_add(plus) ^ plus) | equal;
            let (grows, shrinks) = (minus | !(horizontal | plus), plus & horizontal);
            out = out + usize::from(grows & last != 0) - usize::from(shrinks & last != 0);
            let grows = (grows << 1) | 1;
            plus = (shrinks << 1) | !(vertical | grows);
            minus = grows & vertical;
        }
        out
    }
}

/// One column of the table of common subsequences (Hyyrö 2004): a bit is 0 where the length grows by
/// one from the row above.
pub(crate) fn column(rows: u64, mask: u64, carry: bool) -> (u64, bool) {
    let (sum, over) = rows.overflowing_add(rows & mask);
    let (sum, again) = sum.overflowing_add(u64::from(carry));
    (sum | (rows & !mask), over || again)
}

/// The length of the longest common subsequence. [`steps`] steps.
pub(crate) fn common(one: &[u32], two: &[u32], kinds: usize) -> usize {
    let mut masks = Masks::new(kinds);
    let mut carries = vec![false; two.len()];
    let mut length = 0;
    for block in one.chunks(BLOCK) {
        masks.set(block);
        let mut rows = u64::MAX;
        for (id, carry) in two.iter().zip(&mut carries) {
            (rows, *carry) = column(rows, masks.get(*id), *carry);
        }
        // Rows beyond the block are 1.
        length += rows.count_zeros() as usize;
        masks.clear(block);
    }
    length
}

/// Levenshtein's distance (Myers 1999, Hyyrö 2003). At most [`steps`] steps.
pub(crate) fn distance(one: &[u32], two: &[u32], kinds: usize) -> usize {
    let (one, two) = without_equal_ends(one, two);
    if one.is_empty() || two.is_empty() {
        return one.len().max(two.len());
    }
    blocks(one, two, &mut Masks::new(kinds), &mut Vec::new())
}

/// The same of two sequences that are not empty; masks are clear before and after.
pub(crate) fn blocks(one: &[u32], two: &[u32], masks: &mut Masks, across: &mut Vec<i8>) -> usize {
    // By how much the distance grows from each column to the next, in the last row of the block above.
    across.clear();
    across.resize(two.len(), 1);
    for block in one.chunks(BLOCK) {
        masks.set(block);
        let last = 1_u64 << (block.len() - 1);
        let (mut plus, mut minus) = (u64::MAX, 0_u64);
        for (id, step) in two.iter().zip(across.iter_mut()) {
            let (up, down) = (u64::from(*step > 0), u64::from(*step < 0));
            let equal = masks.get(*id);
            let vertical = equal | minus;
            let equal = equal | down;
            let horizontal = ((equal & plus).wrapping_add(plus) ^ plus) | equal;
            let grows = minus | !(horizontal | plus);
            let shrinks = plus & horizontal;
            *step = i8::from(grows & last != 0) - i8::from(shrinks & last != 0);
            let (grows, shrinks) = ((grows << 1) | up, (shrinks << 1) | down);
            plus = shrinks | !(vertical | grows);
            minus = grows & vertical;
        }
        masks.clear(block);
    }
    let grown: isize = across.iter().map(|step| isize::from(*step)).sum();
    one.len().saturating_add_signed(grown)
}

fn without_equal_ends<'n>(one: &'n [u32], two: &'n [u32]) -> (&'n [u32], &'n [u32]) {
    let start = one.iter().zip(two).take_while(|(one, two)| one == two).count();
    let (one, two) = (one.split_at(start).1, two.split_at(start).1);
    let end = one.iter().rev().zip(two.iter().rev()).take_while(|(one, two)| one == two).count();
    (one.split_at(one.len() - end).0, two.split_at(two.len() - end).0)
}
