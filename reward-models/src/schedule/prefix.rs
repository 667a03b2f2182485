//! What texts begin with in common, computed once.
//!
//! The completions of a group share their prompt. Where the graph takes past keys and values, those
//! of the prompt are computed once and each completion goes on from them.

use std::collections::BTreeMap;
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

    /// Whether a worker computes it now; another one had better take other texts.
    pub fn is_under_way(&self) -> bool {
        self.state.load(Ordering::Acquire) == UNDER_WAY
    }

    /// The next worker that asks for the past computes it.
    pub fn claim(&self) {
        let _ =
            self.state.compare_exchange(UNKNOWN, UNDER_WAY, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The keys and values, computed where nobody has.
    ///
    /// # Errors
    /// What the backend said, to everybody who asks.
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

    /// Whether its computation failed: the next text that needs it has it computed again.
    fn failed(&self) -> bool {
        self.past.get().is_some_and(Result::is_err)
    }

    fn bytes(&self) -> usize {
        let past = self.past.get().and_then(|past| past.as_ref().ok());
        past.map_or(0, |past| past.bytes())
    }
}

/// Prefixes by their tokens, each with the call that used it last.
type Kept = BTreeMap<Vec<u32>, (Arc<Prefix>, u64)>;

/// Prefixes that are kept from call to call, up to a limit of memory.
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

    /// Along the texts: the prefix that each goes on from, and what is left of it.
    pub fn split(&self, texts: Vec<Arc<Tokens>>) -> Vec<(Arc<Tokens>, Option<Arc<Prefix>>)> {
        let lengths = common(&texts);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, (prefix, _)| !prefix.failed());
        let now = kept.values().map(|(_, used)| *used).max().unwrap_or(0) + 1;
        let split = |(text, length): (Arc<Tokens>, usize)| {
            let known = kept
                .iter_mut()
                .filter(|(ids, _)| ids.len() <= usable(&text) && text.ids.starts_with(ids))
                .max_by_key(|(ids, _)| ids.len());
            let known = known.filter(|(ids, _)| ids.len() >= length.max(SAVED_MIN));
            let prefix = match known {
                Some((_, (prefix, used))) => {
                    *used = now;
                    Some(Arc::clone(prefix))
                }
                None if length > 0 => {
                    let ids = text.ids.get(..length).unwrap_or_default().to_vec();
                    let prefix = Arc::new(Prefix::new(ids.clone()));
                    kept.insert(ids, (Arc::clone(&prefix), now));
                    Some(prefix)
                }
                None => None,
            };
            match prefix {
                Some(prefix) => (Arc::new(rest(&text, prefix.length())), Some(prefix)),
                None => (text, None),
            }
        };
        let found = texts.into_iter().zip(lengths).map(split).collect();
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

/// What is left of a text behind a prefix. Positions count from there.
fn rest(text: &Tokens, length: usize) -> Tokens {
    Tokens {
        ids: text.ids.get(length..).unwrap_or_default().to_vec(),
        positions: text.positions.iter().map(|position| position - length).collect(),
        ..text.clone()
    }
}

/// How long a prefix of a text may be: a token is left, and so is every place that is read.
fn usable(text: &Tokens) -> usize {
    let first = text.positions.iter().copied().min().unwrap_or(0);
    let typed = !text.types.is_empty();
    if typed { 0 } else { first.min(text.ids.len().saturating_sub(1)) }
}

/// Along the texts: how many tokens each shares with enough others to pay; 0 is none.
fn common(texts: &[Arc<Tokens>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    let ids = |at: &usize| texts.get(*at).map(|text| text.ids.as_slice()).unwrap_or_default();
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
        let members = order.get(start..end).unwrap_or_default();
        let length = shared.get(start..end - 1).and_then(|shared| shared.iter().min()).copied();
        let usable = members.iter().filter_map(|at| texts.get(*at)).map(|text| usable(text)).min();
        let length = length.unwrap_or(0).min(usable.unwrap_or(0));
        if length * (members.len() - 1) >= SAVED_MIN {
            for at in members {
                if let Some(slot) = lengths.get_mut(*at) {
                    *slot = length;
                }
            }
        }
        start = end;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(prompt: u32, length: usize, completion: &[u32]) -> Arc<Tokens> {
        let mut ids = vec![prompt; length];
        ids.extend(completion);
        let positions = vec![ids.len() - 1];
        Arc::new(Tokens { ids, positions, ..Tokens::default() })
    }

    #[test]
    fn the_texts_of_each_prompt_go_on_from_it() {
        let texts = vec![
            text(1, 100, &[7, 8]),
            text(2, 80, &[7, 9, 3]),
            text(1, 100, &[9]),
            text(2, 80, &[6]),
            text(3, 90, &[6]),
        ];
        assert_eq!(common(&texts), [100, 80, 100, 80, 0]);
        let prefixes = Prefixes::new(1 << 20);
        let split = prefixes.split(texts);
        assert_eq!(split[0].0.ids, [7, 8]);
        assert_eq!(split[0].0.positions, [1]);
        assert!(Arc::ptr_eq(split[0].1.as_ref().unwrap(), split[2].1.as_ref().unwrap()));
        assert!(split[4].1.is_none());
        // The next call finds the prompt again, even with a single text.
        let again = prefixes.split(vec![text(1, 100, &[5])]);
        assert!(Arc::ptr_eq(split[0].1.as_ref().unwrap(), again[0].1.as_ref().unwrap()));
    }

    #[test]
    fn a_place_that_is_read_is_no_part_of_a_prefix() {
        let read_early = |last| {
            let positions = vec![70, 100];
            Arc::new(Tokens { positions, ..(*text(1, 100, &[last])).clone() })
        };
        assert_eq!(common(&[read_early(2), read_early(3)]), [70, 70]);
    }

    #[test]
    fn equal_texts_keep_a_token_each() {
        let texts = vec![text(1, 100, &[2]), text(1, 100, &[2])];
        assert_eq!(common(&texts), [100, 100]);
    }
}
