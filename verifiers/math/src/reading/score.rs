//! Scores of games: ordered pairs, which no number divides.

/// The two sides of `3:1`, `3-1` or `3 to 1`, where the text is nothing else.
pub fn score(text: &str) -> Option<(u32, u32)> {
    let (one, two) =
        text.split_once([':', '：', '-', '−', '–', '—']).or_else(|| text.split_once(" to "))?;
    let side = |text: &str| text.trim().parse().ok();
    Some((side(one)?, side(two)?))
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn pairs_of_whole_numbers() {
        for text in ["3:1", "3 - 1", "3–1", "3 to 1"] {
            assert_eq!(score(text), Some((3, 1)), "{text}");
        }
        for text in ["3", "x-1", "3:1:2", "-3-1", "2:1 for Spain"] {
            assert_eq!(score(text), None, "{text}");
        }
    }
}
