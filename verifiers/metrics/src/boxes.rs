//! Overlap of boxes and masks.

use crate::score::{Overlap, float};

/// A box between two corners, of which the second has the greater coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    /// The first corner: left and top.
    pub from: [f64; 2],
    /// The second corner: right and bottom.
    pub to: [f64; 2],
}

impl Rectangle {
    /// `None` unless coordinates are finite, below 1e100, and in order.
    pub fn new([left, top, right, bottom]: [f64; 4]) -> Option<Self> {
        let is_good = [left, top, right, bottom].iter().all(|value| value.abs() < 1e100);
        let is_box = is_good && left < right && top < bottom;
        is_box.then_some(Self { from: [left, top], to: [right, bottom] })
    }

    fn area(&self) -> f64 {
        (self.to[0] - self.from[0]) * (self.to[1] - self.from[1])
    }

    fn common(&self, other: &Self) -> f64 {
        let width = self.to[0].min(other.to[0]) - self.from[0].max(other.from[0]);
        let height = self.to[1].min(other.to[1]) - self.from[1].max(other.from[1]);
        width.max(0.0) * height.max(0.0)
    }

    /// What both cover over what either covers, from 0 to 1.
    pub fn iou(&self, other: &Self) -> f64 {
        let common = self.common(other);
        common / (self.area() + other.area() - common)
    }

    /// The `IoU` less the share of the smallest box around both that neither covers, from -1 to 1
    /// (Rezatofighi et al. 2019).
    pub fn giou(&self, other: &Self) -> f64 {
        let around = Self {
            from: [self.from[0].min(other.from[0]), self.from[1].min(other.from[1])],
            to: [self.to[0].max(other.to[0]), self.to[1].max(other.to[1])],
        };
        let union = self.area() + other.area() - self.common(other);
        self.iou(other) - (around.area() - union) / around.area()
    }

    /// Twice what both cover over what each covers, from 0 to 1.
    pub fn dice(&self, other: &Self) -> f64 {
        2.0 * self.common(other) / (self.area() + other.area())
    }

    /// Whether a point is within, or on the edge.
    pub fn has(&self, [x, y]: [f64; 2]) -> bool {
        (self.from[0]..=self.to[0]).contains(&x) && (self.from[1]..=self.to[1]).contains(&y)
    }
}

/// The pixels of two masks, as lengths of runs that are in turn out of the mask and in it, as COCO has
/// them uncompressed. Linear in the runs.
pub fn masks(given: &[u64], wanted: &[u64]) -> MaskCounts {
    let (one, two) = (inside(given), inside(wanted));
    let sum = |spans: &[(u64, u64)]| spans.iter().map(|(from, to)| to - from).sum();
    let mut out = MaskCounts { common: 0, given: sum(&one), wanted: sum(&two) };
    let (mut one, mut two) = (one.into_iter().peekable(), two.into_iter().peekable());
    while let (Some((from, to)), Some((start, end))) = (one.peek(), two.peek()) {
        out.common += to.min(end).saturating_sub(*from.max(start));
        if to <= end {
            one.next()
        } else {
            two.next()
        };
    }
    out
}

/// Where the runs are in the mask.
fn inside(runs: &[u64]) -> Vec<(u64, u64)> {
    let mut at = 0_u64;
    let mut span = |run: &[u64]| {
        let from = at.saturating_add(run.first().copied()?);
        at = from.saturating_add(run.get(1).copied()?);
        Some((from, at))
    };
    runs.chunks(2).map_while(&mut span).collect()
}

/// Pixels of two masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskCounts {
    /// In both.
    pub common: u64,
    /// In the one that is judged.
    pub given: u64,
    /// In the reference.
    pub wanted: u64,
}

impl MaskCounts {
    /// What both cover over what either covers.
    pub fn iou(self) -> f64 {
        let common = pixels(self.common);
        let either = pixels(self.given) + pixels(self.wanted) - common;
        if either > 0.0 { common / either } else { 0.0 }
    }

    /// Twice what both cover over what each covers.
    pub fn dice(self) -> f64 {
        let [common, given, wanted] = [self.common, self.given, self.wanted].map(pixels);
        if given + wanted > 0.0 { 2.0 * common / (given + wanted) } else { 0.0 }
    }
}

#[expect(clippy::cast_precision_loss, reason = "images have far fewer than 2^53 pixels")]
fn pixels(count: u64) -> f64 {
    count as f64
}

/// Precision and recall of matched boxes: the weights of pairs over the boxes of each side.
pub fn matched(weights: f64, given: usize, wanted: usize) -> Overlap {
    Overlap { precision: weights / float(given.max(1)), recall: weights / float(wanted.max(1)) }
}
