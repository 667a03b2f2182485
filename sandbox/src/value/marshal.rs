//! The format in which values cross between instances: `marshal` version 2, restricted to plain
//! data.
//!
//! A guest may send anything, so every byte is checked. Only trees of plain values within bounds
//! pass, without references, code or anything else that a Python interpreter would act on.

use num_bigint::{BigInt, BigUint, Sign};

use super::PyValue;

/// How deep values nest: what an instance sends, and what that is wrapped in.
pub const DEPTH_MAX: usize = 200;
/// How many values a message holds.
pub const VALUES_MAX: usize = 4_000_000;

/// How many values are built at once; more are only handed on.
pub const BUILT_MAX: usize = 1_100_000;

/// Why a message was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarshalError {
    /// The message ends inside a value.
    #[error("a message ends early")]
    Short,
    /// Bytes follow the value.
    #[error("a message has {0} bytes too many")]
    Long(usize),
    /// A value of a kind that does not cross.
    #[error("a message has a value of kind {0:#04x}, which does not cross")]
    Kind(u8),
    /// A value whose bytes are not as they must be.
    #[error("a message has a malformed {0}")]
    Malformed(&'static str),
    /// A key or member that has no hash.
    #[error("a message has a {0} where a value with a hash must be")]
    Unhashable(&'static str),
    /// Nested deeper than values may be.
    #[error("a message is nested deeper than {DEPTH_MAX} levels")]
    Deep,
    /// More values than a message may have.
    #[error("a message has more than {0} values")]
    Many(usize),
}

/// What was seen while a message was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// A float or complex number that is not a number.
    pub nan: bool,
    /// Values.
    pub values: usize,
}

/// Checks that the bytes are one plain value.
pub fn check(bytes: &[u8]) -> Result<Seen, MarshalError> {
    let mut reader = Reader::new(bytes, VALUES_MAX);
    reader.whole::<()>()?;
    Ok(reader.seen)
}

/// Reads one plain value.
pub fn decode(bytes: &[u8]) -> Result<(PyValue, Seen), MarshalError> {
    let mut reader = Reader::new(bytes, BUILT_MAX);
    let value = reader.whole()?;
    Ok((value, reader.seen))
}

/// Writes a value as the guest reads it.
pub fn encode(value: &PyValue) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(value, &mut bytes);
    bytes
}

/// What reading builds: a value, or nothing where the bytes are handed on as they are.
trait Build: Sized {
    fn atom(make: impl FnOnce() -> PyValue) -> Self;
    fn items(make: fn(Vec<PyValue>) -> PyValue, items: Vec<Self>) -> Self;
    fn dict(pairs: Vec<(Self, Self)>) -> Self;
}

impl Build for PyValue {
    fn atom(make: impl FnOnce() -> PyValue) -> Self {
        make()
    }

    fn items(make: fn(Vec<PyValue>) -> PyValue, items: Vec<Self>) -> Self {
        make(items)
    }

    fn dict(pairs: Vec<(Self, Self)>) -> Self {
        Self::Dict(pairs)
    }
}

// A vector of units takes no memory, so that checking allocates nothing.
impl Build for () {
    fn atom(_: impl FnOnce() -> PyValue) -> Self {}

    fn items(_: fn(Vec<PyValue>) -> PyValue, _: Vec<Self>) -> Self {}

    fn dict(_: Vec<(Self, Self)>) -> Self {}
}

struct Reader<'a> {
    rest: &'a [u8],
    values_max: usize,
    seen: Seen,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], values_max: usize) -> Self {
        Self { rest: bytes, values_max, seen: Seen::default() }
    }

    fn whole<B: Build>(&mut self) -> Result<B, MarshalError> {
        let value = self.value(0, false)?;
        if self.rest.is_empty() { Ok(value) } else { Err(MarshalError::Long(self.rest.len())) }
    }

    fn value<B: Build>(&mut self, depth: usize, hashed: bool) -> Result<B, MarshalError> {
        let kind = self.byte()?;
        self.of_kind(kind, depth, hashed)
    }

    fn of_kind<B: Build>(
        &mut self,
        kind: u8,
        depth: usize,
        hashed: bool,
    ) -> Result<B, MarshalError> {
        self.seen.values += 1;
        if self.seen.values > self.values_max {
            return Err(MarshalError::Many(self.values_max));
        }
        if depth > DEPTH_MAX {
            return Err(MarshalError::Deep);
        }
        match kind {
            b'N' => Ok(B::atom(|| PyValue::None)),
            b'.' => Ok(B::atom(|| PyValue::Ellipsis)),
            b'T' => Ok(B::atom(|| PyValue::Bool(true))),
            b'F' => Ok(B::atom(|| PyValue::Bool(false))),
            b'i' => {
                let value = i32::from_le_bytes(self.array()?);
                Ok(B::atom(|| PyValue::Int(BigInt::from(value))))
            }
            b'l' => self.long(),
            b'g' => {
                let value = self.float()?;
                Ok(B::atom(|| PyValue::Float(value)))
            }
            b'y' => {
                let (real, imaginary) = (self.float()?, self.float()?);
                Ok(B::atom(|| PyValue::Complex(real, imaginary)))
            }
            b's' => {
                let bytes = self.counted()?;
                Ok(B::atom(|| PyValue::Bytes(bytes.to_vec())))
            }
            b'u' => {
                let text = self.counted()?;
                if !is_text(text) {
                    return Err(MarshalError::Malformed("text"));
                }
                Ok(B::atom(|| PyValue::Str(text.to_vec())))
            }
            b'(' => self.items(PyValue::Tuple, depth, hashed),
            b'[' if !hashed => self.items(PyValue::List, depth, false),
            b'<' if !hashed => self.items(PyValue::Set, depth, true),
            b'>' => self.items(PyValue::FrozenSet, depth, true),
            b'{' if !hashed => self.dict(depth),
            b'[' => Err(MarshalError::Unhashable("list")),
            b'<' => Err(MarshalError::Unhashable("set")),
            b'{' => Err(MarshalError::Unhashable("dict")),
            kind => Err(MarshalError::Kind(kind)),
        }
    }

    fn items<B: Build>(
        &mut self,
        make: fn(Vec<PyValue>) -> PyValue,
        depth: usize,
        hashed: bool,
    ) -> Result<B, MarshalError> {
        let count = self.count()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.value(depth + 1, hashed)?);
        }
        Ok(B::items(make, items))
    }

    fn dict<B: Build>(&mut self, depth: usize) -> Result<B, MarshalError> {
        let mut pairs = Vec::new();
        loop {
            // A dictionary ends with the one kind that is not a value.
            let kind = self.byte()?;
            if kind == b'0' {
                return Ok(B::dict(pairs));
            }
            let key = self.of_kind(kind, depth + 1, true)?;
            pairs.push((key, self.value(depth + 1, false)?));
        }
    }

    /// An integer in digits of 15 bits, the lowest first, without a zero at its end.
    fn long<B: Build>(&mut self) -> Result<B, MarshalError> {
        let count = i32::from_le_bytes(self.array()?);
        let bytes = self.take(2 * count.unsigned_abs() as usize)?;
        let digits = bytes.chunks_exact(2).map(|pair| match pair {
            [low, high] => u32::from(*low) | u32::from(*high) << 8,
            _ => 0,
        });
        let is_normal = digits.clone().next_back().is_some_and(|last| last != 0);
        if !is_normal || digits.clone().any(|digit| digit >= 1 << 15) {
            return Err(MarshalError::Malformed("integer"));
        }
        let sign = if count < 0 { Sign::Minus } else { Sign::Plus };
        Ok(B::atom(|| PyValue::Int(BigInt::from_biguint(sign, joined(digits)))))
    }

    fn float(&mut self) -> Result<f64, MarshalError> {
        let value = f64::from_le_bytes(self.array()?);
        self.seen.nan |= value.is_nan();
        Ok(value)
    }

    fn counted(&mut self) -> Result<&'a [u8], MarshalError> {
        let count = self.count()?;
        self.take(count)
    }

    /// A count that the bytes left can hold: each value takes one at least.
    fn count(&mut self) -> Result<usize, MarshalError> {
        let count = u32::from_le_bytes(self.array()?) as usize;
        if count > self.rest.len() { Err(MarshalError::Short) } else { Ok(count) }
    }

    fn byte(&mut self) -> Result<u8, MarshalError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MarshalError> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(MarshalError::Short)?;
        self.rest = rest;
        Ok(*array)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], MarshalError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(MarshalError::Short)?;
        self.rest = rest;
        Ok(taken)
    }
}

/// Digits of 15 bits as one number.
fn joined(digits: impl Iterator<Item = u32>) -> BigUint {
    let (mut words, mut held, mut bits) = (Vec::new(), 0_u64, 0);
    for digit in digits {
        held |= u64::from(digit) << bits;
        bits += 15;
        if bits >= 32 {
            words.push((held & 0xffff_ffff) as u32);
            held >>= 32;
            bits -= 32;
        }
    }
    words.push((held & 0xffff_ffff) as u32);
    BigUint::new(words)
}

/// UTF-8, in which a surrogate may stand alone as Python's strings have it.
fn is_text(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    loop {
        let Err(error) = std::str::from_utf8(rest) else { return true };
        let Some(after) = rest.get(error.valid_up_to()..) else { return false };
        match after {
            [0xed, 0xa0..=0xbf, 0x80..=0xbf, more @ ..] => rest = more,
            _ => return false,
        }
    }
}

fn write(value: &PyValue, out: &mut Vec<u8>) {
    match value {
        PyValue::None => out.push(b'N'),
        PyValue::Ellipsis => out.push(b'.'),
        PyValue::Bool(value) => out.push(if *value { b'T' } else { b'F' }),
        PyValue::Int(value) => write_int(value, out),
        PyValue::Float(value) => write_floats(b'g', &[*value], out),
        PyValue::Complex(real, imaginary) => write_floats(b'y', &[*real, *imaginary], out),
        PyValue::Str(text) => write_counted(b'u', text, out),
        PyValue::Bytes(bytes) => write_counted(b's', bytes, out),
        PyValue::List(items) => write_items(b'[', items, out),
        PyValue::Tuple(items) => write_items(b'(', items, out),
        PyValue::Set(items) => write_items(b'<', items, out),
        PyValue::FrozenSet(items) => write_items(b'>', items, out),
        PyValue::Dict(pairs) => {
            out.push(b'{');
            for (key, value) in pairs {
                write(key, out);
                write(value, out);
            }
            out.push(b'0');
        }
    }
}

fn write_int(value: &BigInt, out: &mut Vec<u8>) {
    if let Ok(small) = i32::try_from(value) {
        out.push(b'i');
        out.extend(small.to_le_bytes());
        return;
    }
    let digits: Vec<u8> = value.magnitude().to_radix_le(2);
    let digits = digits
        .chunks(15)
        .map(|bits| bits.iter().rev().fold(0_u16, |digit, bit| digit << 1 | u16::from(*bit)));
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    out.push(b'l');
    out.extend(if value.sign() == Sign::Minus { -count } else { count }.to_le_bytes());
    out.extend(digits.flat_map(u16::to_le_bytes));
}

fn write_floats(kind: u8, values: &[f64], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

fn write_counted(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    write_head(kind, bytes.len(), out);
    out.extend(bytes);
}

fn write_items(kind: u8, items: &[PyValue], out: &mut Vec<u8>) {
    write_head(kind, items.len(), out);
    for item in items {
        write(item, out);
    }
}

/// A length beyond what the format can say makes a message that is refused, never a wrong one.
fn write_head(kind: u8, count: usize, out: &mut Vec<u8>) {
    out.push(kind);
    out.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

#[cfg(test)]
mod tests;
