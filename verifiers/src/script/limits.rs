//! What a script may take.

use crate::meter::Meter;

/// Fuel that one run may take, whatever the meter holds.
pub const RUN_FUEL_MAX: u64 = Meter::DEFAULT_FUEL;
/// Operations that one run may take, whatever the meter holds.
pub const OPERATIONS_MAX: u64 = RUN_FUEL_MAX / FUEL_PER_OPERATION;
/// Bytes in one string.
pub const STRING_BYTES_MAX: usize = 1 << 20;
/// Elements of one array, and members of one map.
pub const ELEMENTS_MAX: usize = 10_000;
/// Bytes that the variables of a run may hold at one time. Values built between two measurements
/// come on top: a run stays below 64 MiB.
pub const LIVE_BYTES_MAX: usize = 16 << 20;
/// Bytes of source.
pub const SOURCE_BYTES_MAX: usize = 64 << 10;
/// What one operation of a script costs on the meter.
pub(super) const FUEL_PER_OPERATION: u64 = 30;
/// Calls within calls.
pub(super) const CALL_LEVELS_MAX: usize = 16;
