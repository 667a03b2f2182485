//! Guests that are programs: core modules for `wasm32-wasi` (WASI preview 1) with `_start`.

use std::path::Path;

use assay_verifiers::Digest;
use sha2::{Digest as _, Sha256};
use wasmtime::{Caller, Extern, InstancePre, Linker, Module};
use wasmtime_wasi::p1;

use super::clock::GuestClock;
use super::compiled;
use super::component::refused;
use super::engine::{Runtime, SandboxError};
use super::files::MemoryFiles;
use super::files::program as files;
use super::limits::{Limits, Stop};
use super::record::Run;
use super::state::{Host, Quota, metered, record};

/// The state of a program.
type Process = Host<files::Process>;

/// A compiled program. Cheap to clone.
#[derive(Clone)]
pub struct Program {
    runtime: Runtime,
    pre: InstancePre<Process>,
    digest: Digest,
}

/// What a program starts with.
#[derive(Default)]
pub struct Start {
    /// What it may use.
    pub limits: Limits,
    /// What its random numbers are drawn from.
    pub seed: u64,
    /// Its standard input.
    pub stdin: Vec<u8>,
    /// Its arguments, the name of the program first.
    pub args: Vec<String>,
    /// Its files; without any, nothing can be opened.
    pub files: Option<MemoryFiles>,
}

impl Program {
    /// Compiles a module, or takes its compiled form from where the runtime keeps them. `name` is
    /// for messages.
    ///
    /// # Errors
    /// Bytes that are no module, or one that asks for more than WASI.
    pub fn load(runtime: &Runtime, name: &str, wasm: &[u8]) -> Result<Self, SandboxError> {
        let digest = Sha256::digest(wasm).into();
        let module = compiled::load(&compiled::MODULE, runtime, wasm, &digest);
        module.and_then(|module| Self::of(runtime, &module, digest)).map_err(refused(name))
    }

    /// The same of a file, whose compiled form may lie beside it. It is not read where its compiled
    /// form is known and it has not changed.
    ///
    /// # Errors
    /// As [`Program::load`], and a file that cannot be read.
    pub fn open(runtime: &Runtime, name: &str, path: &Path) -> Result<Self, SandboxError> {
        compiled::open(&compiled::MODULE, runtime, path)
            .and_then(|(module, digest)| Self::of(runtime, &module, digest))
            .map_err(refused(name))
    }

    fn of(runtime: &Runtime, module: &Module, digest: Digest) -> wasmtime::Result<Self> {
        let pre = linker(runtime)?.instantiate_pre(module)?;
        Ok(Self { runtime: runtime.clone(), pre, digest })
    }

    /// SHA-256 of the WebAssembly bytes.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Runs the program in a fresh instance.
    ///
    /// # Errors
    /// [`Stop::Internal`] where it could not be started at all.
    pub async fn run(&self, start: Start) -> Result<Run, Stop> {
        let quota = Quota::new(start.limits, GuestClock::new());
        let wasi = quota.wasi(start.stdin, start.seed).args(&start.args).build_p1();
        let wasi = files::Process::new(wasi, start.files.as_ref());
        let wasi = wasi.map_err(|error| Stop::Internal(error.to_string()))?;
        let mut store = metered(&self.runtime, Host { quota, wasi })?;
        let end = match self.pre.instantiate_async(&mut store).await {
            Ok(instance) => match instance.get_typed_func::<(), ()>(&mut store, "_start") {
                Ok(main) => main.call_async(&mut store, ()).await,
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        let end = match end.map_err(|error| store.data().quota.stop(&error)) {
            Ok(()) => Ok(0),
            Err(Stop::Exit(code)) => Ok(code),
            Err(stop) => Err(stop),
        };
        Ok(Run { end, used: record(&store) })
    }
}

fn linker(runtime: &Runtime) -> wasmtime::Result<Linker<Process>> {
    let mut linker = Linker::new(runtime.engine());
    p1::add_to_linker_async(&mut linker, |process: &mut Process| &mut process.wasi.ctx)?;
    linker.allow_shadowing(true);
    files::add_to_linker(&mut linker, |process: &mut Process| &mut process.wasi)?;
    linker.func_wrap("wasi_snapshot_preview1", "poll_oneoff", poll)?;
    Ok(linker)
}

/// `poll_oneoff` on the guest's own clock: files are always ready, and a sleep is over at once.
fn poll(
    mut caller: Caller<'_, Process>,
    subscriptions: u32,
    events: u32,
    count: u32,
    ready: u32,
) -> wasmtime::Result<u32> {
    const ERRNO_INVAL: u32 = 28;
    const ERRNO_FAULT: u32 = 21;
    if count == 0 || count > 1 << 10 {
        return Ok(ERRNO_INVAL);
    }
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
        return Ok(ERRNO_FAULT);
    };
    let now = caller.data().quota.clock.now_ns();
    let mut asked = Vec::new();
    for at in 0..u64::from(count) {
        let mut bytes = [0; Subscription::BYTES];
        let from = u64::from(subscriptions) + at * Subscription::BYTES as u64;
        if memory.read(&caller, usize::try_from(from)?, &mut bytes).is_err() {
            return Ok(ERRNO_FAULT);
        }
        asked.push(Subscription::read(&bytes, now));
    }
    let wait = asked.iter().map(|one| one.wait_ns).min().unwrap_or(0);
    caller.data_mut().quota.sleep(wait)?;
    let (mut to, mut written) = (u64::from(events), 0_u32);
    for one in asked.iter().filter(|one| one.wait_ns <= wait) {
        let event = one.event();
        if memory.write(&mut caller, usize::try_from(to)?, &event).is_err() {
            return Ok(ERRNO_FAULT);
        }
        to += event.len() as u64;
        written += 1;
    }
    let stored = memory.write(&mut caller, usize::try_from(ready)?, &written.to_le_bytes());
    Ok(if stored.is_ok() { 0 } else { ERRNO_FAULT })
}

/// One thing that a guest waits for, as WASI lays it out in memory.
struct Subscription {
    userdata: [u8; 8],
    kind: u8,
    wait_ns: u64,
}

impl Subscription {
    const BYTES: usize = 48;
    const CLOCK: u8 = 0;

    #[expect(clippy::indexing_slicing, reason = "32 bytes are fewer than these")]
    fn read(bytes: &[u8; Self::BYTES], now: u64) -> Self {
        let eight = |from: usize| std::array::from_fn(|at| bytes[from + at]);
        let (kind, is_absolute) = (bytes[8], bytes[40] & 1 == 1);
        let timeout = u64::from_le_bytes(eight(24));
        let wait_ns = match kind {
            Self::CLOCK if is_absolute => timeout.saturating_sub(now),
            Self::CLOCK => timeout,
            _ => 0,
        };
        Self { userdata: eight(0), kind, wait_ns }
    }

    fn event(&self) -> [u8; 32] {
        let mut event = [0; 32];
        if let Some(head) = event.first_chunk_mut() {
            *head = self.userdata;
        }
        if let Some(kind) = event.get_mut(10) {
            *kind = self.kind;
        }
        event
    }
}
