//! Prefix caching: the keys and values (KV cache) of what texts begin with in common, computed once.
//!
//! The completions of a group share their prompt. Where the graph takes past keys and values, those
//! of the prompt are computed once and each completion goes on from them.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::backend::Session;
use crate::error::{ModelError, guarded};
use crate::forward::{Forward, Past};
use crate::tokens::Tokens;

/// Tokens that must be saved before a prefix is worth its keep.
const SAVED_MIN: usize = 64;
/// Neighbours stay together down to this share of what each has in common with its nearest.
const LOOSE: (usize, usize) = (4, 5);

const UNKNOWN: u8 = 0;
const UNDER_WAY: u8 = 1;
const READY: u8 = 2;

/// The beginning of several texts.
#[derive(Debug)]
pub struct Prefix {
    ids: Vec<u32>,
    past: OnceLock<Result<Arc<Past>, ModelError>>,
    state: AtomicU8,
}

impl Prefix {
    fn new(ids: Vec<u32>) -> Self {
        Self { ids, past: OnceLock::new(), state: AtomicU8::new(UNKNOWN) }
    }

    /// Tokens.
    pub fn length(&self) -> usize {
        self.ids.len()
    }

    /// What is left of a text after it. Positions count from there.
    pub fn rest(&self, text: &Tokens) -> Tokens {
        let length = self.length();
        Tokens {
            ids: text.ids.split_at(length).1.to_vec(),
            types: text.types.clone(),
            positions: text.positions.iter().map(|at| at.saturating_sub(length)).collect(),
            special: text.special.clone(),
            targets: text.targets.clone(),
            sampling: text.sampling.clone(),
        }
    }

    /// Whether a worker computes it now; another one had better take other texts.
    pub fn is_under_way(&self) -> bool {
        self.state.load(Ordering::Acquire) == UNDER_WAY
    }

    /// The next worker that asks for the past computes it.
    pub fn claim(&self) {
        let _ =
            self.state.compare_exchange(UNKNOWN, UNDER_WAY, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The keys and values, computed at the first call.
    ///
    /// # Errors
    /// The error of the backend, to every caller.
    pub fn past(
        &self,
        forward: &Forward,
        session: &mut dyn Session,
    ) -> Result<Arc<Past>, ModelError> {
        let compute = || {
            let text = Tokens { ids: self.ids.clone(), ..Tokens::default() };
            guarded(|| forward.remember(session, &text))
        };
        let past = self.past.get_or_init(compute).clone();
        self.state.store(READY, Ordering::Release);
        past
    }

    fn bytes(&self) -> usize {
        let past = self.past.get().and_then(|past| past.as_ref().ok());
        past.map_or(0, |past| past.bytes())
    }
}

/// Prefixes by their tokens, each with the split that used it last.
type Kept = BTreeMap<Vec<u32>, (Arc<Prefix>, u64)>;

/// Prefixes that are kept for texts that come later, up to a limit of memory.
#[derive(Debug)]
pub struct Prefixes {
    kept: Mutex<Kept>,
    bytes_max: usize,
}

impl Prefixes {
    /// Keeps what fits into `bytes_max`.
    pub fn new(bytes_max: usize) -> Self {
        Self { kept: Mutex::default(), bytes_max }
    }

    /// Along the texts: the prefix that each goes on from.
    pub fn of(&self, texts: &[&Tokens]) -> Vec<Option<Arc<Prefix>>> {
        let lengths = common(texts);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // A prefix that no text uses and that was not computed belongs to a plan that was changed.
        kept.retain(|_, (prefix, _)| match prefix.past.get() {
            Some(past) => past.is_ok(),
            None => Arc::strong_count(prefix) > 1,
        });
        let now = kept.values().map(|(_, used)| *used).max().unwrap_or(0) + 1;
        let find = |(text, length): (&&Tokens, usize)| {
            let known = longest(&kept, text.ids.split_at(usable(text)).0);
            // A little more in common is not worth to begin anew.
            let pays = |known: &usize| {
                *known >= SAVED_MIN && known.saturating_mul(LOOSE.1) >= length * LOOSE.0
            };
            let length = known.filter(pays).unwrap_or(length);
            if length == 0 {
                return None;
            }
            let (ids, _) = text.ids.split_at(length);
            if let Some((prefix, used)) = kept.get_mut(ids) {
                *used = now;
                return Some(Arc::clone(prefix));
            }
            let prefix = Arc::new(Prefix::new(ids.to_vec()));
            kept.insert(ids.to_vec(), (Arc::clone(&prefix), now));
            Some(prefix)
        };
        let found = texts.iter().zip(lengths).map(find).collect();
        self.shrink(&mut kept);
        found
    }

    /// Lets go of what was used longest ago, until the rest fits. What a text holds goes on living.
    fn shrink(&self, kept: &mut Kept) {
        let mut bytes: usize = kept.values().map(|(prefix, _)| prefix.bytes()).sum();
        while bytes > self.bytes_max {
            let idle = kept.iter().filter(|(_, (prefix, _))| prefix.bytes() > 0);
            let Some(ids) = idle.min_by_key(|(_, (_, used))| *used).map(|(ids, _)| ids.clone())
            else {
                return;
            };
            if let Some((prefix, _)) = kept.remove(&ids) {
                bytes -= prefix.bytes();
            }
        }
    }
}

/// The length of the longest prefix that is kept of `ids`.
fn longest(kept: &Kept, ids: &[u32]) -> Option<usize> {
    let mut within = ids;
    loop {
        // What begins `within` is at or before it, and a longer one after a shorter one.
        let mut before = kept.range::<[u32], _>((Bound::Unbounded, Bound::Included(within)));
        let (known, _) = before.next_back()?;
        let shared = known.iter().zip(within).take_while(|(a, b)| a == b).count();
        if shared == known.len() {
            return Some(shared);
        }
        within = within.get(..shared)?;
    }
}

/// How long a prefix of a text may be: a token is left, and so is every place that is read.
fn usable(text: &Tokens) -> usize {
    let first = text.positions.iter().copied().min().unwrap_or(0);
    let typed = !text.types.is_empty();
    if typed { 0 } else { first.min(text.ids.len().saturating_sub(1)) }
}

/// Along the texts: how many tokens each shares with enough others to pay; 0 is none.
#[expect(clippy::indexing_slicing, reason = "the order is one of the texts")]
fn common(texts: &[&Tokens]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    let ids = |at: &usize| texts[*at].ids.as_slice();
    order.sort_by(|a, b| ids(a).cmp(ids(b)));
    let shared: Vec<usize> = order
        .windows(2)
        .map(|pair| match pair {
            [a, b] => ids(a).iter().zip(ids(b)).take_while(|(a, b)| a == b).count(),
            _ => 0,
        })
        .collect();
    let shared_at = |at: usize| shared.get(at).copied().unwrap_or(0);
    let nearest = |at: usize| at.checked_sub(1).map_or(0, shared_at).max(shared_at(at));
    let mut lengths = vec![0; texts.len()];
    let mut start = 0;
    while start < order.len() {
        let together = |at: usize| {
            let least = nearest(at).min(nearest(at + 1));
            shared_at(at) > 0 && shared_at(at) * LOOSE.1 >= least * LOOSE.0
        };
        let mut end = start + 1;
        while end < order.len() && together(end - 1) {
            end += 1;
        }
        let (members, _) = order.split_at(start).1.split_at(end - start);
        let length = shared.get(start..end - 1).and_then(|shared| shared.iter().min()).copied();
        let usable = members.iter().map(|at| usable(texts[*at])).min();
        let length = length.unwrap_or(0).min(usable.unwrap_or(0));
        if length * (members.len() - 1) >= SAVED_MIN {
            for at in members {
                lengths[*at] = length;
            }
        }
        start = end;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(prompt: u32, length: usize, completion: &[u32]) -> Tokens {
        let mut ids = vec![prompt; length];
        ids.extend(completion);
        let positions = vec![ids.len() - 1];
        Tokens { ids, positions, ..Tokens::default() }
    }

    fn all(texts: &[Tokens]) -> Vec<&Tokens> {
        texts.iter().collect()
    }

    /// The prefixes of texts that each have one.
    fn found(prefixes: &Prefixes, texts: &[Tokens]) -> Vec<Arc<Prefix>> {
        prefixes.of(&all(texts)).into_iter().map(Option::unwrap).collect()
    }

    #[test]
    fn the_texts_of_each_prompt_go_on_from_it() {
        let texts = [
            text(1, 100, &[7, 8]),
            text(2, 80, &[7, 9, 3]),
            text(1, 100, &[9]),
            text(2, 80, &[6]),
            text(3, 90, &[6]),
        ];
        assert_eq!(common(&all(&texts)), [100, 80, 100, 80, 0]);
        let prefixes = Prefixes::new(1 << 20);
        assert!(prefixes.of(&all(&texts))[4].is_none());
        let own = found(&prefixes, &texts[..4]);
        let rest = own[0].rest(&texts[0]);
        assert_eq!((rest.ids, rest.positions), (vec![7, 8], vec![1]));
        assert!(Arc::ptr_eq(&own[0], &own[2]));
        // Later texts find the prompt again, even a single one.
        let again = found(&prefixes, &[text(1, 100, &[5])]);
        assert!(Arc::ptr_eq(&own[0], &again[0]));
    }

    #[test]
    fn a_place_that_is_read_is_no_part_of_a_prefix() {
        let early = |last| Tokens { positions: vec![70, 100], ..text(1, 100, &[last]) };
        assert_eq!(common(&[&early(2), &early(3)]), [70, 70]);
    }

    #[test]
    fn equal_texts_keep_a_token_each() {
        assert_eq!(common(&[&text(1, 100, &[2]), &text(1, 100, &[2])]), [100, 100]);
    }

    #[test]
    fn a_little_more_in_common_is_not_worth_to_begin_anew() {
        let prefixes = Prefixes::new(1 << 20);
        let first = found(&prefixes, &[text(1, 100, &[7, 8]), text(1, 100, &[9])]);
        let later = found(&prefixes, &[text(1, 100, &[5, 6, 1]), text(1, 100, &[5, 6, 2])]);
        assert!(later.iter().all(|prefix| Arc::ptr_eq(prefix, &first[0])));
        // Of twice as much it is.
        let texts = [1, 2].map(|last| text(1, 100, &[vec![4; 100], vec![last]].concat()));
        assert_eq!(found(&prefixes, &texts)[0].length(), 200);
    }

    #[test]
    fn the_longest_of_what_is_kept_is_found() {
        let kept: Kept = [&[1][..], &[1, 2], &[1, 2, 9], &[1, 3], &[2]]
            .map(|ids| (ids.to_vec(), (Arc::new(Prefix::new(ids.to_vec())), 0)))
            .into();
        let found = |ids: &[u32]| longest(&kept, ids);
        assert_eq!(found(&[1, 2, 3, 4]), Some(2));
        assert_eq!(found(&[1, 2, 9, 9]), Some(3));
        assert_eq!(found(&[1, 9]), Some(1));
        assert_eq!((found(&[3]), found(&[0]), found(&[])), (None, None, None));
    }
}
