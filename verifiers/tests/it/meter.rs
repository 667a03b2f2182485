//! The meter: fuel and the backstop.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it does not expect")]

use assay_verifiers::{Cancellation, FaultKind, Meter};

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
