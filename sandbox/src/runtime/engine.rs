//! The wasmtime engine: how guests are compiled, and where their instances lie.

use smart_default::SmartDefault;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
};

use super::cache_model;
use super::limits::TABLE_ELEMENTS_MAX;

/// What a guest's native stack has beyond what wasm may use of it: the host's part.
const HOST_STACK_BYTES: usize = 2 << 20;
/// `CPython` limits recursion by another stack, of 8 MiB in its own memory. This one must be large enough
/// for that limit to be reached first: otherwise freeing a long list of linked objects traps. Compiled
/// programs recurse over graphs of a million nodes.
pub const WASM_STACK_BYTES: usize = 256 << 20;
/// Bytes of a native stack that stay mapped between two guests.
const STACK_BYTES_KEPT: usize = 64 << 10;

/// How a [`Runtime`] is set up.
#[derive(Clone, SmartDefault)]
pub struct Options {
    /// The most guests that live at once. Address space is set aside for each; memory is not.
    #[default(128)]
    pub guests_max: u32,
    /// The folder that keeps compiled guests; without one they are compiled in every process.
    pub compiled: Option<PathBuf>,
    /// Told of work that takes seconds, before it starts.
    pub notice: Option<CompileNotice>,
}

/// Takes a line of progress for the user.
pub type CompileNotice = Arc<dyn Fn(&str) + Send + Sync>;

/// Why a sandbox cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// This machine cannot run guests.
    #[error("the sandbox cannot start: {0}")]
    Engine(String),
    /// The bytes are no guest of the kind that was asked for.
    #[error("guest {name}: {why}")]
    Guest {
        /// What the guest is called.
        name: String,
        /// What is wrong with it.
        why: String,
    },
}

/// One wasmtime engine. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    engine: Engine,
    compiled: Option<Arc<Path>>,
    notice: Option<CompileNotice>,
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Runtime")
    }
}

impl Runtime {
    /// Sets up the engine.
    ///
    /// # Errors
    /// A machine that cannot run compiled WebAssembly.
    pub fn new(options: &Options) -> Result<Self, SandboxError> {
        Self::set_up(options, Compilation::Parallel)
    }

    /// The same, for programs that are compiled while samples are judged.
    ///
    /// # Errors
    /// A machine that cannot run compiled WebAssembly.
    pub fn serial(options: &Options) -> Result<Self, SandboxError> {
        Self::set_up(options, Compilation::Serial)
    }

    fn set_up(options: &Options, compilation: Compilation) -> Result<Self, SandboxError> {
        let engine = |strategy| Engine::new(&config(strategy, compilation));
        let pooled = engine(InstanceAllocationStrategy::Pooling(pool(options.guests_max)));
        // Where the address space is limited there is no room for a pool.
        let engine = pooled
            .or_else(|_| engine(InstanceAllocationStrategy::OnDemand))
            .map_err(|error| SandboxError::Engine(format!("{error:#}")))?;
        let compiled = options.compiled.as_deref().map(Arc::from);
        Ok(Self { engine, compiled, notice: options.notice.clone() })
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The same engine, which keeps nothing that it compiles.
    #[cfg(feature = "c")]
    pub(crate) fn forgetful(self) -> Self {
        Self { compiled: None, ..self }
    }

    pub(super) fn compiled(&self) -> Option<&Path> {
        self.compiled.as_deref()
    }

    pub(super) fn notice(&self, line: &str) {
        if let Some(notice) = &self.notice {
            notice(line);
        }
    }
}

/// What processors of x86-64-v3 have beyond the baseline of the architecture: those of servers, since
/// 2013. The engine refuses code that needs what the machine has not.
const X86_64_V3: [&str; 11] = assay_verifiers::words::list(
    "has_sse3 has_ssse3 has_sse41 has_sse42 has_popcnt has_avx has_avx2 has_fma has_bmi1 has_bmi2 \
     has_lzcnt",
);

/// An engine that compiles for other machines of this architecture and runs nothing.
pub(super) fn portable() -> Result<Engine, SandboxError> {
    let mut config = config(InstanceAllocationStrategy::OnDemand, Compilation::Parallel);
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let engine = config.target(&target).and_then(|config| {
        if std::env::consts::ARCH == "x86_64" {
            for flag in X86_64_V3 {
                // SAFETY: what is compiled is loaded by engines that check each flag.
                #[expect(unsafe_code, reason = "nothing runs on this engine")]
                unsafe {
                    config.cranelift_flag_enable(flag);
                }
            }
        }
        Engine::new(config)
    });
    engine.map_err(|error| SandboxError::Engine(format!("{error:#}")))
}

/// How a guest is compiled. A thread of the pool that waits for others takes up another sample meanwhile,
/// which may wait for the one it came from: what samples bring is compiled by their own thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compilation {
    Parallel,
    Serial,
}

fn config(strategy: InstanceAllocationStrategy, compilation: Compilation) -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .operator_cost(cache_model::costs())
        .cranelift_opt_level(OptLevel::Speed)
        // The same bytes on every machine.
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(WASM_STACK_BYTES + HOST_STACK_BYTES)
        .async_stack_zeroing(true)
        .parallel_compilation(compilation == Compilation::Parallel)
        .memory_init_cow(true)
        // LLVM's libunwind takes frames back one by one, at the end of the process. Nobody unwinds
        // through guests: backtraces of wasm are off, and a trap does not unwind.
        .native_unwind_info(false)
        .wasm_backtrace_max_frames(None)
        .allocation_strategy(strategy);
    config
}

fn pool(guests_max: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(guests_max)
        .total_core_instances(guests_max.saturating_mul(32))
        .total_memories(guests_max.saturating_mul(2))
        .total_tables(guests_max.saturating_mul(4))
        .total_stacks(guests_max)
        .async_stack_keep_resident(STACK_BYTES_KEPT)
        .max_core_instances_per_component(64)
        .max_memories_per_component(2)
        .max_memories_per_module(2)
        .max_tables_per_component(8)
        .max_tables_per_module(4)
        .max_component_instance_size(4 << 20)
        .max_core_instance_size(4 << 20)
        .table_elements(TABLE_ELEMENTS_MAX)
        .max_memory_size(4 << 30)
        .max_unused_warm_slots(guests_max.min(16));
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        // Only the pages that a guest touched are set back, and they stay mapped for the next.
        pool.pagemap_scan(Enabled::Yes)
            .linear_memory_keep_resident(8 << 20)
            .table_keep_resident(1 << 20);
    }
    pool
}
