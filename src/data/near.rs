//! The nearest of the known words to one that is not known.

/// From here on a word is taken for a slip of the finger.
const NEAR: f64 = 0.75;

/// The nearest word and how near it is, of 1; `None` where none is near.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<(f64, &'a str)> {
    let scored = known.into_iter().map(|one| (strsim::jaro_winkler(word, one), one));
    scored.filter(|(nearness, _)| *nearness > NEAR).max_by(|a, b| a.0.total_cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        let known = ["answer", "prompt"];
        assert_eq!(nearest("anwser", known).map(|(_, name)| name), Some("answer"));
        assert_eq!(nearest("zzz", known), None);
    }
}
