//! Components apart and joined, side by side.

use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store};

use super::join;

/// Two libraries that share a memory, a table and globals, as a linker of shared libraries lays
/// them out; a shim for a host function that needs their memory, and the module that fills it.
const LIBRARIES: &str = r#"
(component
  (import "twice" (func $twice (param "text" string) (result u32)))
  (core module $main
    (memory (export "memory") 1)
    (table (export "table") 4 funcref)
    (global (export "base") i32 (i32.const 1))
    (global (export "address") (mut i32) (i32.const 64))
    (global (export "counter") (mut i32) (i32.const 100))
    (data (i32.const 64) "\05\00\00\00"))
  (core module $a
    (import "env" "memory" (memory 1))
    (import "env" "table" (table 4 funcref))
    (import "env" "base" (global $base i32))
    (import "env" "counter" (global $counter (mut i32)))
    (global $next i32 (i32.add (global.get $base) (i32.const 1)))
    (func $five (export "five") (result i32)
      (global.set $counter (i32.add (global.get $counter) (i32.const 1)))
      (i32.load (i32.const 64)))
    (func $counted (result i32) (global.get $counter))
    (func (export "next") (result i32) (global.get $next))
    (func (export "unused") (result i32) (call $five))
    (elem (global.get $base) func $five $counted))
  (core module $shim
    (table (export "calls") 1 funcref)
    (type $call (func (param i32 i32) (result i32)))
    (func (export "twice") (param i32 i32) (result i32)
      (call_indirect (type $call) (local.get 0) (local.get 1) (i32.const 0))))
  (core module $b
    (import "env" "memory" (memory 1))
    (import "env" "table" (table 4 funcref))
    (import "env" "base" (global $base i32))
    (import "env" "address" (global $address (mut i32)))
    (import "a" "five" (func $five (result i32)))
    (import "a" "next" (func $next (result i32)))
    (import "host" "twice" (func $twice (param i32 i32) (result i32)))
    (type $number (func (result i32)))
    (func (export "sum") (param $with i32) (result i32)
      (i32.add
        (i32.add
          (call $five)
          (i32.load (global.get $address)))
        (i32.add
          (i32.add
            (call_indirect (type $number) (i32.add (global.get $base) (i32.const 1)))
            (call_indirect (type $number) (global.get $base)))
          (i32.add (call $next)
            (i32.add (local.get $with) (call $twice (i32.const 64) (i32.const 3))))))))
  (core module $fill
    (import "" "calls" (table 1 funcref))
    (import "" "twice" (func $twice (param i32 i32) (result i32)))
    (elem (i32.const 0) func $twice))
  (core instance $main (instantiate $main))
  (core instance $a (instantiate $a (with "env" (instance $main))))
  (core instance $shim (instantiate $shim))
  (alias core export $main "memory" (core memory $memory))
  (core func $lowered (canon lower (func $twice) (memory $memory)))
  (alias core export $shim "twice" (core func $called))
  (core instance $host (export "twice" (func $called)))
  (core instance $b (instantiate $b
    (with "env" (instance $main)) (with "a" (instance $a)) (with "host" (instance $host))))
  (alias core export $shim "calls" (core table $calls))
  (core instance $given (export "calls" (table $calls)) (export "twice" (func $lowered)))
  (core instance (instantiate $fill (with "" (instance $given))))
  (func (export "sum") (param "with" u32) (result u32) (canon lift (core func $b "sum"))))
"#;

/// What `sum` gives when it is called twice, in one instance.
fn sums(component: &[u8]) -> wasmtime::Result<Vec<u32>> {
    let engine = Engine::default();
    let component = Component::from_binary(&engine, component)?;
    let mut linker = Linker::new(&engine);
    linker.root().func_wrap("twice", |_, (text,): (String,)| {
        Ok((u32::try_from(text.len() * 2).unwrap_or(0),))
    })?;
    let mut store = Store::new(&engine, ());
    let instance = linker.instantiate(&mut store, &component)?;
    let sum = instance.get_typed_func::<(u32,), (u32,)>(&mut store, "sum")?;
    [1, 2].into_iter().map(|with| Ok(sum.call(&mut store, (with,))?.0)).collect()
}

fn modules(component: &[u8]) -> usize {
    let payloads = wasmparser::Parser::new(0).parse_all(component);
    payloads
        .filter(|payload| matches!(payload, Ok(wasmparser::Payload::ModuleSection { .. })))
        .count()
}

#[test]
fn joined_libraries_do_what_they_did() {
    let apart = wat::parse_str(LIBRARIES).unwrap();
    let joined = join(&apart).unwrap();
    // Five, five at the address, the counter after one call, five, the table's next, with, twice 3.
    let expected = vec![5 + 5 + 101 + 5 + 2 + 1 + 6, 5 + 5 + 103 + 5 + 2 + 2 + 6];
    assert_eq!(sums(&apart).unwrap(), expected);
    assert_eq!(sums(&joined).unwrap(), expected);
    // The one that fills the table of calls waits for a function that needs the memory.
    assert_eq!((modules(&apart), modules(&joined)), (5, 2));
    assert_eq!(join(&apart).unwrap(), joined);
}

#[test]
fn constants_are_folded_where_nothing_writes_them() {
    let joined = join(&wat::parse_str(LIBRARIES).unwrap()).unwrap();
    let mut read = 0;
    for payload in wasmparser::Parser::new(0).parse_all(&joined) {
        if let Ok(wasmparser::Payload::CodeSectionEntry(body)) = payload {
            let operators = body.get_operators_reader().unwrap().into_iter();
            read += operators
                .filter(|operator| matches!(operator, Ok(wasmparser::Operator::GlobalGet { .. })))
                .count();
        }
    }
    // The counter, where it is written and where it is told.
    assert_eq!(read, 2);
}

#[test]
fn what_cannot_be_joined_is_told() {
    let starts = "(component
        (core module $early (func $start) (start $start))
        (core module $late)
        (core instance (instantiate $early))
        (core instance (instantiate $late)))";
    let twice = "(component
        (core module $one)
        (core instance (instantiate $one))
        (core instance (instantiate $one)))";
    let module = "(module)";
    for (text, why) in [
        (starts, "a core module has a start function"),
        (twice, "a core module is instantiated twice"),
        (module, "not a component"),
    ] {
        let error = join(&wat::parse_str(text).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), why);
    }
    assert!(join(b"\0asm").is_err());
    assert!(join(b"").is_err());
}

#[test]
fn damaged_components_are_errors_or_stay_valid() {
    let whole = wat::parse_str(LIBRARIES).unwrap();
    for cut in 0..whole.len() {
        assert_valid_or_refused(&whole[..cut]);
    }
    for at in 8..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x11;
        assert_valid_or_refused(&damaged);
    }
}

/// What can be joined gives a component that the engine takes, if it took it before.
fn assert_valid_or_refused(component: &[u8]) {
    let is_valid = |bytes: &[u8]| wasmparser::Validator::new().validate_all(bytes).is_ok();
    if let Ok(joined) = join(component) {
        assert!(is_valid(&joined) || !is_valid(component), "{component:?}");
    }
}
