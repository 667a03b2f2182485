//! What one rendering may make and do: bytes of values, and work on them.
//!
//! The interpreter counts instructions, but one of them may copy a text of many megabytes. So whatever
//! makes a value pays for its size, and whatever reads one pays for that.

use std::cell::RefCell;

use minijinja::value::{DynObject, Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// Bytes of values that any rendering may make.
const BYTES_MIN: usize = 16 << 20;
/// Bytes of values for each byte of the sample.
const BYTES_PER_BYTE: usize = 16;
/// The largest value, beside the sample itself.
const VALUE_BYTES: usize = 4 << 20;
/// Work that any rendering may do: a unit is a part of a value that is looked at.
const WORK_MIN: usize = 3 << 20;
/// How deep lists and maps may nest: they are printed, compared and dropped by recursion.
const DEPTH_MAX: usize = 160;
/// What an element of a list takes.
pub(super) const ELEMENT_BYTES: usize = 64;
/// Bytes of text that are one unit of work.
const TEXT_PER_UNIT: usize = 16;

/// What is left of a rendering.
#[derive(Clone, Copy)]
struct Account {
    bytes: usize,
    work: usize,
    value_max: usize,
    /// Within the chat template.
    chats: bool,
}

const NOTHING: Account = Account { bytes: 0, work: 0, value_max: 0, chats: false };

thread_local! {
    /// A rendering stays on its thread.
    static ACCOUNT: RefCell<Account> = const { RefCell::new(NOTHING) };
}

/// Runs `work` on an account of its own, for a sample of so many bytes: templates that are rendered outside
/// of it can make nothing.
pub fn within<T>(sample: usize, work: impl FnOnce() -> T) -> T {
    let own = Account {
        bytes: BYTES_MIN.saturating_add(sample.saturating_mul(BYTES_PER_BYTE)),
        work: WORK_MIN.saturating_add(sample.saturating_mul(4)),
        value_max: VALUE_BYTES.saturating_add(sample.saturating_mul(2)),
        chats: false,
    };
    let outer = ACCOUNT.replace(own);
    let done = work();
    ACCOUNT.set(outer);
    done
}

/// Runs `work` as the chat template, which does not call itself.
///
/// # Errors
/// A call within a call, and the errors of `work`.
pub fn chatting<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    if ACCOUNT.with_borrow_mut(|account| std::mem::replace(&mut account.chats, true)) {
        return Err(refuse("chat() is called within the chat template: it would not end"));
    }
    let done = work();
    ACCOUNT.with_borrow_mut(|account| account.chats = false);
    done
}

/// An error of the template.
pub(super) fn refuse(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, why.into())
}

/// Holds what is about to be made to what is left.
pub(super) fn room(bytes: usize) -> Result<(), Error> {
    let (left, most) = ACCOUNT.with_borrow(|account| (account.bytes, account.value_max));
    if bytes > most {
        return Err(refuse(format!("a value of {bytes} bytes; at most {most} are allowed")));
    }
    if bytes > left {
        return Err(refuse("out of memory: its values are larger than a rendering may make"));
    }
    Ok(())
}

/// Pays for a value of so many bytes.
pub(super) fn keep(bytes: usize) -> Result<(), Error> {
    room(bytes)?;
    ACCOUNT.with_borrow_mut(|account| account.bytes = account.bytes.saturating_sub(bytes));
    work(bytes / TEXT_PER_UNIT)
}

/// Pays for work.
///
/// # Errors
/// More of it than is left to the rendering.
pub fn work(units: usize) -> Result<(), Error> {
    let paid = ACCOUNT.with_borrow_mut(|account| {
        let left = account.work.checked_sub(units);
        account.work = left.unwrap_or(0);
        left.is_some()
    });
    if paid { Ok(()) } else { Err(refuse("out of fuel: it looks at too much")) }
}

/// Pays for reading a text.
pub(super) fn read_text(text: &str) -> Result<(), Error> {
    work(1 + text.len() / TEXT_PER_UNIT)
}

/// What a value holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    pub(super) nodes: usize,
    pub(super) text: usize,
    pub(super) depth: usize,
    /// A namespace can be changed after it was stored.
    pub(super) namespaces: bool,
}

impl Weight {
    /// Of a value and all that it holds. Whatever is looked at is paid for.
    pub(super) fn of(value: &Value) -> Result<Self, Error> {
        let mut weight = Self::default();
        weight.add(value, 1)?;
        Ok(weight)
    }

    /// At most so many bytes as text, escapes included, indented by `indent` a level.
    pub(super) fn printed(&self, indent: usize) -> usize {
        let line = 24 + indent.saturating_mul(self.depth);
        self.text.saturating_mul(2).saturating_add(self.nodes.saturating_mul(line))
    }

    fn add(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        work(1)?;
        self.nodes += 1;
        self.depth = self.depth.max(depth);
        if depth > DEPTH_MAX {
            return Err(refuse(format!("a value nests deeper than {DEPTH_MAX} levels")));
        }
        if let Some(text) = value.as_str() {
            self.text = self.text.saturating_add(text.len());
            return Ok(());
        }
        let Some(object) = value.as_object() else { return Ok(()) };
        match value.kind() {
            ValueKind::Seq | ValueKind::Iterable => {
                for item in object.try_iter().into_iter().flatten() {
                    self.add(&item, depth + 1)?;
                }
            }
            ValueKind::Map => {
                self.namespaces |= object.type_name().ends_with("::Namespace");
                for (key, item) in object.try_iter_pairs().into_iter().flatten() {
                    self.add(&key, depth + 1)?;
                    self.add(&item, depth + 1)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// How many elements a list has. One that does not know is counted.
pub(super) fn elements(value: &Value) -> Result<usize, Error> {
    if let Some(length) = value.len() {
        return Ok(length);
    }
    let mut count = 0;
    for _ in value.as_object().and_then(DynObject::try_iter).into_iter().flatten() {
        work(1)?;
        count += 1;
    }
    Ok(count)
}

/// Pays for a value that was made.
///
/// # Errors
/// A value that is too large, by itself or beside those that were made before.
pub fn fits(value: &Value) -> Result<(), Error> {
    if let Some(text) = value.as_str() {
        return keep(text.len());
    }
    match value.kind() {
        ValueKind::Seq | ValueKind::Map => keep(elements(value)?.saturating_mul(ELEMENT_BYTES)),
        // It is made again from its parts wherever it is walked through.
        ValueKind::Iterable => {
            let count = elements(value)?;
            room(count.saturating_mul(ELEMENT_BYTES))?;
            keep(ELEMENT_BYTES + count)
        }
        ValueKind::Bytes => keep(value.as_bytes().map_or(0, <[u8]>::len)),
        _ => Ok(()),
    }
}

/// Pays for reading a value.
pub(super) fn read(value: &Value) -> Result<Weight, Error> {
    let weight = Weight::of(value)?;
    work(weight.text / TEXT_PER_UNIT)?;
    Ok(weight)
}
