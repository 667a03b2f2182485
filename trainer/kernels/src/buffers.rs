//! Memory that is used again: what passes need is as large as millions of values, and taking it from the
//! system anew costs as much as writing to it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Buffers that are not in use, by their capacities.
#[derive(Debug, Default)]
pub struct Buffers {
    free: Mutex<BTreeMap<usize, Vec<Vec<f32>>>>,
}

impl Clone for Buffers {
    /// Buffers are nobody's values: another one has none.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Buffers {
    /// A buffer of this many values, which are any.
    pub fn take(&self, length: usize) -> Vec<f32> {
        let mut buffer = self.free_one(length).unwrap_or_default();
        buffer.resize(length, 0.0);
        buffer
    }

    /// A buffer with these values.
    pub fn copy(&self, values: &[f32]) -> Vec<f32> {
        let mut buffer = self.free_one(values.len()).unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(values);
        buffer
    }

    /// A buffer of zeros.
    pub fn zeros(&self, length: usize) -> Vec<f32> {
        let mut buffer = self.free_one(length).unwrap_or_default();
        buffer.clear();
        buffer.resize(length, 0.0);
        buffer
    }

    /// Gives buffers back.
    pub fn give(&self, buffers: impl IntoIterator<Item = Vec<f32>>) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        for buffer in buffers.into_iter().filter(|buffer| buffer.capacity() > 0) {
            free.entry(buffer.capacity()).or_default().push(buffer);
        }
    }

    /// The smallest that is large enough, unless it is four times as large.
    fn free_one(&self, length: usize) -> Option<Vec<f32>> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let (capacity, buffers) = free.range_mut(length..=length.saturating_mul(4)).next()?;
        let capacity = *capacity;
        let buffer = buffers.pop();
        if buffers.is_empty() {
            free.remove(&capacity);
        }
        buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back() {
        let buffers = Buffers::default();
        let mut first = buffers.zeros(100);
        first.fill(7.0);
        let place = first.as_ptr();
        buffers.give([first, Vec::new()]);
        let second = buffers.take(60);
        assert_eq!((second.as_ptr(), second.len()), (place, 60));
        let third = buffers.take(60);
        assert_ne!(third.as_ptr(), place, "it is in use");
        buffers.give([second]);
        let fourth = buffers.take(10);
        assert_ne!(fourth.as_ptr(), place, "it is far too large");
        assert_eq!(buffers.zeros(60), [0.0; 60]);
        assert_eq!(buffers.copy(&[1.0, 2.0]), [1.0, 2.0]);
        assert_eq!(buffers.clone().take(3).len(), 3);
    }
}
