//! Files as lines, and where some lines are in others.

/// The lines of a file, without their ends.
pub(crate) struct Lines<'a> {
    pub(crate) all: Vec<&'a [u8]>,
    /// Whether the last line has an end.
    pub(crate) is_ended: bool,
    /// Whether lines end as on Windows.
    pub(crate) has_returns: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(content: &'a [u8]) -> Self {
        let is_ended = content.is_empty() || content.ends_with(b"\n");
        let mut all: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
        if is_ended {
            all.pop();
        }
        let has_returns = all.first().is_some_and(|line| line.ends_with(b"\r"));
        Self { all, is_ended, has_returns }
    }
}

/// A line without the carriage return at its end.
pub(crate) fn bare(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether two lines are taken for the same.
pub(crate) type Same = fn(&[u8], &[u8]) -> bool;

/// The same but for a carriage return.
pub(crate) fn same(left: &[u8], right: &[u8]) -> bool {
    bare(left) == bare(right)
}

/// The same but for blanks at the end.
pub(crate) fn same_trimmed(left: &[u8], right: &[u8]) -> bool {
    left.trim_ascii_end() == right.trim_ascii_end()
}

/// Where `wanted` stands in `lines` from line `from` on, nearest to line `near`. Takes time by the
/// product of both.
pub(crate) fn nearest<E>(
    lines: &[&[u8]],
    wanted: &[&[u8]],
    (from, near): (usize, usize),
    same: Same,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Option<usize>, E> {
    let Some(last) = lines.len().checked_sub(wanted.len()).filter(|last| *last >= from) else {
        return Ok(None);
    };
    let near = near.clamp(from, last);
    for step in 0..=(near - from).max(last - near) {
        let below = near.checked_add(step).filter(|at| *at <= last);
        let above = near.checked_sub(step).filter(|at| *at >= from && step > 0);
        for at in below.into_iter().chain(above) {
            if stands(lines, wanted, at, same, pay)? {
                return Ok(Some(at));
            }
        }
    }
    Ok(None)
}

fn stands<E>(
    lines: &[&[u8]],
    wanted: &[&[u8]],
    at: usize,
    same: Same,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<bool, E> {
    for (line, want) in lines.iter().skip(at).zip(wanted) {
        pay(1 + want.len() as u64 / 64)?;
        if !same(line, want) {
            return Ok(false);
        }
    }
    Ok(true)
}
