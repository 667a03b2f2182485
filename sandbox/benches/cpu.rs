//! Python that computes: the guest beside `python3`, and what metering costs. The same component is
//! compiled without metering, with an epoch check, and with fuel; eight programs run on each.
//! `make assets`, then `cargo bench -p assay-sandbox --bench cpu`.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench stops at what it does not expect")]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use assay_sandbox::runtime::WASM_STACK_BYTES;
use assay_sandbox::value::{PyValue, marshal};
use wasmtime::component::{Component, InstancePre, Linker, ResourceTable};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

const PROGRAMS: [(&str, &str); 8] = [
    ("calls", "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(25)"),
    ("loops", "t = 0\nfor i in range(1000):\n    for j in range(1000):\n        t += i * j"),
    ("dictionary", "d = {}\nfor i in range(400000):\n    d[i % 5000] = d.get(i % 5000, 0) + i"),
    ("sort", "import random\nrandom.seed(1)\nsorted(random.random() for _ in range(200000))"),
    ("strings", "''.join(str(i) for i in range(300000)).count('99')"),
    (
        "sieve",
        "n = 2000000\ns = bytearray([1]) * n\nfor i in range(2, 1415):\n    if s[i]:\n        s[i*i::i] = bytes(len(range(i*i, n, i)))",
    ),
    ("integers", "x = 3 ** 60000\nfor _ in range(20):\n    x * x"),
    (
        "expressions",
        "import re\nre.findall(r'(\\w+)@(\\w+)\\.com', 'someone@example.com, ' * 20000)",
    ),
];

struct Host {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for Host {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Metering {
    None,
    Epoch,
    Fuel,
}

fn guest(wasm: &[u8], metering: Metering) -> InstancePre<Host> {
    let mut config = Config::new();
    config
        .consume_fuel(metering == Metering::Fuel)
        .epoch_interruption(metering == Metering::Epoch)
        .cranelift_nan_canonicalization(true)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(2 * WASM_STACK_BYTES);
    let engine = Engine::new(&config).unwrap();
    let component = Component::from_binary(&engine, wasm).unwrap();
    let mut linker = Linker::new(&engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker).unwrap();
    linker.root().func_wrap("invoke", |_, (message,): (Vec<u8>,)| Ok((message,))).unwrap();
    linker.instantiate_pre(&component).unwrap()
}

/// Milliseconds that a program takes, the best of five, without the start of its interpreter.
fn in_guest(guest: &InstancePre<Host>, metering: Metering, source: &str) -> f64 {
    let once = || {
        let wasi = WasiCtx::builder().build();
        let mut store = Store::new(guest.engine(), Host { wasi, table: ResourceTable::new() });
        match metering {
            Metering::None => {}
            Metering::Epoch => store.set_epoch_deadline(1 << 40),
            Metering::Fuel => store.set_fuel(u64::MAX).unwrap(),
        }
        let instance = guest.instantiate(&mut store).unwrap();
        let call = instance.get_typed_func::<(Vec<u8>,), (Vec<u8>,)>(&mut store, "call").unwrap();
        let text = |text: &str| PyValue::Str(text.as_bytes().to_vec());
        let request = PyValue::Tuple(vec![text("run"), text(source), PyValue::Int(0.into())]);
        let start = Instant::now();
        call.call(&mut store, (marshal::encode(&request),)).unwrap();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// The same of `python3`, which tells its own time.
fn native(source: &str) -> f64 {
    const TIMED: &str = "import sys, time\ncode = compile(sys.argv[1], 'p', 'exec')\n\
        start = time.perf_counter()\nexec(code, {})\nprint((time.perf_counter() - start) * 1e3)";
    let once = || {
        let out = Command::new("python3").args(["-I", "-c", TIMED, source]).output().unwrap();
        String::from_utf8(out.stdout).unwrap().trim().parse::<f64>().unwrap()
    };
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let wasm = std::fs::read(root.join("target/assets/python.wasm")).unwrap();
    let metered = [Metering::None, Metering::Epoch, Metering::Fuel];
    let guests = metered.map(|metering| (metering, guest(&wasm, metering)));
    println!(
        "{:14}{:>12}{:>12}{:>10}{:>10}{:>10}",
        "", "python3 ms", "guest ms", "ratio", "epoch", "fuel"
    );
    let mut logs = [0.0; 3];
    for (name, source) in PROGRAMS {
        let native = native(source);
        let times = guests.each_ref().map(|(metering, guest)| in_guest(guest, *metering, source));
        let [plain, epoch, fuel] = times;
        println!(
            "{name:14}{native:12.1}{plain:12.1}{:10.2}{:9.0}%{:9.0}%",
            plain / native,
            (epoch / plain - 1.0) * 100.0,
            (fuel / plain - 1.0) * 100.0
        );
        for (log, ratio) in logs.iter_mut().zip([plain / native, epoch / plain, fuel / plain]) {
            *log += ratio.ln() / 8.0;
        }
    }
    let [ratio, epoch, fuel] = logs.map(f64::exp);
    println!(
        "{:14}{:12}{:12}{ratio:10.2}{:9.0}%{:9.0}%",
        "geometric mean",
        "",
        "",
        (epoch - 1.0) * 100.0,
        (fuel - 1.0) * 100.0
    );
}
