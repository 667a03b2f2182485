//! The resources of a script: fuel for time, and live bytes of memory.
//!
//! rhai counts operations, but one operation may copy an array of ten thousand elements, and its
//! limits hold for one value at a time. So every read of a variable also pays for the size of the
//! value, and at intervals the size of all variables in scope is measured. Functions in
//! [`super::functions`] pay for what they build. Together this bounds time and memory: every
//! operand was read from a variable, is a literal, or was built by an operation that paid.

use std::cell::RefCell;

use rhai::{
    Array, Dynamic, Engine, EvalAltResult, EvalContext, FnPtr, ImmutableString, Map, Position,
};
use scoped_tls_hkt::scoped_thread_local;

use super::limits::{CALL_LEVELS_MAX, LIVE_BYTES_MAX};
use crate::meter::{Cancellation, Meter, Never};

/// Fuel between two measurements of the variables in scope.
const WEIGH_EVERY: u64 = 1 << 15;
/// Values may nest this deep; cloning and dropping them is recursive.
const NESTING_MAX: usize = 64;
/// Bytes of text that are worth one unit, when an operation reads them.
const TEXT_BYTES_PER_UNIT: usize = 2;
/// The same for texts inside an array or a map: printing them escapes each character.
const INNER_TEXT_BYTES_PER_UNIT: usize = 1;
/// What an element of an array, or a member of a map, costs to copy, to compare or to print.
pub(super) const FUEL_PER_ELEMENT: usize = 30;
/// What an element of an array takes in memory, with the header of a text.
const ELEMENT_BYTES: usize = 64;
/// What a member of a map takes in memory beside its key.
const MEMBER_BYTES: usize = 128;

/// Why a run was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Fuel,
    Memory,
    Nesting,
    Time,
}

/// What a run may spend, and what each of its operations costs.
#[derive(Clone, Copy)]
pub(super) struct Fuel {
    pub(super) limit: u64,
    pub(super) per_operation: u64,
}

/// The account of the run on this thread. A run stays on its thread, and rhai passes no user state
/// to its callbacks, so the account is a thread-local.
#[derive(Clone)]
pub(super) struct Account {
    fuel: Fuel,
    spent: u64,
    weighed_at: u64,
    next_look: u64,
    alive: [usize; CALL_LEVELS_MAX + 1],
    ended: Option<Ended>,
}

thread_local! {
    static ACCOUNT: RefCell<Account> = const { RefCell::new(Account::new(Fuel { limit: 0, per_operation: 0 })) };
}

impl Account {
    const fn new(fuel: Fuel) -> Self {
        Self {
            fuel,
            spent: 0,
            weighed_at: 0,
            next_look: Meter::LOOK_EVERY,
            alive: [0; CALL_LEVELS_MAX + 1],
            ended: None,
        }
    }

    pub(super) fn spent(&self) -> u64 {
        self.spent
    }

    pub(super) fn ended(&self) -> Option<Ended> {
        self.ended
    }

    fn pay(&mut self, units: u64) {
        self.spent = self.spent.saturating_add(units);
        if self.spent > self.fuel.limit {
            self.ended.get_or_insert(Ended::Fuel);
        }
        if self.spent >= self.next_look {
            self.next_look = self.spent.saturating_add(Meter::LOOK_EVERY);
            if is_expired() {
                self.ended.get_or_insert(Ended::Time);
            }
        }
    }

    fn weigh(&mut self, context: &EvalContext<'_, '_, '_, '_, '_, '_>) {
        let mut size = Size::default();
        for (_, _, value) in context.scope().iter_raw() {
            size.add_variable(value);
        }
        let level = context.call_level().min(CALL_LEVELS_MAX);
        if let Some((here, deeper)) = self.alive.get_mut(level..).and_then(<[_]>::split_first_mut) {
            *here = size.bytes;
            deeper.fill(0);
        }
        if self.alive.iter().sum::<usize>() > LIVE_BYTES_MAX {
            self.ended.get_or_insert(Ended::Memory);
        }
        self.pay(size.visited);
        self.weighed_at = self.spent;
    }
}

scoped_thread_local! {
    /// The deadline of the run on this thread: rhai takes no callbacks that borrow.
    static BACKSTOP: for<'a> &'a (dyn Cancellation + 'a)
}

/// Runs `work` with `fuel` until `backstop`, and says what it used. Runs may nest.
pub(super) fn within<T>(
    fuel: Fuel,
    backstop: Option<&dyn Cancellation>,
    work: impl FnOnce() -> T,
) -> (T, Account) {
    let outer = ACCOUNT.replace(Account::new(fuel));
    let done = BACKSTOP.set(backstop.unwrap_or(&Never), work);
    (done, ACCOUNT.replace(outer))
}

/// Whether the deadline of the run has passed.
fn is_expired() -> bool {
    BACKSTOP.is_set() && BACKSTOP.with(|backstop| backstop.expired())
}

/// Pays for what a function is about to build.
pub(super) fn pay(units: usize) -> Result<(), Box<EvalAltResult>> {
    charge(|account| account.pay(units as u64))
}

/// Makes `engine` pay for its operations and for what its variables hold.
pub(super) fn attach(engine: &mut Engine) {
    engine.on_progress(|_| {
        let ended = ACCOUNT.with_borrow_mut(|account| {
            account.pay(account.fuel.per_operation);
            account.ended
        });
        ended.map(|_| Dynamic::UNIT)
    });
    #[expect(deprecated, reason = "rhai marks its volatile interfaces so; this one is in use")]
    engine.on_var(|name, _, context| {
        charge(|account| {
            if account.spent - account.weighed_at >= WEIGH_EVERY {
                account.weigh(&context);
            }
            let Some(value) = context.scope().get(name) else { return };
            let mut size = Size::default();
            size.add_variable(value);
            account.pay(size.units);
            if size.is_too_deep {
                account.ended.get_or_insert(Ended::Nesting);
            }
        })?;
        Ok(None)
    });
}

/// A script cannot catch the error by which this ends it.
fn charge(charge: impl FnOnce(&mut Account)) -> Result<(), Box<EvalAltResult>> {
    let ended = ACCOUNT.with_borrow_mut(|account| {
        charge(account);
        account.ended
    });
    match ended {
        Some(_) => Err(EvalAltResult::ErrorTerminated(Dynamic::UNIT, Position::NONE).into()),
        None => Ok(()),
    }
}

/// What a value costs to copy or to walk through, and what it takes in memory.
#[derive(Default)]
struct Size {
    units: u64,
    visited: u64,
    bytes: usize,
    is_too_deep: bool,
}

impl Size {
    fn add_variable(&mut self, value: &Dynamic) {
        match value.read_lock::<ImmutableString>() {
            Some(text) => {
                self.bytes += text.len();
                self.units += (text.len() / TEXT_BYTES_PER_UNIT) as u64;
            }
            None => self.add(value, 0),
        }
    }

    /// Values that closures share are weighed as the variables that they are, so that a cycle of
    /// them has an end.
    fn add(&mut self, value: &Dynamic, depth: usize) {
        self.visited += 1;
        if depth > NESTING_MAX {
            self.is_too_deep = true;
        } else if depth > 0 && value.is_shared() {
            self.units += 1;
        } else if let Some(array) = value.read_lock::<Array>() {
            self.add_all(&array, ELEMENT_BYTES, depth);
        } else if let Some(map) = value.read_lock::<Map>() {
            for (key, value) in map.iter() {
                self.bytes += MEMBER_BYTES + key.len();
                self.units += FUEL_PER_ELEMENT as u64;
                self.add(value, depth + 1);
            }
        } else if let Some(text) = value.read_lock::<ImmutableString>() {
            self.bytes += text.len();
            self.units += (text.len() / INNER_TEXT_BYTES_PER_UNIT) as u64;
        } else if let Some(function) = value.read_lock::<FnPtr>() {
            self.add_all(function.curry(), ELEMENT_BYTES, depth);
        }
    }

    fn add_all(&mut self, values: &[Dynamic], bytes_each: usize, depth: usize) {
        self.bytes += bytes_each * values.len();
        self.units += (FUEL_PER_ELEMENT * values.len()) as u64;
        for value in values {
            self.add(value, depth + 1);
        }
    }
}
