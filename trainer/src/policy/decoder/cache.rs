//! Keys and values of the tokens so far.
//!
//! A row is a sequence of its own, with memory of its own: rows are cloned (a prompt for each of its
//! completions) and dropped (a completion that ended) by themselves. For each layer and each head of the
//! keys it has the keys as `[width, capacity]`, so that the scores of all positions lie side by side,
//! and the values as `[capacity, width]`. The capacity grows by half when it is used up.

use assay_kernels::attention::Heads;
use assay_kernels::decoding::CachedHead;

/// Positions are added by multiples of this, the widest vector.
const POSITIONS: usize = 16;

/// The keys and values of some rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct KvCache {
    pub(super) rows: Vec<CachedRow>,
}

/// Those of one row.
#[derive(Clone, Debug, Default)]
pub(crate) struct CachedRow {
    length: usize,
    capacity: usize,
    layers: Vec<CachedLayer>,
}

/// Of one layer, head after head.
#[derive(Clone, Debug, Default)]
struct CachedLayer {
    keys: Vec<f32>,
    values: Vec<f32>,
}

impl KvCache {
    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Copies of these rows, in this order; a row may be named more than once.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        Self { rows: rows.iter().filter_map(|row| self.rows.get(*row)).cloned().collect() }
    }

    /// Keeps the rows of which `keep` says so, in their order, and drops the others.
    pub(crate) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let mut rows = 0..;
        self.rows.retain(|_| rows.next().is_some_and(&keep));
    }
}

impl CachedRow {
    /// A row of no tokens.
    pub(super) fn new(layers: usize) -> Self {
        Self { layers: vec![CachedLayer::default(); layers], ..Self::default() }
    }

    /// How many tokens it has.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Makes room for this many tokens more.
    pub(super) fn reserve(&mut self, heads: Heads, tokens: usize) {
        let needed = self.length + tokens;
        if needed <= self.capacity {
            return;
        }
        let grown = needed.max(self.capacity + self.capacity / 2).next_multiple_of(POSITIONS);
        for layer in &mut self.layers {
            let mut keys = vec![0.0; heads.keys * heads.width * grown];
            let rows = layer.keys.chunks_exact(self.capacity.max(1));
            for (to, from) in keys.chunks_exact_mut(grown).zip(rows) {
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
            let mut values = vec![0.0; heads.keys * heads.width * grown];
            let heads_before = layer.values.chunks_exact((self.capacity * heads.width).max(1));
            for (to, from) in values.chunks_exact_mut(grown * heads.width).zip(heads_before) {
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
            *layer = CachedLayer { keys, values };
        }
        self.capacity = grown;
    }

    /// Writes the keys and values of a token at `position`, for which there is room.
    pub(super) fn write(&mut self, layer: usize, heads: Heads, position: usize, qkv: &[f32]) {
        let Some(layer) = self.layers.get_mut(layer) else { return };
        let (_, keys_values) = qkv.split_at(heads.out_row().min(qkv.len()));
        let (keys, values) = keys_values.split_at(keys_values.len() / 2);
        let columns = layer.keys.iter_mut().skip(position).step_by(self.capacity.max(1));
        columns.zip(keys).for_each(|(to, from)| *to = *from);
        let by_head = layer.values.chunks_exact_mut((self.capacity * heads.width).max(1));
        for (head, values) in by_head.zip(values.chunks_exact(heads.width)) {
            let place = &mut head[position * heads.width..];
            place.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
        }
    }

    /// Counts tokens that were written to all layers.
    pub(super) fn advance(&mut self, tokens: usize) {
        self.length += tokens;
    }

    /// A head of the keys with its first positions.
    pub(super) fn head(
        &self,
        layer: usize,
        heads: Heads,
        key: usize,
        length: usize,
    ) -> Option<CachedHead<'_>> {
        let size = self.capacity * heads.width;
        let (start, end) = (key * size, (key + 1) * size);
        let layer = self.layers.get(layer)?;
        Some(CachedHead {
            keys: layer.keys.get(start..end)?,
            values: layer.values.get(start..end)?,
            width: heads.width,
            capacity: self.capacity,
            length,
        })
    }
}
