//! Texts as they are compared: without case, invisible characters and differences of white space.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::extract::hidden;
use crate::prelude::*;

/// Signs that change no word: adding them makes no other text.
const COSMETIC: &str = ".,;:!?\"'*_`#";

/// Lower case, one space between words, nothing invisible.
pub(super) fn normal(text: &str, meter: &mut Meter<'_>) -> Result<String, Fault> {
    meter.spend(2 * text.len() as u64)?;
    let mut out = String::with_capacity(text.len());
    let shown = text.chars().filter(|c| !hidden::is_invisible(*c));
    for c in shown.flat_map(char::to_lowercase) {
        if !c.is_whitespace() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out.truncate(out.trim_end().len());
    Ok(out)
}

/// The words of a text by the rules of Unicode (UAX 29), and the signs that mean something, in
/// lower case.
pub(super) fn words(text: &str, meter: &mut Meter<'_>) -> Result<Vec<String>, Fault> {
    let text = normal(text, meter)?;
    meter.spend(6 * text.len() as u64)?;
    let counts = |word: &&str| !word.chars().all(|c| c.is_whitespace() || COSMETIC.contains(c));
    Ok(text.split_word_bounds().filter(counts).map(str::to_owned).collect())
}
