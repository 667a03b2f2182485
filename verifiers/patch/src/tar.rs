//! Trees in tar archives: ustar, with the long names of pax and GNU.

use crate::refused::Refused;
use crate::tree::FileTree;

/// Bytes of a header, and of the units in which contents are stored.
const BLOCK: usize = 512;
/// Bytes of an extended header, which holds a name.
const EXTENDED_BYTES_MAX: usize = 64 << 10;
/// Entries of an archive at most, folders among them.
const ENTRIES_MAX: usize = 40_000;

/// Reads an uncompressed tar, in linear time. Folders are implied by files.
///
/// # Errors
/// Damaged archives, links, devices, unsafe paths, and more than a tree may hold.
pub fn read(archive: &[u8]) -> Result<FileTree, Refused> {
    let mut tree = FileTree::new();
    let mut rest = archive;
    let mut name: Option<String> = None;
    for _ in 0..ENTRIES_MAX {
        let Some((header, behind)) = rest.split_first_chunk::<BLOCK>() else {
            return if rest.is_empty() { Ok(tree) } else { Err(damaged("ends within a header")) };
        };
        if header.iter().all(|byte| *byte == 0) {
            return Ok(tree);
        }
        let entry = Entry::read(header)?;
        let Some(content) = behind.get(..entry.bytes) else {
            return Err(damaged("ends within a file"));
        };
        let padded = entry.bytes.next_multiple_of(BLOCK);
        // The last file may lack what fills its unit.
        rest = behind.split_at(padded.min(behind.len())).1;
        match entry.kind {
            b'x' => name = pax_path(extended(content)?)?.or(name),
            b'g' => {}
            b'L' => name = Some(text(until_nul(extended(content)?))?.to_owned()),
            kind => {
                let path = match name.take() {
                    Some(name) => name,
                    None => entry.path()?,
                };
                match kind {
                    b'0' | 0 | b'7' => tree.put(&path, content.to_vec())?,
                    b'5' => {}
                    b'1' | b'2' | b'K' => return Err(Refused::new(&path, "is a link")),
                    _ => return Err(Refused::new(&path, "is neither a file nor a folder")),
                }
            }
        }
    }
    Err(Refused::new("", format!("more than {ENTRIES_MAX} entries")))
}

struct Entry<'a> {
    name: &'a [u8],
    prefix: &'a [u8],
    kind: u8,
    bytes: usize,
}

impl<'a> Entry<'a> {
    fn read(header: &'a [u8; BLOCK]) -> Result<Self, Refused> {
        let sum = header.iter().enumerate().map(|(at, byte)| {
            // The sum is made as if its own field held blanks.
            u64::from(if (148..156).contains(&at) { b' ' } else { *byte })
        });
        if octal(&header[148..156]) != Some(sum.sum()) {
            return Err(damaged("a header has another sum: it must not be compressed"));
        }
        let bytes = octal(&header[124..136]).and_then(|bytes| usize::try_from(bytes).ok());
        let bytes = bytes.filter(|bytes| *bytes <= crate::BYTES_MAX);
        let bytes = bytes.ok_or_else(|| Refused::new("", "a file of the archive is too large"))?;
        let is_ustar = header[257..262] == *b"ustar" && header[262] == 0;
        let prefix = if is_ustar { until_nul(&header[345..500]) } else { &[] };
        Ok(Self { name: until_nul(&header[..100]), prefix, kind: header[156], bytes })
    }

    fn path(&self) -> Result<String, Refused> {
        let name = text(self.name)?;
        let prefix = text(self.prefix)?;
        Ok(if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") })
    }
}

fn damaged(why: &str) -> Refused {
    Refused::new("", format!("no tar: {why}"))
}

fn text(bytes: &[u8]) -> Result<&str, Refused> {
    std::str::from_utf8(bytes).map_err(|_| damaged("a path is not UTF-8"))
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or(bytes)
}

/// A number of octal digits, with blanks or zeros around; `None` for others.
fn octal(field: &[u8]) -> Option<u64> {
    let digits = until_nul(field).trim_ascii();
    let digits = std::str::from_utf8(digits).ok()?;
    if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok() }
}

fn extended(content: &[u8]) -> Result<&[u8], Refused> {
    if content.len() > EXTENDED_BYTES_MAX {
        return Err(damaged("an extended header is too long"));
    }
    Ok(content)
}

/// The path in an extended header: records of `LENGTH KEY=VALUE` and a line end.
fn pax_path(mut rest: &[u8]) -> Result<Option<String>, Refused> {
    let bad = || damaged("an extended header cannot be read");
    let mut path = None;
    while !rest.is_empty() {
        let blank = rest.iter().position(|byte| *byte == b' ').ok_or_else(bad)?;
        let (digits, _) = rest.split_at(blank);
        let length: usize = text(digits)?.parse().map_err(|_| bad())?;
        let record = rest.get(blank + 1..length).ok_or_else(bad)?;
        match record.strip_prefix(b"path=") {
            Some(value) => path = Some(text(value.trim_ascii_end())?.to_owned()),
            None if record.starts_with(b"linkpath=") => {
                return Err(damaged("it has links"));
            }
            None if record.starts_with(b"size=") => {
                return Err(Refused::new("", "a file of the archive is too large"));
            }
            None => {}
        }
        rest = rest.split_at(length).1;
    }
    Ok(path)
}
