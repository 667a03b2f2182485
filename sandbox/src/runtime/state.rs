//! What the host holds of one running guest, and how the guest pays for what it asks of the host.

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use wasmtime::{CallHook, ResourceLimiter, Store, StoreContextMut, Trap};
use wasmtime_wasi::p2::pipe::MemoryInputPipe;
use wasmtime_wasi::{I32Exit, WasiCtxBuilder};

use super::clock::Clock;
use super::limits::{Limits, Stop};
use super::output::Output;
use super::{Runtime, YIELD_EVERY};

/// Fuel for one call of the host: about what it takes in time.
const CALL_FUEL: u64 = 20_000;
/// Random bytes that one call may ask for; more would take longer than the call pays for.
const RANDOM_BYTES_MAX: u64 = 64 << 10;
/// Table elements that one table may grow to.
const TABLE_ELEMENTS_MAX: usize = 1 << 20;

/// What every kind of guest is held to.
pub(super) struct Fence {
    pub(super) limits: Limits,
    pub(super) clock: Clock,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
    memory_bytes_peak: usize,
    memory_refused: bool,
    calls: u64,
    fuel_seen: u64,
}

/// The state of a store that has a fence.
pub(super) trait Fenced: Send + 'static {
    fn fence(&mut self) -> &mut Fence;
}

impl Fence {
    pub(super) fn new(limits: Limits, clock: Clock) -> Self {
        let output = || Output::new(limits.output_bytes_max);
        Self {
            stdout: output(),
            stderr: output(),
            memory_bytes_peak: 0,
            memory_refused: false,
            calls: 0,
            fuel_seen: limits.fuel,
            limits,
            clock,
        }
    }

    /// WASI with nothing but pipes, the guest's own clock, and numbers drawn from `seed`.
    pub(super) fn wasi(&self, stdin: Vec<u8>, seed: u64) -> WasiCtxBuilder {
        let mut wasi = WasiCtxBuilder::new();
        wasi.stdin(MemoryInputPipe::new(stdin))
            .stdout(self.stdout.clone())
            .stderr(self.stderr.clone())
            .wall_clock(self.clock.clone())
            .monotonic_clock(self.clock.clone())
            .secure_random(StdRng::seed_from_u64(seed))
            .insecure_random(StdRng::seed_from_u64(!seed))
            .insecure_random_seed(u128::from(seed))
            .max_random_size(RANDOM_BYTES_MAX)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .allow_blocking_current_thread(true);
        wasi
    }

    pub(super) fn memory_bytes_peak(&self) -> usize {
        self.memory_bytes_peak
    }

    /// Advances the guest's clock by a sleep.
    pub(super) fn sleep(&mut self, ns: u64) -> Result<(), Stop> {
        self.clock.sleep(ns);
        let slept_too_long = self.clock.slept_ns() / 1_000_000 > self.limits.sleep_ms_max;
        if slept_too_long { Err(Stop::SleptTooLong) } else { Ok(()) }
    }

    /// What an error of the engine says of the guest.
    pub(super) fn stop(&self, error: &wasmtime::Error) -> Stop {
        if let Some(stop) = error.downcast_ref::<Stop>() {
            return stop.clone();
        }
        if let Some(I32Exit(code)) = error.downcast_ref() {
            return Stop::Exit(*code);
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => Stop::OutOfFuel,
            Some(Trap::StackOverflow) => Stop::Trap("stack overflow".to_owned()),
            Some(_) if self.memory_refused => Stop::OutOfMemory,
            Some(trap) => Stop::Trap(trap.to_string().replacen("wasm trap: ", "", 1)),
            None => match error.root_cause().to_string() {
                why if why.contains("hostcall") => Stop::TooLarge,
                why => Stop::Trap(why),
            },
        }
    }
}

impl ResourceLimiter for Fence {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let granted = desired <= self.limits.memory_bytes_max;
        if granted {
            self.memory_bytes_peak = self.memory_bytes_peak.max(desired);
        } else {
            self.memory_refused = true;
        }
        Ok(granted)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE_ELEMENTS_MAX)
    }
}

/// A store whose guest is held to its fence from the first instruction.
pub(super) fn fenced<T: Fenced>(runtime: &Runtime, state: T) -> Result<Store<T>, Stop> {
    let mut store = Store::new(runtime.engine(), state);
    let limits = &store.data_mut().fence().limits;
    let (fuel, message_bytes_max) = (limits.fuel, limits.message_bytes_max);
    store.limiter(|state| state.fence());
    store.call_hook(|store, hook| match hook {
        CallHook::CallingHost => Ok(pay(store)?),
        _ => Ok(()),
    });
    store.set_hostcall_fuel(message_bytes_max);
    let internal = |error: wasmtime::Error| Stop::Internal(error.to_string());
    store.set_fuel(fuel).map_err(internal)?;
    store.fuel_async_yield_interval(Some(YIELD_EVERY)).map_err(internal)?;
    Ok(store)
}

/// A call of the host is counted, pays fuel, and brings the guest's clock up to date.
fn pay<T: Fenced>(mut store: StoreContextMut<'_, T>) -> Result<(), Stop> {
    let internal = |error: wasmtime::Error| Stop::Internal(error.to_string());
    let left = store.get_fuel().map_err(internal)?;
    let left = left.checked_sub(CALL_FUEL).ok_or(Stop::OutOfFuel)?;
    store.set_fuel(left).map_err(internal)?;
    let fence = store.data_mut().fence();
    fence.clock.work(fence.fuel_seen.saturating_sub(left));
    fence.fuel_seen = left;
    fence.calls += 1;
    if fence.calls > fence.limits.host_calls_max { Err(Stop::TooManyCalls) } else { Ok(()) }
}
