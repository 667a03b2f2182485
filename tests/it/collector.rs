//! A collector of traces on loopback: it keeps what is posted, and reads the spans out of it by the wire
//! format of protocol buffers.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use flate2::read::GzDecoder;
use serde_json::{Value, json};

/// A collector. It ends with the process.
pub(crate) struct Collector {
    pub(crate) url: String,
    posts: Arc<Mutex<Vec<Post>>>,
}

/// What was posted.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    /// The head, in lower case.
    pub(crate) head: String,
    /// The body, unpacked.
    pub(crate) body: Vec<u8>,
}

/// A span.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) trace: String,
    pub(crate) id: String,
    pub(crate) parent: String,
    pub(crate) state: String,
    pub(crate) name: String,
    /// 1 is internal, 2 a server.
    pub(crate) kind: u64,
    pub(crate) time: (u64, u64),
    pub(crate) attributes: BTreeMap<String, Value>,
    pub(crate) events: Vec<(String, BTreeMap<String, Value>)>,
    /// 0 is unset, 2 an error.
    pub(crate) status: u64,
    /// The attributes of who sent it.
    pub(crate) resource: BTreeMap<String, Value>,
}

impl Collector {
    /// A collector that answers with these statuses, one after the other, and then with 200.
    pub(crate) fn start(statuses: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let posts = Arc::<Mutex<Vec<Post>>>::default();
        let (kept, statuses) = (Arc::clone(&posts), statuses.to_vec());
        std::thread::spawn(move || {
            let mut statuses = statuses.into_iter();
            for stream in listener.incoming() {
                take(&stream.unwrap(), &kept, statuses.next().unwrap_or(200));
            }
        });
        Self { url, posts }
    }

    /// What was taken so far.
    pub(crate) fn posts(&self) -> Vec<Post> {
        self.posts.lock().unwrap().clone()
    }

    /// The spans that were taken so far.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.posts().iter().flat_map(|post| spans(&post.body)).collect()
    }
}

/// Takes what one connection posts.
fn take(stream: &TcpStream, posts: &Mutex<Vec<Post>>, status: u16) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap() == 0 {
            return;
        }
    }
    let head = head.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    if head.contains("content-encoding: gzip") {
        let packed = std::mem::take(&mut body);
        GzDecoder::new(packed.as_slice()).read_to_end(&mut body).unwrap();
    }
    if status == 200 {
        posts.lock().unwrap().push(Post { head, body });
    }
    let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let _ = (&*stream).write_all(answer.as_bytes());
}

/// What a field holds.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    fn number(&self) -> u64 {
        match self {
            Self::Number(number) => *number,
            Self::Bytes(_) => panic!("expected a number"),
        }
    }

    fn bytes(&self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Number(_) => panic!("expected bytes"),
        }
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }

    fn hex(&self) -> String {
        assay::verifiers::canonical::hex(self.bytes())
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        number |= u64::from(byte & 127) << shift;
        if byte & 128 == 0 {
            break;
        }
    }
    number
}

/// The fields of a message, by their numbers.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let mut fixed = |length: usize| {
            let (value, rest) = bytes.split_at(length);
            bytes = rest;
            value
        };
        let number =
            |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => Field::Number(number(fixed(8))),
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(value)
            }
            5 => Field::Number(number(fixed(4))),
            kind => panic!("wire type {kind}"),
        };
        all.push((key >> 3, field));
    }
    all
}

/// The fields of this number.
fn of(bytes: &[u8], wanted: u64) -> impl Iterator<Item = Field<'_>> {
    fields(bytes).into_iter().filter(move |(number, _)| *number == wanted).map(|(_, field)| field)
}

/// The attributes in the fields of this number.
fn attributes(bytes: &[u8], wanted: u64) -> BTreeMap<String, Value> {
    let one = |pair: Field<'_>| {
        let name = of(pair.bytes(), 1).next().unwrap().text();
        let value = of(pair.bytes(), 2).next().unwrap();
        let (kind, value) = fields(value.bytes()).into_iter().next().unwrap();
        let value = match kind {
            1 => json!(value.text()),
            2 => json!(value.number() == 1),
            3 => json!(value.number()),
            4 => json!(f64::from_bits(value.number())),
            kind => panic!("{name}: a value of kind {kind}"),
        };
        (name, value)
    };
    let mut all = BTreeMap::new();
    for (name, value) in of(bytes, wanted).map(one) {
        assert!(all.insert(name.clone(), value).is_none(), "{name} is there twice");
    }
    all
}

/// The spans of an `ExportTraceServiceRequest`.
fn spans(request: &[u8]) -> Vec<Span> {
    let mut all = Vec::new();
    for sent in of(request, 1) {
        let resource = of(sent.bytes(), 1).next().map(|one| attributes(one.bytes(), 1));
        for scope in of(sent.bytes(), 2) {
            for span in of(scope.bytes(), 2) {
                all.push(span_of(span.bytes(), resource.clone().unwrap_or_default()));
            }
        }
    }
    all
}

fn span_of(bytes: &[u8], resource: BTreeMap<String, Value>) -> Span {
    let hex = |number| of(bytes, number).next().map(|id| id.hex()).unwrap_or_default();
    let text = |number| of(bytes, number).next().map(|text| text.text()).unwrap_or_default();
    let number = |wanted| of(bytes, wanted).next().map_or(0, |number| number.number());
    let event = |event: Field<'_>| {
        (of(event.bytes(), 2).next().unwrap().text(), attributes(event.bytes(), 3))
    };
    let status = of(bytes, 15).next().and_then(|status| of(status.bytes(), 3).next());
    Span {
        trace: hex(1),
        id: hex(2),
        state: text(3),
        parent: hex(4),
        name: text(5),
        kind: number(6),
        time: (number(7), number(8)),
        attributes: attributes(bytes, 9),
        events: of(bytes, 11).map(event).collect(),
        status: status.map_or(0, |status| status.number()),
        resource,
    }
}
