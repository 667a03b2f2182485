//! The host's state of one running guest: its quota, and the fuel for calls of the host.

use std::task::Poll;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use wasmtime::{CallHook, CallHookHandler, ResourceLimiter, Store, StoreContextMut, Trap};
use wasmtime_wasi::p2::pipe::MemoryInputPipe;
use wasmtime_wasi::{I32Exit, WasiCtxBuilder, async_trait};

use super::clock::GuestClock;
use super::engine::Runtime;
use super::limits::{Limits, Stop, TABLE_ELEMENTS_MAX, YIELD_EVERY};
use super::output::Output;
use super::record::RunRecord;

/// Fuel for one call of the host: about what it takes in time.
const CALL_FUEL: u64 = 20_000;
/// Fuel for a page of memory, of 64 KiB, that a guest grows by: the machine has to find and clear it.
const PAGE_FUEL: u64 = 200_000;
/// Bytes of a page.
const PAGE_BYTES: usize = 64 << 10;
/// Calls of the host after which a guest yields, so that the deadline can be checked: they take
/// time that its instructions do not show.
const YIELD_EVERY_CALLS: u64 = 64;
/// Random bytes that one call may ask for; more would take longer than the call pays for.
const RANDOM_BYTES_MAX: u64 = 64 << 10;
/// The state of a store: what the guest may use, and its WASI.
pub(super) struct Host<W> {
    pub(super) quota: Quota,
    pub(super) wasi: W,
}

/// What every kind of guest may use, and what it has used so far.
pub(super) struct Quota {
    pub(super) limits: Limits,
    pub(super) clock: GuestClock,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
    memory: Grown,
    memory_bytes_peak: usize,
    memory_refused: bool,
    tables: Grown,
    /// Pages of memory beyond those that it started with.
    pages: u64,
    calls: u64,
    fuel_seen: u64,
}

impl Quota {
    pub(super) fn new(limits: Limits, clock: GuestClock) -> Self {
        let output = || Output::new(limits.output_bytes_max);
        Self {
            stdout: output(),
            stderr: output(),
            memory: Grown::default(),
            memory_bytes_peak: 0,
            memory_refused: false,
            tables: Grown::default(),
            pages: 0,
            calls: 0,
            fuel_seen: 0,
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

    /// Fuel spent, given what is left in the store: instructions, calls of the host, and memory.
    fn fuel_spent(&self, left: u64) -> u64 {
        let owed = self.calls.saturating_mul(CALL_FUEL) + self.pages.saturating_mul(PAGE_FUEL);
        self.limits.fuel.saturating_sub(left).saturating_add(owed).min(self.limits.fuel)
    }

    /// Advances the guest's clock by a sleep.
    pub(super) fn sleep(&mut self, ns: u64) -> Result<(), Stop> {
        self.clock.sleep(ns);
        let slept_too_long = self.clock.slept_ns() / 1_000_000 > self.limits.sleep_ms_max;
        if slept_too_long { Err(Stop::SleptTooLong) } else { Ok(()) }
    }

    /// The stop that an error of the engine stands for.
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
                _ if self.memory_refused => Stop::OutOfMemory,
                why => Stop::Trap(why),
            },
        }
    }
}

/// A limit holds for the sum of all memories of a guest, and of all its tables.
impl ResourceLimiter for Quota {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let granted = self.memory.grow(current, desired, self.limits.memory_bytes_max);
        self.memory_bytes_peak = self.memory_bytes_peak.max(self.memory.total);
        self.memory_refused |= !granted;
        if granted && current > 0 {
            self.pages += (desired.saturating_sub(current) / PAGE_BYTES) as u64;
        }
        Ok(granted)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.memory.undo();
        Ok(())
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(self.tables.grow(current, desired, TABLE_ELEMENTS_MAX))
    }

    fn table_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.tables.undo();
        Ok(())
    }
}

/// The sum of what was granted, and the last grant.
#[derive(Default)]
struct Grown {
    total: usize,
    last: usize,
}

impl Grown {
    fn grow(&mut self, current: usize, desired: usize, max: usize) -> bool {
        self.last = 0;
        let more = desired.saturating_sub(current);
        let granted = self.total.saturating_add(more) <= max;
        if granted {
            self.total += more;
            self.last = more;
        }
        granted
    }

    /// Takes the last grant back, because the engine failed to grow.
    fn undo(&mut self) {
        self.total -= std::mem::take(&mut self.last);
    }
}

/// What the guest of a store has used, and the output that was not taken yet.
pub(super) fn record<W>(store: &Store<Host<W>>) -> RunRecord {
    let quota = &store.data().quota;
    RunRecord {
        fuel: quota.fuel_spent(store.get_fuel().unwrap_or(0)),
        memory_bytes_peak: quota.memory_bytes_peak,
        stdout: quota.stdout.take(),
        stderr: quota.stderr.take(),
    }
}

/// A store whose guest is held to its quota from the first instruction.
pub(super) fn metered<W: Send + 'static>(
    runtime: &Runtime,
    host: Host<W>,
) -> Result<Store<Host<W>>, Stop> {
    let mut store = Store::new(runtime.engine(), host);
    let limits = &store.data_mut().quota.limits;
    let (fuel, message_bytes_max) = (limits.fuel, limits.message_bytes_max);
    store.limiter(|host| &mut host.quota);
    store.call_hook_async(Toll);
    store.set_hostcall_fuel(message_bytes_max);
    let internal = |error: wasmtime::Error| Stop::Internal(error.to_string());
    store.set_fuel(fuel).map_err(internal)?;
    store.fuel_async_yield_interval(Some(YIELD_EVERY)).map_err(internal)?;
    Ok(store)
}

/// The hook of every call of the host.
struct Toll;

#[async_trait]
impl<W: Send + 'static> CallHookHandler<Host<W>> for Toll {
    async fn handle_call_event(
        &self,
        mut store: StoreContextMut<'_, Host<W>>,
        hook: CallHook,
    ) -> wasmtime::Result<()> {
        if matches!(hook, CallHook::CallingHost) {
            pay(&mut store)?;
            if store.data().quota.calls.is_multiple_of(YIELD_EVERY_CALLS) {
                yield_once().await;
            }
        }
        Ok(())
    }
}

/// Pending once.
async fn yield_once() {
    let mut is_over = false;
    std::future::poll_fn(|_| {
        if std::mem::replace(&mut is_over, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// A call of the host is counted, costs fuel, and brings the guest's clock up to date.
///
/// The cost is counted here and not taken from the store: the engine calls this hook also within an
/// instruction, such as growing memory, and afterwards goes on with the fuel that it had loaded
/// before, whatever the store says.
fn pay<W>(store: &mut StoreContextMut<'_, Host<W>>) -> Result<(), Stop> {
    let left = store.get_fuel().map_err(|error| Stop::Internal(error.to_string()))?;
    let quota = &mut store.data_mut().quota;
    quota.calls += 1;
    let spent = quota.fuel_spent(left);
    quota.clock.work(spent.saturating_sub(quota.fuel_seen));
    quota.fuel_seen = quota.fuel_seen.max(spent);
    if spent >= quota.limits.fuel {
        return Err(Stop::OutOfFuel);
    }
    if quota.calls > quota.limits.host_calls_max { Err(Stop::TooManyCalls) } else { Ok(()) }
}
