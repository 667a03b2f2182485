//! Tags around a program: `<code>...</code>`, `[PYTHON]...[/PYTHON]`.

use std::ops::Range;

use super::blocks::Block;

/// What servers leave at the end of a completion.
const END_MARKS: [&str; 8] = assay_verifiers::words::list(
    "<|im_end|> <|endoftext|> <|eot_id|> <|end|> <|return|> </s> <|end_of_text|> <end_of_turn>",
);

/// The end of `part` without the marks that end a turn.
pub(super) fn without_end_marks(text: &str, part: Range<usize>) -> usize {
    let mut rest = &text[part.clone()];
    while let Some(cut) = END_MARKS.iter().find_map(|mark| rest.trim_end().strip_suffix(mark)) {
        rest = cut;
    }
    part.start + rest.len()
}

/// Whether a closed block holds the byte `at`.
pub(super) fn in_block(blocks: &[Block], at: usize) -> bool {
    let after = blocks.partition_point(|block| block.open <= at);
    let block = after.checked_sub(1).and_then(|index| blocks.get(index));
    block.is_some_and(|block| block.closed && block.body.contains(&at))
}

/// The inside of the last tag of `part` whose name is `wanted` and that does not open within one
/// of `blocks`. One that is not closed reaches to the end: the answer was cut off.
pub(super) fn last(
    text: &str,
    part: Range<usize>,
    blocks: &[Block],
    wanted: impl Fn(&str) -> bool,
) -> Option<Range<usize>> {
    let inner = text.get(part.clone())?;
    let opens = inner.rmatch_indices(['<', '[']).find_map(|(at, mark)| {
        let (name, after) = open_tag(inner.get(at..)?, mark)?;
        let opens = wanted(name) && !in_block(blocks, part.start + at);
        opens.then_some((name, mark, at + after))
    });
    let (name, mark, from) = opens?;
    let close = if mark == "<" { format!("</{name}>") } else { format!("[/{name}]") };
    let rest = inner.get(from..)?;
    let end = last_outside(rest, &close, part.start + from, blocks).unwrap_or(rest.len());
    let begins = rest.get(..end)?;
    let skipped = begins.len() - begins.trim_start_matches(['\r', '\n']).len();
    Some(part.start + from + skipped..part.start + from + end)
}

fn last_outside(rest: &str, close: &str, base: usize, blocks: &[Block]) -> Option<usize> {
    rest.match_indices(close).map(|(at, _)| at).find(|at| !in_block(blocks, base + at))
}

/// The name of the tag that `rest` begins with, and its length.
fn open_tag<'a>(rest: &'a str, mark: &str) -> Option<(&'a str, usize)> {
    let end =
        rest.get(..rest.len().min(80)).or(Some(rest))?.find(if mark == "<" { '>' } else { ']' })?;
    let inner = rest.get(1..end)?;
    let name = inner.split(char::is_whitespace).next()?;
    // Brackets name a language in capitals; `[c]` or `[code]` in prose or in code does not.
    let shouted = mark == "<" || (name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase()));
    (!name.is_empty() && shouted).then_some((name, end + 1))
}
