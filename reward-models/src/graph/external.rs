//! The files with weights that an ONNX file names, wherever it names them: among the weights, in the
//! attributes of nodes, in sparse tensors, in inner graphs, in functions, in what it says of training.
//!
//! The file is walked through as protocol buffers are written, so that no part of it is left out
//! because a reader of graphs does not know it; weights themselves are stepped over.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// The most messages within messages.
const LEVELS_MAX: usize = 128;
/// The longest text that is read: a key, or the name of a file.
const TEXT_BYTES_MAX: u64 = 1 << 16;

/// The messages of ONNX that may lead to weights.
#[derive(Clone, Copy, PartialEq)]
enum Message {
    Model,
    Training,
    Function,
    Graph,
    Node,
    Attribute,
    Sparse,
    Tensor,
    Entry,
}

/// What a field of a message holds, by the number of the field (`onnx.proto`).
const FIELDS: [(Message, u64, Message); 20] = [
    (Message::Model, 7, Message::Graph),
    (Message::Model, 20, Message::Training),
    (Message::Model, 25, Message::Function),
    (Message::Training, 1, Message::Graph),
    (Message::Training, 2, Message::Graph),
    (Message::Function, 7, Message::Node),
    (Message::Function, 11, Message::Attribute),
    (Message::Graph, 1, Message::Node),
    (Message::Graph, 5, Message::Tensor),
    (Message::Graph, 15, Message::Sparse),
    (Message::Node, 5, Message::Attribute),
    (Message::Attribute, 5, Message::Tensor),
    (Message::Attribute, 6, Message::Graph),
    (Message::Attribute, 10, Message::Tensor),
    (Message::Attribute, 11, Message::Graph),
    (Message::Attribute, 22, Message::Sparse),
    (Message::Attribute, 23, Message::Sparse),
    (Message::Sparse, 1, Message::Tensor),
    (Message::Sparse, 2, Message::Tensor),
    (Message::Tensor, 13, Message::Entry),
];

/// What an ONNX file says beside its graph.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Files with weights, as they are named, and up to which byte weights lie in each.
    pub(super) files: BTreeMap<String, u64>,
    /// Loops in functions, which readers of graphs do not see.
    pub(super) loops_in_functions: bool,
}

/// Walks through a file.
pub(super) fn scan(path: &Path) -> io::Result<Scan> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut walk = Walk::new(BufReader::new(file));
    walk.message(Message::Model, size, 0, false)?;
    Ok(walk.scan)
}

fn odd(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

struct Walk<R> {
    from: R,
    at: u64,
    scan: Scan,
    /// What a tensor says of where it lies.
    entries: BTreeMap<String, String>,
}

impl<R: Read + Seek> Walk<R> {
    fn new(from: R) -> Self {
        Self { from, at: 0, scan: Scan::default(), entries: BTreeMap::new() }
    }

    /// A message that ends at `end`.
    fn message(
        &mut self,
        kind: Message,
        end: u64,
        levels: usize,
        in_function: bool,
    ) -> io::Result<()> {
        if levels > LEVELS_MAX {
            return Err(odd("its messages nest too deep"));
        }
        let (mut key, mut value) = (String::new(), None);
        while self.at < end {
            let tag = self.number()?;
            let (field, wire) = (tag >> 3, tag & 7);
            let length = match wire {
                0 => {
                    self.number()?;
                    continue;
                }
                1 => 8,
                2 => self.number()?,
                5 => 4,
                _ => return Err(odd("a field of an unknown form")),
            };
            let past = self.at.checked_add(length).filter(|past| *past <= end);
            let past = past.ok_or_else(|| odd("a field goes beyond its message"))?;
            let inner = FIELDS.iter().find(|(of, number, _)| *of == kind && *number == field);
            match (kind, field, inner) {
                (_, _, Some((_, _, inner))) if wire == 2 => {
                    let in_function = in_function || *inner == Message::Function;
                    self.message(*inner, past, levels + 1, in_function)?;
                }
                (Message::Entry, 1, _) => key = self.text(length)?,
                (Message::Entry, 2, _) => value = Some(self.text(length)?),
                (Message::Node, 4, _) if in_function => {
                    self.scan.loops_in_functions |= self.text(length)? == "Loop";
                }
                _ => {
                    self.from.seek(SeekFrom::Start(past))?;
                    self.at = past;
                }
            }
        }
        if self.at != end {
            return Err(odd("a field goes beyond its message"));
        }
        match kind {
            Message::Entry => {
                let value = value.unwrap_or_default();
                if key == "location" {
                    // Which of several a backend takes is not known.
                    self.scan.files.entry(value.clone()).or_default();
                }
                self.entries.insert(key, value);
            }
            Message::Tensor => self.tensor(),
            _ => {}
        }
        Ok(())
    }

    /// The end of a tensor.
    fn tensor(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        let number = |key| entries.get(key).and_then(|text| text.parse().ok()).unwrap_or(0_u64);
        let end = number("offset").saturating_add(number("length"));
        if let Some(file) = entries.remove("location") {
            let known = self.scan.files.entry(file).or_default();
            *known = end.max(*known);
        }
    }

    /// A number in groups of seven bits.
    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.from.read_exact(&mut byte)?;
            self.at += 1;
            number |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(odd("a number that is too long"))
    }

    fn text(&mut self, length: u64) -> io::Result<String> {
        if length > TEXT_BYTES_MAX {
            return Err(odd("a name that is too long"));
        }
        let mut text = vec![0; usize::try_from(length).unwrap_or(0)];
        self.from.read_exact(&mut text)?;
        self.at += length;
        String::from_utf8(text).map_err(|error| odd(&error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A field that holds a message or a text.
    fn field(number: u64, inner: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for mut number in [number << 3 | 2, inner.len() as u64] {
            while number >= 0x80 {
                bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
                number >>= 7;
            }
            bytes.push(u8::try_from(number).unwrap());
        }
        bytes.extend(inner);
        bytes
    }

    /// Weights that are in a file.
    fn tensor(file: &str) -> Vec<u8> {
        let entry = |key: &str, value: &str| {
            field(13, &[field(1, key.as_bytes()), field(2, value.as_bytes())].concat())
        };
        let length = entry("length", &file.len().to_string());
        let place = [entry("location", file), length, entry("offset", "4096")].concat();
        [field(8, b"name"), field(9, &[7; 300]), place].concat()
    }

    fn within(bytes: &[u8]) -> io::Result<Scan> {
        let mut walk = Walk::new(Cursor::new(bytes));
        walk.message(Message::Model, bytes.len() as u64, 0, false)?;
        Ok(walk.scan)
    }

    #[test]
    fn files_are_found_wherever_they_are_named() {
        let sparse = |file| [field(1, &tensor(file)), field(2, &tensor("indices"))].concat();
        let attribute = |inner: Vec<u8>| field(5, &inner);
        let node = [
            attribute(field(5, &tensor("constant"))),
            attribute(field(10, &tensor("constants"))),
            attribute(field(22, &sparse("sparse-constant"))),
            attribute(field(6, &field(5, &tensor("inner")))),
            attribute(field(11, &field(1, &attribute(field(5, &tensor("deep")))))),
        ];
        let node = node.concat();
        let graph = [field(1, &node), field(5, &tensor("weights")), field(15, &sparse("sparse"))];
        let whole = [
            vec![8, 9],
            field(7, &graph.concat()),
            field(20, &field(1, &field(5, &tensor("training")))),
            field(25, &field(7, &attribute(field(5, &tensor("function"))))),
            field(25, &field(11, &field(5, &tensor("default")))),
        ];
        let scan = within(&whole.concat()).unwrap();
        let expected = [
            "constant",
            "constants",
            "deep",
            "default",
            "function",
            "indices",
            "inner",
            "sparse",
            "sparse-constant",
            "training",
            "weights",
        ];
        let expected = expected.map(|file| (file.to_owned(), 4096 + file.len() as u64));
        assert_eq!(scan.files.into_iter().collect::<Vec<_>>(), expected);
        assert!(!scan.loops_in_functions);
    }

    #[test]
    fn loops_of_functions_are_seen() {
        let looping = field(25, &field(7, &field(4, b"Loop")));
        assert!(within(&looping).unwrap().loops_in_functions);
        assert!(!within(&field(7, &field(1, &field(4, b"Loop")))).unwrap().loops_in_functions);
    }

    #[test]
    fn what_is_no_such_file_is_an_error() {
        let mut deep = Vec::new();
        for _ in 0..200 {
            deep = field(1, &field(5, &field(6, &deep)));
        }
        for bytes in [&[0x0f][..], &[0x3a, 0x7f, 1], &[0xff; 12], &field(7, &deep)] {
            assert!(within(bytes).is_err());
        }
    }
}
