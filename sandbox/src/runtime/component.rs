//! Guests that are components: they export `call`, and may import `invoke`.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use assay_verifiers::Digest;
use sha2::{Digest as _, Sha256};
use smart_default::SmartDefault;
use wasmtime::component::{Component, InstancePre, Linker, Resource, ResourceTable, TypedFunc};
use wasmtime::{Store, StoreContextMut};
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView, async_trait};

use super::clock::GuestClock;
use super::compiled;
use super::engine::{Runtime, SandboxError};
use super::files::MemoryFiles;
use super::files::component as files;
use super::limits::{Limits, Stop};
use super::record::RunRecord;
use super::state::{Host, Quota, metered, record};

/// The interface whose sleeping functions are replaced by ones that return at once.
const MONOTONIC_CLOCK: &str = "wasi:clocks/monotonic-clock@0.2.12";

/// The answer to a call that a guest makes.
pub type Invoked = Pin<Box<dyn Future<Output = Result<Vec<u8>, Stop>> + Send>>;
/// Answers a guest that calls out. An error ends the guest that called.
pub type Invoke = Box<dyn FnMut(Vec<u8>) -> Invoked + Send>;

/// A compiled component, ready to be instantiated. Cheap to clone.
#[derive(Clone)]
pub struct Guest {
    runtime: Runtime,
    pre: InstancePre<State>,
    digest: Digest,
    prelude: Option<Arc<[u8]>>,
}

/// What an instance starts with.
#[derive(SmartDefault)]
pub struct Setup {
    /// What it may use.
    pub limits: Limits,
    /// Its clock, which instances may share.
    #[default(GuestClock::new())]
    pub clock: GuestClock,
    /// What its random numbers are drawn from.
    pub seed: u64,
    /// Its standard input.
    pub stdin: Vec<u8>,
    /// Its files; without any, nothing can be opened.
    pub files: Option<MemoryFiles>,
    /// Answers its calls. Without it, a call ends the instance.
    pub invoke: Option<Invoke>,
}

/// A running guest. It is never used for more than one task.
pub struct Instance {
    store: Store<State>,
    call: TypedFunc<(Vec<u8>,), (Vec<u8>,)>,
    stopped: Option<Stop>,
}

/// The state of a component.
pub(super) type State = Host<Wasi>;

/// What a component imports.
pub(super) struct Wasi {
    ctx: WasiCtx,
    table: ResourceTable,
    files: Option<MemoryFiles>,
    invoke: Option<Invoke>,
}

impl State {
    pub(super) fn new(setup: Setup) -> Self {
        let Setup { limits, clock, seed, stdin, files, invoke } = setup;
        let quota = Quota::new(limits, clock);
        let ctx = quota.wasi(stdin, seed).build();
        Self { quota, wasi: Wasi { ctx, table: ResourceTable::new(), files, invoke } }
    }

    fn sleep(&mut self, ns: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.quota.sleep(ns)?;
        let slept = self.wasi.table.push(Slept)?;
        subscribe(&mut self.wasi.table, slept)
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi.ctx, table: &mut self.wasi.table }
    }
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guest")
    }
}

impl Guest {
    /// Compiles a component, or takes its compiled form from where the runtime keeps them. `name`
    /// is for messages.
    ///
    /// # Errors
    /// Bytes that are no component, or one that asks for more than a guest is given.
    pub fn load(runtime: &Runtime, name: &str, wasm: &[u8]) -> Result<Self, SandboxError> {
        let digest = Sha256::digest(wasm).into();
        let component = compiled::load(&compiled::COMPONENT, runtime, wasm, &digest);
        component.and_then(|component| Self::of(runtime, &component, digest)).map_err(refused(name))
    }

    /// The same of a file, whose compiled form may lie beside it. It is not read where its compiled
    /// form is known and it has not changed.
    ///
    /// # Errors
    /// As [`Guest::load`], and a file that cannot be read.
    pub fn open(runtime: &Runtime, name: &str, path: &Path) -> Result<Self, SandboxError> {
        compiled::open(&compiled::COMPONENT, runtime, path)
            .and_then(|(component, digest)| Self::of(runtime, &component, digest))
            .map_err(refused(name))
    }

    fn of(runtime: &Runtime, component: &Component, digest: Digest) -> wasmtime::Result<Self> {
        let pre = linker(runtime)?.instantiate_pre(component)?;
        Ok(Self { runtime: runtime.clone(), pre, digest, prelude: None })
    }

    /// SHA-256 of the WebAssembly bytes.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The same guest, of which every instance is handed this message first.
    #[must_use]
    pub fn with_prelude(self, message: Vec<u8>) -> Self {
        Self { prelude: Some(message.into()), ..self }
    }

    /// Starts a fresh instance.
    ///
    /// # Errors
    /// What stopped it while it started.
    pub async fn start(&self, setup: Setup) -> Result<Instance, Stop> {
        let mut instance = self.instance(setup).await?;
        if let Some(message) = &self.prelude {
            instance.call(message.to_vec()).await?;
        }
        Ok(instance)
    }

    async fn instance(&self, setup: Setup) -> Result<Instance, Stop> {
        let mut store = metered(&self.runtime, State::new(setup))?;
        let started = self.pre.instantiate_async(&mut store).await;
        let call = match started {
            Ok(instance) => instance.get_typed_func(&mut store, "call"),
            Err(error) => Err(error),
        };
        match call {
            Ok(call) => Ok(Instance { store, call, stopped: None }),
            Err(error) => Err(match store.data().quota.stop(&error) {
                Stop::Trap(why) => Stop::Internal(why),
                stop => stop,
            }),
        }
    }
}

impl Instance {
    /// Hands the guest a message and waits for its reply.
    ///
    /// # Errors
    /// What stopped it. A stopped instance cannot be called again: it gives the same answer.
    pub async fn call(&mut self, message: Vec<u8>) -> Result<Vec<u8>, Stop> {
        if let Some(stop) = &self.stopped {
            return Err(stop.clone());
        }
        match self.call.call_async(&mut self.store, (message,)).await {
            Ok((reply,)) => Ok(reply),
            Err(error) => {
                let stop = self.store.data().quota.stop(&error);
                self.stopped = Some(stop.clone());
                Err(stop)
            }
        }
    }

    /// What it has used so far, and the output that was not taken yet.
    pub fn record(&self) -> RunRecord {
        record(&self.store)
    }
}

/// Why a guest cannot be loaded.
pub(super) fn refused(name: &str) -> impl FnOnce(wasmtime::Error) -> SandboxError {
    |error| SandboxError::Guest { name: name.to_owned(), why: format!("{error:#}") }
}

pub(super) fn linker(runtime: &Runtime) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(runtime.engine());
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    linker.allow_shadowing(true);
    files::add_to_linker(&mut linker, |state: &mut State| files::View {
        files: state.wasi.files.as_ref(),
        table: &mut state.wasi.table,
    })?;
    let mut clock = linker.instance(MONOTONIC_CLOCK)?;
    clock.func_wrap(
        "subscribe-instant",
        |mut store: StoreContextMut<'_, State>, (when,): (u64,)| {
            let ns = when.saturating_sub(store.data().quota.clock.now_ns());
            Ok((store.data_mut().sleep(ns)?,))
        },
    )?;
    clock.func_wrap(
        "subscribe-duration",
        |mut store: StoreContextMut<'_, State>, (ns,): (u64,)| Ok((store.data_mut().sleep(ns)?,)),
    )?;
    linker.root().func_wrap_async(
        "invoke",
        |mut store: StoreContextMut<'_, State>, (message,)| {
            Box::new(async move {
                let invoke = store.data_mut().wasi.invoke.as_mut();
                let invoke = invoke.ok_or_else(|| Stop::Trap("nobody answers".to_owned()))?;
                Ok((invoke(message).await?,))
            })
        },
    )?;
    Ok(linker)
}

/// Ready at once: the guest's own clock was advanced by the sleep.
struct Slept;

#[async_trait]
impl Pollable for Slept {
    async fn ready(&mut self) {}
}
