//! The meter: deterministic fuel, which decides outcomes instead of a clock.

use crate::fault::{Fault, FaultKind};

/// A wall-clock limit, asked now and then by the meter. The vocabulary owns no clock, so the
/// engine passes one in.
pub trait Cancellation: Sync {
    /// Whether the time is up.
    fn expired(&self) -> bool;
}

/// The backstop that never expires.
#[derive(Clone, Copy, Debug)]
pub struct Never;

impl Cancellation for Never {
    fn expired(&self) -> bool {
        false
    }
}

/// Fuel for one verdict.
///
/// One unit is about one byte read or one elementary step: 1 to 10 ns. Every loop over input pays,
/// so a pathological sample stops at the same place on every machine.
#[derive(Clone)]
pub struct Meter<'a> {
    limit: u64,
    spent: u64,
    next_look: u64,
    backstop: Option<&'a dyn Cancellation>,
}

impl<'a> Meter<'a> {
    /// Fuel for one verdict when nothing else is said: below 100 ms of work.
    pub const DEFAULT_FUEL: u64 = 20_000_000;
    /// Fuel between two checks of the backstop.
    pub const LOOK_EVERY: u64 = 1 << 16;

    /// A meter that holds `fuel` units and has no backstop.
    pub fn new(fuel: u64) -> Self {
        Self { limit: fuel, spent: 0, next_look: Self::LOOK_EVERY, backstop: None }
    }

    /// The same, with a wall-clock backstop.
    #[must_use]
    pub fn with_cancellation(mut self, backstop: &'a dyn Cancellation) -> Self {
        self.backstop = Some(backstop);
        self
    }

    /// Pays `units`.
    ///
    /// # Errors
    /// [`FaultKind::OutOfFuel`] when the fuel is gone, [`FaultKind::Timeout`] when the backstop
    /// has expired.
    #[inline]
    pub fn spend(&mut self, units: u64) -> Result<(), Fault> {
        self.spent = self.spent.saturating_add(units);
        if self.spent > self.limit {
            return Err(self.out_of_fuel());
        }
        if self.spent >= self.next_look { self.look() } else { Ok(()) }
    }

    /// An equal part of what is left, for one of `count` pieces of work that share no fuel.
    #[must_use]
    pub fn part(&self, count: usize) -> Self {
        let limit = self.left() / (count as u64).max(1);
        Self { limit, spent: 0, next_look: Self::LOOK_EVERY, backstop: self.backstop }
    }

    /// Units paid so far.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// Units left.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.spent)
    }

    /// Whether the wall-clock backstop has expired. For work with a counter of its own, such as that
    /// of a guest.
    pub fn expired(&self) -> bool {
        self.backstop.is_some_and(Cancellation::expired)
    }

    /// The wall-clock backstop. For work that is called back on the way.
    pub fn backstop(&self) -> Option<&'a dyn Cancellation> {
        self.backstop
    }

    #[cold]
    fn out_of_fuel(&self) -> Fault {
        Fault::new(FaultKind::OutOfFuel, format!("more than {} units of work", self.limit))
    }

    #[cold]
    fn look(&mut self) -> Result<(), Fault> {
        self.next_look = self.spent.saturating_add(Self::LOOK_EVERY);
        match self.backstop {
            Some(backstop) if backstop.expired() => {
                Err(Fault::new(FaultKind::Timeout, "the wall-clock deadline passed"))
            }
            _ => Ok(()),
        }
    }
}

impl Default for Meter<'_> {
    fn default() -> Self {
        Self::new(Self::DEFAULT_FUEL)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cancellation, FaultKind, Meter};

    #[test]
    fn fuel_runs_out_at_the_same_unit() {
        let mut meter = Meter::new(10);
        assert_eq!(meter.spend(10), Ok(()));
        assert_eq!(meter.spend(1).unwrap_err().kind, FaultKind::OutOfFuel);
        assert_eq!(meter.left(), 0);
        assert_eq!(Meter::new(5).spend(u64::MAX).unwrap_err().kind, FaultKind::OutOfFuel);
    }

    #[test]
    fn the_backstop_is_asked_as_fuel_is_spent() {
        struct Past;
        impl Cancellation for Past {
            fn expired(&self) -> bool {
                true
            }
        }
        let mut meter = Meter::new(u64::MAX).with_cancellation(&Past);
        assert_eq!(meter.spend(1), Ok(()));
        assert_eq!(meter.spend(1 << 17).unwrap_err().kind, FaultKind::Timeout);
    }
}
