//! `choice`: the letter of a multiple-choice answer.

mod options;
mod reader;

use crate::canonical::number_text;
use crate::extract::{Thinking, thinking};
use crate::prelude::*;
use options::Options;
use reader::{Reader, Reading};

/// Right when the completion settles on the option that the reference names.
///
/// The answer is read from `\boxed{C}`, `<answer>C</answer>`, `"answer": "C"`, "the answer is
/// (C)", "Answer: **C**", "the closest option is C" and the like; without any of these, from a
/// completion or last line that is nothing but an option: "C", "(C)", "C. Paris", "Option C", or
/// the text of one. Text up to the last `</think>` is not looked at, nor is another question that
/// the completion runs on into. A hedge ("A or C", "A, C", "either B or D") is wrong: it names
/// no option. There is no guess where nothing is found.
///
/// The reference is a letter, the number of the option, or its text. Options are taken from a
/// column of the row (a list of texts, a list of `{"A": "text"}`, or one such object), else from
/// the prompt; without any, letters alone count.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The column with the options.
    #[serde(default = "options_column")]
    options: String,
    /// How many letters count, from A, where the options are not known.
    #[serde(default = "ten")]
    letters: u8,
    /// The number of the first option, where the reference is a number.
    #[serde(default)]
    index_from: u64,
    /// Which of several answers counts. Take the first for raw completions of a base model, which
    /// go on after their answer.
    #[serde(default)]
    take: Take,
    /// Every option that the reference names must be named, and no other: "A, C" is then an
    /// answer. The reference is a list, or a text such as "AC" or "A, C".
    #[serde(default)]
    multiple: bool,
    #[serde(skip)]
    cues: Option<Cues>,
}

/// Which of several answers counts.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Take {
    /// The first one.
    First,
    /// The last one.
    #[default]
    Last,
}

fn options_column() -> String {
    "options".to_owned()
}

fn ten() -> u8 {
    10
}

/// What introduces an answer, and what ends the question at hand.
#[derive(Debug)]
struct Cues {
    answer: Pattern,
    next_question: Pattern,
}

const ANSWER: &str = concat!(
    r#"(?i)\\boxed\s*\{|<(?:answer|choice)>"#,
    r#"|\banswer["'*_`]*\s*(?:(?:is|was|would be|should be|must be|will be)\b|[:=：])"#,
    r#"|\b(?:option|choice|closest|best match)\s+(?:is|would be|should be|must be)\b"#,
    r#"|\b(?:final|correct|best|right|closest|my) (?:option|choice)["'*_`]*\s*[:=：]"#,
    r#"|\b(?:is|be|choose|select|pick|with|to|matches)\s+(?:option|choice)\b"#,
);

const NEXT_QUESTION: &str = r"(?im)^[\s#*>]*(?:(?:next )?question|q)\s*\d*\s*[:.]";

impl Check for Choice {
    const ID: &'static str = "choice";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if !(2..=26).contains(&self.letters) {
            let message = format!("from 2 to 26 letters can count, not {}", self.letters);
            return Err(BuildError::new("letters", message));
        }
        let compiled = |pattern| Pattern::new(pattern).map_err(|error| BuildError::new("", error));
        self.cues =
            Some(Cues { answer: compiled(ANSWER)?, next_question: compiled(NEXT_QUESTION)? });
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let Some(cues) = &self.cues else { return Err(Fault::internal("choice was not loaded")) };
        let options = Options::of(sample, &self.options, self.letters, meter)?;
        let wanted = self.wanted(reference, &options)?;
        let completion = sample.completion();
        meter.spend(4 * completion.len() as u64)?;
        let said = thinking::answer(completion, Thinking::Skip).unwrap_or_default();
        let (start, body) = (said.start, completion.get(said).unwrap_or_default());
        let Some(found) = self.find(cues, body, &options, meter)? else {
            return Ok(Verdict::graded(false).because("nothing-found"));
        };
        let is_hedge = found.is_hedge || (found.letters.count_ones() > 1 && !self.multiple);
        // Of a hedge the option that it names first is shown, and `choice` has all of them.
        let end = if is_hedge { found.first_end } else { found.end };
        let span = (start + found.start, start + end);
        let text = completion.get(span.0..span.1).unwrap_or_default();
        let right = !is_hedge && found.letters == wanted;
        let reason = match (is_hedge, right) {
            (true, _) => "hedge",
            (false, true) => "equal",
            (false, false) => "unequal",
        };
        let verdict = Verdict::graded(right).with_extracted(text, span);
        Ok(verdict.with("choice", options::letters_of(found.letters)).because(reason))
    }
}

impl Choice {
    fn wanted(&self, reference: &Value, options: &Options<'_>) -> Result<u32, Fault> {
        let wanted = match reference {
            Value::Array(values) if self.multiple => {
                values.iter().try_fold(0, |all, value| Some(all | self.one(value, options)?))
            }
            Value::String(text) if self.multiple => {
                options::letters_in(text, options).or_else(|| self.one(reference, options))
            }
            value => self.one(value, options),
        };
        wanted.filter(|letters| *letters != 0).ok_or_else(|| {
            let shown: String = reference.to_string().chars().take(80).collect();
            Fault::bad_reference(format!(
                "reference {shown} names none of the {} options",
                options.count()
            ))
        })
    }

    /// A letter, a number, or the text of an option.
    fn one(&self, reference: &Value, options: &Options<'_>) -> Option<u32> {
        let number = |number: u64| {
            let index = number.checked_sub(self.index_from)?;
            (index < options.count() as u64).then(|| 1 << index)
        };
        match reference {
            Value::Number(value) => number(number_text(value).parse().ok()?),
            Value::String(text) => options::letter_alone(text, options)
                .or_else(|| options.matching(text))
                .or_else(|| number(text.trim().parse().ok()?)),
            _ => None,
        }
    }

    fn find(
        &self,
        cues: &Cues,
        body: &str,
        options: &Options<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Reading>, Fault> {
        let mut kept = None;
        let mut end = body.len();
        for cue in cues.answer.find_iter(body) {
            // What is read on after a cue has a bound; see `Reader::near`.
            meter.spend(4096)?;
            if cue.start() >= end {
                break;
            }
            if is_denied(body.get(..cue.start()).unwrap_or_default()) {
                continue;
            }
            let Some(reading) = Reader::near(body, cue.end(), options).after(cue.as_str()) else {
                continue;
            };
            if kept.is_none() {
                // Only once there is an answer can a further question follow.
                end = cues.next_question.find_at(body, reading.end).map_or(end, |at| at.start());
            }
            kept = Some(reading);
            if matches!(self.take, Take::First) {
                break;
            }
        }
        Ok(kept.or_else(|| Reader::alone(body, options)))
    }
}

/// "We cannot choose option A." Of a long word, as many may come in a row, only the end is read.
fn is_denied(before: &str) -> bool {
    let before = before.trim_end();
    let near = before.floor_char_boundary(before.len().saturating_sub(32));
    let word = before.get(near..).unwrap_or_default().rsplit(char::is_whitespace).next();
    let word = word.unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric());
    let word = word.to_lowercase();
    ["not", "cannot", "never"].contains(&word.as_str())
        || word.ends_with("n't")
        || word.ends_with("n’t")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::NoFiles;

    fn choice() -> Choice {
        let mut choice: Choice = serde_json::from_value(json!({})).unwrap();
        choice.load(&NoFiles).unwrap();
        choice
    }

    /// Each of these once made every cue read on to the end of the text, or back to its start.
    #[test]
    fn hostile_texts_end_soon() {
        let cues = "answer:A".repeat(1 << 12);
        for text in [
            format!("{}{cues}", "x".repeat(1 << 20)),
            format!("{}{}", "answer:".repeat(1 << 12), "(".repeat(1 << 20)),
            format!("{}{}", "answer:".repeat(1 << 12), "A or ".repeat(1 << 18)),
            format!("{}A{}", "answer:".repeat(1 << 12), "'".repeat(1 << 20)),
            "answer: A B ".repeat(1 << 12),
        ] {
            let sample = Sample::builder(text).reference("B").build();
            let _ = choice().check(&sample, &mut Meter::default());
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(completion in r"(?s).{0,80}|([A-J(){}*,. \\]|answer|is|boxed|or){0,30}", reference in ".{0,6}") {
            let sample = Sample::builder(completion).prompt(reference.as_str()).reference(reference).build();
            let _ = choice().check(&sample, &mut Meter::default());
        }

        #[test]
        fn the_reference_is_right(letter in "[A-J]", shape in 0..6_usize) {
            let shapes = ["{}", "({})", "**{}**", "The answer is {}.", r"\boxed{{}}", "Option {}"];
            let completion = shapes[shape].replacen("{}", &letter, 1);
            let completion = if shape == 4 { format!("\\boxed{{{letter}}}") } else { completion };
            let sample = Sample::builder(completion).reference(letter).build();
            let verdict = choice().check(&sample, &mut Meter::default()).unwrap();
            prop_assert_eq!(verdict.outcome, Outcome::Scored(Reward::ONE));
        }
    }
}
