//! Hunks: reading them, and finding where they stand.

use crate::lines::{Lines, bare, nearest, same};
use crate::refused::{Refused, Unapplied, cut};

/// Lines that stand in a file, and what comes in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk<'a> {
    /// The index of its first line, as it names it. None where it names no line.
    at: Option<usize>,
    lines: Vec<(Kind, &'a str)>,
    /// The end of the file is without a line end, before and after.
    old_unended: bool,
    new_unended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Context,
    Removed,
    Added,
}

/// How many lines of either side a hunk says that it has.
struct Counts {
    old: usize,
    new: usize,
}

impl<'a> Hunk<'a> {
    /// Reads the hunk whose head is line `at`. Counts that are wrong are passed over where the hunk is
    /// followed by another one, by another file, or by nothing.
    pub(super) fn read(lines: &[&'a str], at: &mut usize) -> Result<Self, Refused> {
        let head = lines.get(*at).copied().unwrap_or_default();
        let (place, mut left) = head_of(head)?;
        *at += 1;
        let mut hunk =
            Self { at: place, lines: Vec::new(), old_unended: false, new_unended: false };
        // Blank lines that were not counted may be between the hunk and what follows.
        let (mut blank, mut runs_on) = (0, false);
        while let Some(line) = lines.get(*at).copied() {
            let is_whole = left.as_ref().is_none_or(|left| left.old == 0 && left.new == 0);
            if is_whole && !runs_on {
                if left.is_some() && !is_body(lines, *at) {
                    break;
                }
                runs_on = left.is_some();
            }
            if is_whole && ends(lines, *at) {
                break;
            }
            let (kind, text) = match line.as_bytes().first() {
                Some(b' ') => (Kind::Context, line.get(1..)),
                Some(b'-') => (Kind::Removed, line.get(1..)),
                Some(b'+') => (Kind::Added, line.get(1..)),
                Some(b'\\') => {
                    hunk.unended();
                    *at += 1;
                    continue;
                }
                None | Some(b'\r') => (Kind::Context, Some(line)),
                Some(_) => break,
            };
            let is_blank = kind == Kind::Context && bare(line.as_bytes()).is_empty();
            if is_blank && left.as_ref().is_none_or(|left| left.old == 0) {
                blank += 1;
                *at += 1;
                continue;
            }
            for _ in 0..std::mem::take(&mut blank) {
                hunk.lines.push((Kind::Context, ""));
            }
            if let Some(left) = &mut left {
                left.old = left.old.saturating_sub(usize::from(kind != Kind::Added));
                left.new = left.new.saturating_sub(usize::from(kind != Kind::Removed));
            }
            hunk.lines.push((kind, text.unwrap_or_default()));
            *at += 1;
        }
        *at -= blank;
        hunk.whole(lines.get(*at).copied(), left.as_ref(), head)
    }

    /// A line without an end, by the kind of line above.
    fn unended(&mut self) {
        match self.lines.last() {
            Some((Kind::Removed, _)) => self.old_unended = true,
            Some((Kind::Added, _)) => self.new_unended = true,
            _ => (self.old_unended, self.new_unended) = (true, true),
        }
    }

    /// Itself, unless it breaks off within text.
    fn whole(self, next: Option<&str>, left: Option<&Counts>, head: &str) -> Result<Self, Refused> {
        let is_short = left.is_some_and(|left| left.old > 0 || left.new > 0);
        let goes_on = |next: &str| !(next.starts_with("@@") || next.starts_with("diff --git "));
        if self.lines.is_empty() || is_short && next.is_some_and(goes_on) {
            return Err(Refused::new("", format!("the hunk {} breaks off", cut(head))));
        }
        Ok(self)
    }

    fn old(&self) -> Vec<&'a [u8]> {
        let old = self.lines.iter().filter(|(kind, _)| *kind != Kind::Added);
        old.map(|(_, line)| line.as_bytes()).collect()
    }

    /// Lines of context at its start and at its end.
    fn context(&self) -> (usize, usize) {
        let is_context = |line: &&(Kind, &str)| line.0 == Kind::Context;
        let before = self.lines.iter().take_while(is_context).count();
        (before, self.lines.iter().rev().take_while(is_context).count())
    }
}

/// Whether only lines of a hunk stand from here to the next hunk, file or end: it has more than it says.
fn is_body(lines: &[&str], at: usize) -> bool {
    for (at, line) in lines.iter().enumerate().skip(at) {
        match line.as_bytes().first() {
            _ if ends(lines, at) => return true,
            Some(b' ' | b'-' | b'+' | b'\\' | b'\r') | None => {}
            Some(_) => return line.starts_with("@@") || line.starts_with("diff --git "),
        }
    }
    true
}

/// Whether a hunk that has all its lines ends before this one.
fn ends(lines: &[&str], at: usize) -> bool {
    let line = lines.get(at).copied().unwrap_or_default().trim_end();
    let is_name =
        line.starts_with("--- ") && lines.get(at + 1).is_some_and(|next| next.starts_with("+++ "));
    // `-- ` is the end of a mail of git's.
    is_name || line == "--" || line == "---"
}

/// The index of the first line, and the counts, of `@@ -1,2 +3,4 @@`; `@@` alone names no place.
fn head_of(head: &str) -> Result<(Option<usize>, Option<Counts>), Refused> {
    let bad = || Refused::new("", format!("the hunk {} cannot be read", cut(head)));
    let Some(rest) = head.strip_prefix("@@ -") else { return Ok((None, None)) };
    let Some((old, rest)) = rest.split_once(" +") else { return Err(bad()) };
    let Some((new, _)) = rest.split_once(" @@") else { return Err(bad()) };
    let range = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let (start, old) = range(old).ok_or_else(bad)?;
    let (_, new) = range(new).ok_or_else(bad)?;
    // Without old lines, the number is that of the line above.
    let at = if old == 0 { start } else { start.saturating_sub(1) };
    Ok((Some(at), Some(Counts { old, new })))
}

/// Where a hunk stands.
struct Place {
    /// The line at which what is left of it begins.
    at: usize,
    /// Lines of its context that were left out, at either end.
    skipped: (usize, usize),
}

/// Applies the hunks of a file, in their order.
pub(super) fn apply<E>(
    name: &str,
    before: &[u8],
    hunks: &[Hunk<'_>],
    fuzz: usize,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Vec<u8>, Unapplied<E>> {
    if hunks.is_empty() {
        return Ok(before.to_vec());
    }
    let lines = Lines::of(before);
    pay(lines.all.len() as u64).map_err(Unapplied::Unpaid)?;
    let mut made = Made { all: Vec::new(), is_ended: lines.is_ended };
    let (mut done, mut ahead, mut behind) = (0, 0, 0);
    for (number, hunk) in hunks.iter().enumerate() {
        let near = hunk.at.map_or(done, |at| at.saturating_add(ahead).saturating_sub(behind));
        let found = hunk.find(&lines, (done, near), fuzz, pay).map_err(Unapplied::Unpaid)?;
        let Some(Place { at, skipped }) = found else {
            let line = hunk.at.map_or_else(String::new, |at| format!(" (line {})", at + 1));
            let why = format!("hunk {} of {}{line} does not apply", number + 1, hunks.len());
            return Err(Refused::new(name, why).into());
        };
        if let Some(said) = hunk.at {
            let said = said + skipped.0;
            (ahead, behind) = (at.saturating_sub(said), said.saturating_sub(at));
        }
        made.all.extend(lines.all.iter().skip(done).take(at.saturating_sub(done)));
        done = made.take(hunk, &lines, at, skipped);
    }
    made.all.extend(lines.all.iter().skip(done));
    Ok(made.content(lines.has_returns && !before.is_empty()))
}

impl Hunk<'_> {
    /// Where it stands.
    fn find<E>(
        &self,
        lines: &Lines<'_>,
        (from, near): (usize, usize),
        fuzz: usize,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Option<Place>, E> {
        let old = self.old();
        if old.is_empty() {
            let is_there = self.at.is_some() && (near <= lines.all.len()) && near >= from;
            return Ok(is_there.then_some(Place { at: near, skipped: (0, 0) }));
        }
        let (before, after) = self.context();
        let context = before.max(after);
        for fuzz in 0..=fuzz.min(context) {
            // As `patch` does: the longer side loses lines first.
            let skip = |have: usize| (fuzz + have).saturating_sub(context);
            let (first, last) = (skip(before), skip(after));
            let wanted = old.get(first..old.len() - last).filter(|wanted| !wanted.is_empty());
            let Some(wanted) = wanted else { break };
            let near = near.saturating_add(first);
            if let Some(at) = nearest(&lines.all, wanted, (from, near), same, pay)? {
                return Ok(Some(Place { at, skipped: (first, last) }));
            }
        }
        Ok(None)
    }
}

/// A file that is being made.
struct Made<'a> {
    all: Vec<&'a [u8]>,
    is_ended: bool,
}

impl<'a> Made<'a> {
    /// Takes a hunk that is at a line; returns the line after it.
    fn take(
        &mut self,
        hunk: &Hunk<'a>,
        lines: &Lines<'a>,
        at: usize,
        (first, last): (usize, usize),
    ) -> usize {
        let mut done = at;
        let amount = hunk.lines.len() - last;
        for (kind, text) in hunk.lines.iter().take(amount).skip(first) {
            match kind {
                Kind::Added => self.all.push(text.as_bytes()),
                Kind::Removed => done += 1,
                Kind::Context => {
                    self.all.extend(lines.all.get(done));
                    done += 1;
                }
            }
        }
        if done >= lines.all.len() {
            let is_added = hunk.lines.last().is_some_and(|(kind, _)| *kind == Kind::Added);
            self.is_ended = match () {
                () if hunk.new_unended => false,
                () if hunk.old_unended || is_added => true,
                () => self.is_ended,
            };
        }
        done
    }

    fn content(self, has_returns: bool) -> Vec<u8> {
        let mut content = Vec::new();
        for (at, line) in self.all.iter().enumerate() {
            if at > 0 {
                content.push(b'\n');
            }
            content.extend_from_slice(line);
            let is_last = at + 1 == self.all.len() && !self.is_ended;
            if has_returns && !line.ends_with(b"\r") && !is_last {
                content.push(b'\r');
            }
        }
        if self.is_ended && !self.all.is_empty() {
            content.push(b'\n');
        }
        content
    }
}
