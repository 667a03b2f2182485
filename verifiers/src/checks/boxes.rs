//! `boxes`: boxes, points or masks on an image.

use assay_metrics::boxes::{Rectangle, masks, matched};
use assay_structure::assignment;

use crate::likeness::{self, Measured};
use crate::prelude::*;
use crate::text_parts::visible;

/// How well boxes lie on those of the reference, matched so that their sum is greatest.
///
/// A box is `[left, top, right, bottom]`; the reference is one or a list of them. The reward is the F1 of
/// overlaps: their sum, twice, over the boxes of both sides, so that boxes too many and too few cost
/// alike. For `point` the completion has one point `[x, y]`, which must be in the only box. For `mask`
/// both sides are the lengths of runs, out of the mask and in it in turn. The completion is JSON in the
/// last code fence, or else in the last answer tag, or else all of it, and there in a box; of an object, its
/// member `answer` or the only one.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Boxes {
    /// Which measure pays.
    metric: Metric,
    /// A pair of boxes below this overlap earns nothing.
    floor: f64,
    /// The reward is 1 from this score on and 0 below, in place of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Metric {
    /// What both cover over what either covers.
    #[default]
    Iou,
    /// The same less what neither covers of the box around both; below 0 it earns nothing.
    Giou,
    /// Twice what both cover over what each covers.
    Dice,
    /// Whether the point is in the box.
    Point,
    /// What both masks cover over what either covers.
    Mask,
}

/// The most boxes of a side.
const BOXES_MAX: usize = 1000;

impl Check for Boxes {
    const ID: &'static str = "boxes";
    const ASPECT: Aspect = Aspect::Value;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if !(0.0..=1.0).contains(&self.floor) {
            return Err(BuildError::new("floor", "expected 0 to 1"));
        }
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let text = visible(sample, meter)?.map(|(text, _)| text).unwrap_or_default();
        meter.spend(40 * text.len() as u64)?;
        let given = likeness::data(&text).and_then(|(_, value)| value);
        let bad = || Fault::bad_reference("the reference is no box, no list of boxes, or no mask");
        if self.metric == Metric::Mask {
            let wanted =
                runs(reference).filter(|runs| runs.iter().skip(1).step_by(2).any(|run| *run > 0));
            let wanted = wanted.ok_or_else(bad)?;
            meter.spend(20 * wanted.len() as u64)?;
            let Some(given) = given.as_ref().and_then(runs) else {
                return Ok(Verdict::graded(false).because("no-mask"));
            };
            let counts = masks(&given, &wanted);
            let parts = vec![("iou", counts.iou().into()), ("dice", counts.dice().into())];
            return Ok(likeness::earned(Measured { score: counts.iou(), parts }, self.threshold));
        }
        let wanted = rectangles(reference).filter(|boxes| !boxes.is_empty()).ok_or_else(bad)?;
        if self.metric == Metric::Point {
            let [wanted] = wanted.as_slice() else { return Err(bad()) };
            let point = given.and_then(|given| serde_json::from_value::<[f64; 2]>(given).ok());
            let Some(point) = point else {
                return Ok(Verdict::graded(false).because("no-point"));
            };
            let hit = wanted.has(point);
            return Ok(Verdict::graded(hit).because(if hit { "inside" } else { "outside" }));
        }
        let Some(given) = given.as_ref().and_then(rectangles) else {
            return Ok(Verdict::graded(false).because("no-boxes"));
        };
        self.overlap(&given, &wanted, meter)
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let reference = sample.reference()?;
        if self.metric != Metric::Point {
            return Some(vec![reference.to_string()]);
        }
        let boxes = rectangles(reference)?;
        let corner = |one: &Rectangle| json!(one.from).to_string();
        Some(boxes.iter().map(corner).collect())
    }
}

impl Boxes {
    fn overlap(
        &self,
        given: &[Rectangle],
        wanted: &[Rectangle],
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        let weight = |row: usize, column: usize| {
            let Some((one, two)) = given.get(row).zip(wanted.get(column)) else { return 0.0 };
            let overlap = match self.metric {
                Metric::Giou => one.giou(two),
                Metric::Dice => one.dice(two),
                _ => one.iou(two),
            };
            if overlap < self.floor { 0.0 } else { overlap.max(0.0) }
        };
        let mut pay = |units| meter.spend(10 * units);
        let pairs = assignment::best(given.len(), wanted.len(), &weight, &mut pay)?;
        let found = pairs.iter().enumerate().filter_map(|(row, column)| Some((row, (*column)?)));
        let (mut sum, mut count) = (0.0, 0_usize);
        for (row, column) in found {
            (sum, count) = (sum + weight(row, column), count + 1);
        }
        let overlap = matched(sum, given.len(), wanted.len());
        let parts = vec![
            ("matched", count.into()),
            ("given", given.len().into()),
            ("wanted", wanted.len().into()),
            ("overlap", sum.into()),
        ];
        Ok(likeness::earned(Measured { score: overlap.f1(), parts }, self.threshold))
    }
}

/// A box, or a list of boxes.
fn rectangles(value: &Value) -> Option<Vec<Rectangle>> {
    let corners = |value: &Value| serde_json::from_value::<[f64; 4]>(value.clone()).ok();
    if let Some(one) = corners(value) {
        return Some(vec![Rectangle::new(one)?]);
    }
    let all = value.as_array().filter(|all| all.len() <= BOXES_MAX)?;
    all.iter().map(|one| corners(one).and_then(Rectangle::new)).collect()
}

fn runs(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect()
}
