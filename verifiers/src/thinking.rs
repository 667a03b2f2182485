//! What a model thinks before it answers.

/// Where the answer starts: after the last `</think>`. A model that never stops thinking has not
/// answered, so that nothing is left of its completion.
pub(crate) fn after_thinking(completion: &str) -> usize {
    const END: &str = "</think>";
    match (completion.rfind(END), completion.rfind("<think>")) {
        (end, Some(open)) if end.is_none_or(|end| end < open) => completion.len(),
        (Some(end), _) => end + END.len(),
        (None, _) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_left_out() {
        assert_eq!(after_thinking("4"), 0);
        assert_eq!(after_thinking("<think>3</think>4"), 16);
        assert_eq!(after_thinking("3</think>4"), 9);
        assert_eq!(after_thinking("<think>3"), 8);
        assert_eq!(after_thinking("</think>4<think>3"), 17);
    }
}
