//! The languages that a text is most likely written in, by its most frequent words.

use super::FREQUENT;

/// So many bytes of a text are read.
const READ_MAX: usize = 3000;

/// The languages of Latin script that a text may be in. Others are known by their letters.
pub(crate) fn languages(text: &str) -> Vec<&'static str> {
    let near = text.get(text.ceil_char_boundary(text.len().saturating_sub(READ_MAX))..);
    let mut counts = vec![0_u32; FREQUENT.len()];
    let words = near.unwrap_or_default().split(|c: char| !c.is_alphabetic() && c != '\'');
    for word in words.filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        for (count, (_, _, frequent)) in counts.iter_mut().zip(FREQUENT) {
            *count += u32::from(frequent.contains(&word.as_str()));
        }
    }
    let most = counts.iter().copied().max().unwrap_or_default();
    let likely = counts.iter().zip(FREQUENT).filter(|(count, _)| most > 0 && 2 * **count > most);
    likely.map(|(_, (language, ..))| *language).collect()
}
