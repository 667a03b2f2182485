//! `crossword`: the words of a filled grid.

use assay_puzzles::crossword::{compare, read, read_official, solution};

use crate::extract::{Thinking, thinking};
use crate::plain::refuse_objects;
use crate::prelude::*;
use crate::text_parts::{Place, share, texts};

/// How much of a crossword is right: the share of its words, of its letters, or all or nothing.
///
/// The reference is the solved grid, a list of rows or a text of lines; `#`, `.` and `■` are walls. The
/// grid of the answer is the last lines of the last code fence or answer tag, or else of the
/// completion; blanks and bars between letters do not count, and a line of another length is empty.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Crossword {
    /// What is paid.
    score: CrosswordScore,
    /// Read the grid as the tree-of-thought code does: the first lines behind the last `Output:`, with
    /// single blanks between letters; a line that is too short is filled.
    official: bool,
}

/// What is paid for a crossword.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CrosswordScore {
    /// The share of words, across and down.
    #[default]
    Words,
    /// The share of letters.
    Letters,
    /// 1 for a grid without a fault.
    Game,
}

impl Check for Crossword {
    const ID: &'static str = "crossword";

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        refuse_objects(sample)?;
        let wanted = rows(reference);
        let wanted = solution(wanted.iter().map(String::as_str))
            .ok_or_else(|| Fault::bad_reference("the reference is not rows of as many letters"))?;
        let (height, width) = (wanted.len(), wanted.first().map_or(0, Vec::len));
        let completion = sample.completion();
        meter.spend(20 * (completion.len() + height * width) as u64)?;
        let found = if self.official {
            thinking::answer(completion, Thinking::Skip).ok_or("no-answer")
        } else {
            Place::Any.find(completion, &[])
        };
        let span = match found {
            Ok(span) => span,
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        let text = &completion[span];
        let read = if self.official { read_official } else { read };
        let shares = compare(&read(text, height, width), &wanted);
        let reward = match self.score {
            CrosswordScore::Words => shares.words,
            CrosswordScore::Letters => shares.letters,
            CrosswordScore::Game => f64::from(u8::from(shares.game)),
        };
        let verdict = share(reward).with("letters", shares.letters).with("words", shares.words);
        Ok(verdict.because(if shares.game { "solved" } else { "unsolved" }))
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let line = |row: String| row.chars().map(String::from).collect::<Vec<_>>().join(" ");
        let rows: Vec<String> = rows(sample.reference()?).into_iter().map(line).collect();
        Some(vec![rows.join("\n")])
    }
}

/// The rows of a reference: its texts, or the lines of a text.
fn rows(reference: &Value) -> Vec<String> {
    let texts = texts(reference);
    texts.iter().flat_map(|text| text.lines()).map(str::to_owned).collect()
}
