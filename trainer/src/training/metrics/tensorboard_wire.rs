//! The bytes of an event file: records, and the messages of `event.proto` and `summary.proto`.
//!
//! Sources: `TensorFlow`, `core/lib/io/record_writer.h` (a record is its length as 8 bytes, the masked
//! checksum of these, the data, the masked checksum of the data) and `core/lib/hash/crc32c.h` (the
//! mask); Protocol Buffers, "Encoding".

/// What `TensorBoard` reads of an event.
pub(super) enum EventContent<'a> {
    /// The first event of a file.
    Version,
    /// Events of this step and later ones, written before, are no more.
    Restart,
    /// Measurements by their tags.
    Scalars(&'a [(String, f64)]),
}

/// An event as the message `Event`: a time in seconds since 1970, a step, what it says.
pub(super) fn event(time: f64, step: u64, content: &EventContent<'_>) -> Vec<u8> {
    let mut message = Vec::new();
    push_tag(&mut message, 1, FIXED_64);
    message.extend(time.to_le_bytes());
    if step > 0 {
        push_tag(&mut message, 2, VARINT);
        push_varint(&mut message, step);
    }
    match content {
        EventContent::Version => push_bytes(&mut message, 3, b"brain.Event:2"),
        EventContent::Restart => push_bytes(&mut message, 7, &SESSION_START),
        EventContent::Scalars(scalars) => push_bytes(&mut message, 5, &summary(scalars)),
    }
    message
}

/// Data as a record.
pub(super) fn record(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    let (of_length, of_data) = (masked(crc32c::crc32c(&length)), masked(crc32c::crc32c(data)));
    [&length, &of_length.to_le_bytes()[..], data, &of_data.to_le_bytes()].concat()
}

const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const BYTES: u64 = 2;
const FIXED_32: u64 = 5;

/// `SessionLog { status: START }`.
const SESSION_START: [u8; 2] = [0x08, 0x01];

/// `Summary { value: [{ tag, simple_value }] }`.
fn summary(scalars: &[(String, f64)]) -> Vec<u8> {
    let mut message = Vec::new();
    for (tag, value) in scalars {
        let mut scalar = Vec::new();
        push_bytes(&mut scalar, 1, tag.as_bytes());
        push_tag(&mut scalar, 2, FIXED_32);
        #[expect(clippy::cast_possible_truncation, reason = "TensorBoard has single precision")]
        scalar.extend((*value as f32).to_le_bytes());
        push_bytes(&mut message, 1, &scalar);
    }
    message
}

fn push_bytes(message: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    push_tag(message, field, BYTES);
    push_varint(message, bytes.len() as u64);
    message.extend(bytes);
}

fn push_tag(message: &mut Vec<u8>, field: u64, kind: u64) {
    push_varint(message, field << 3 | kind);
}

/// Seven bits a byte, the lowest first; the top bit says that more follow.
fn push_varint(message: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            message.push(low & 0x7f);
            return;
        }
        message.push(low | 0x80);
    }
}

fn masked(checksum: u32) -> u32 {
    checksum.rotate_right(15).wrapping_add(0xa282_ead8)
}
