//! `gui_action`: the next action on a screen is that of the reference.

use assay_structure::gui::{Action, Match, compare, of_value, read};

use super::json::tree::{self, Rules};
use crate::prelude::*;
use crate::text_parts::{Place, share};

/// Right when the action has the kind and the argument of the reference.
///
/// An action is a JSON object, a function call, or words with a point in marks:
/// `{"action": "click", "point": [10, 20]}`, a call of the tool `computer_use` or `mobile_use`,
/// `click(x=10, y=20)`, `scroll(direction="down")`, `CLICK <point>10 20</point>`; names are read as many
/// agents write them. A point must lie in the `box` of the reference, or near its point; a text must have
/// its words; keys, the element (`bid`, `id`, `index`), the `status` and the `url` must be the same. The
/// reference is an action in any form, of which each argument must be understood. Several actions are none.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct GuiAction {
    /// How far a point may be from a wanted point that has no box, in units of the reference.
    radius: f64,
    /// Points of the answer run from 0 to this (1, or 1000) over the screen, those of the reference over its
    /// pixels.
    scale: Option<f64>,
    /// The column with the width and the height of the screen, `[w, h]`, which `scale` needs.
    #[default = "screen"]
    screen: String,
    /// The least F1 of words of a text; at 1 all words are the same.
    #[default(1.0)]
    text_share: f64,
    /// Pay one half for the kind alone.
    partial: bool,
}

impl Check for GuiAction {
    const ID: &'static str = "gui_action";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if !(self.radius >= 0.0 && self.radius.is_finite()) {
            return Err(BuildError::new("radius", "a distance is zero or more"));
        }
        if self.scale.is_some_and(|scale| !(scale > 0.0 && scale.is_finite())) {
            return Err(BuildError::new("scale", "a scale is above 0"));
        }
        let is_share = self.text_share > 0.0 && self.text_share <= 1.0;
        if is_share {
            Ok(())
        } else {
            Err(BuildError::new("text_share", "a share is above 0, at most 1"))
        }
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        self.scale.iter().map(|_| ("screen", self.screen.clone())).collect()
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let wanted = match reference {
            Value::String(text) => read(text, &has_unique_keys).ok(),
            value => of_value(value, &has_unique_keys),
        };
        let wanted = wanted.ok_or_else(|| Fault::bad_reference("the reference is no action"))?;
        if let Some(name) = &wanted.odd {
            let message = format!("\"{name}\" of the reference is not understood");
            return Err(Fault::bad_reference(message));
        }
        let completion = sample.completion();
        meter.spend(300 * completion.len() as u64)?;
        let span = match Place::Any.find(completion, &["json", "python"]) {
            Ok(span) => span,
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        let mut given = match read(&completion[span], &has_unique_keys) {
            Ok(action) => action,
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        self.place(&mut given, sample)?;
        let rules = Match { radius: self.radius, text_share: self.text_share };
        let (kind, argument) = compare(&given, &wanted, rules);
        let verdict = if kind && !argument && self.partial {
            share(0.5)
        } else {
            Verdict::graded(kind && argument)
        };
        let verdict = verdict.with("action", given.kind);
        let verdict = match given.point {
            Some((x, y)) => verdict.with("point", vec![x, y]),
            None => verdict,
        };
        Ok(verdict.because(match (kind, argument) {
            (true, true) => "equal",
            (true, false) => "argument",
            (false, _) => "kind",
        }))
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let reference = sample.reference()?;
        let is_own = self.scale.is_none();
        Some(
            is_own.then(|| crate::sample::value_text(reference).into_owned()).into_iter().collect(),
        )
    }
}

impl GuiAction {
    /// Turns points on the scale of the answer into pixels.
    fn place(&self, action: &mut Action, sample: &Sample) -> Result<(), Fault> {
        let Some(scale) = self.scale else { return Ok(()) };
        let size =
            |at: usize| sample.column(&self.screen)?.get(at)?.as_f64().filter(|size| *size > 0.0);
        let (Some(width), Some(height)) = (size(0), size(1)) else {
            return Err(Fault::bad_input(format!(
                "column \"{}\" holds no width and height",
                self.screen
            )));
        };
        for (x, y) in [&mut action.point, &mut action.to].into_iter().flatten() {
            (*x, *y) = (*x / scale * width, *y / scale * height);
        }
        Ok(())
    }
}

/// Whether each key of JSON stands once. The reader of actions refuses what is deeper.
fn has_unique_keys(text: &str) -> bool {
    tree::read(text, Rules { depth_max: 128, unique_keys: true }).is_ok()
}
