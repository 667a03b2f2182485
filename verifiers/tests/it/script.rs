//! Scripts that try to take more than their share. Each must end, within its fuel.

use assay_verifiers::script::{SOURCE_BYTES_MAX, Script, push_sample, shared_engine};
use assay_verifiers::{Fault, FaultKind, Meter, Sample};
use rhai::{Dynamic, Scope};
use serde_json::json;

fn run(source: &str, meter: &mut Meter<'_>) -> Result<Dynamic, Fault> {
    let sample = Sample::builder("é, ".repeat(100_000)).reference(json!([1, "a", null])).build();
    let program = Script::compile(source).unwrap();
    let mut scope = Scope::new();
    push_sample(&mut scope, &program, &sample);
    program.run(&shared_engine(), &mut scope, meter)
}

const OUT_OF_FUEL: &[(&str, &str)] = &[
    ("endless loop", "loop {}"),
    ("huge range", "let n = 0; for i in 0..9223372036854775807 { n += i % 2; } n"),
    ("recursion", "fn f(n) { f(n + 1) } f(0)"),
    ("tree of calls", "fn f(n) { if n > 0 { f(n - 1); f(n - 1); f(n - 1); f(n - 1) } } f(15)"),
    ("copies of an array", "let a = []; a.pad(9999, 1); loop { let b = a; }"),
    ("copies of a map", "let m = #{}; for i in 0..500 { m[`${i}`] = i; } loop { let n = m; }"),
    ("reads of a long text", "loop { completion.len() }"),
    ("characters by index", "let n = 0; loop { let c = completion[n % 100000]; n += 1; }"),
    ("comparison of long texts", "let s = completion + \"\"; loop { s == completion }"),
    ("upper case", "loop { completion.to_upper() }"),
    ("upper case of temporaries", "loop { completion.to_upper().to_lower().to_upper() }"),
    ("replacements", "loop { completion.sub_string(0).replace(\"é\", \"e\") }"),
    ("padding from nothing", "loop { let s = \"\"; s.pad(1000000, \"y\"); }"),
    ("padding of arrays", "loop { let a = []; a.pad(10000, \"é\"); }"),
    ("splitting", "let s = completion.sub_string(0, 9000); loop { s.split(\" \"); }"),
    ("characters", "loop { for c in completion.chars() { break; } }"),
    ("searching", "loop { completion.index_of(\"zz\") }"),
    ("interpolation of an array", "let a = []; a.pad(9999, 1.5); loop { `${a}` }"),
    ("printing of nested arrays", "let a = [completion]; loop { a.to_debug() }"),
    (
        "sorting",
        "let a = []; for i in 0..2000 { a.push(i * 7919 % 2003); } loop { let b = a; b.sort(); }",
    ),
    (
        "a comparator without an order",
        "let a = []; for i in 0..2000 { a.push(i); } loop { a.sort(|x, y| 1); a.sort(|x, y| if x % 3 == y % 2 { -1 } else { 1 }); }",
    ),
    ("maps over arrays", "let a = []; a.pad(5000, 1); loop { a.map(|x| x + 1) }"),
    ("reductions", "let a = []; a.pad(5000, 1); loop { a.reduce(|x, y| x, a) }"),
    ("closures that share", "let s = completion; let f = || s.len(); loop { f.call() }"),
    (
        "functions with captured arrays",
        "let a = []; a.pad(9999, 1); let f = || a; loop { f.call() }",
    ),
    (
        "curried arrays",
        "fn g(a) { 1 } let a = []; a.pad(9999, 1); let f = Fn(\"g\").curry(a); loop { f.call() }",
    ),
    ("a caught end", "loop { try { loop { completion.to_upper() } } catch {} }"),
    (
        "deletions from the front",
        "loop { let a = []; a.pad(9999, 1); while a.len() > 0 { a.remove(0); } }",
    ),
    ("comparison of arrays", "let a = []; a.pad(9999, \"x\"); loop { a == a }"),
    ("switch over long texts", "loop { switch completion { \"a\" => 1, _ => 2 } }"),
];

const OUT_OF_MEMORY: &[(&str, &str)] = &[
    ("doubling of a string", "let s = \"aa\"; for i in 0..60 { s += s; } s"),
    ("doubling of an array", "let a = [1]; for i in 0..60 { a += a; } a"),
    ("members of a map", "let m = #{}; for i in 0..100000 { m[`${i}`] = i; } m.len()"),
    ("long texts in an array", "let a = []; for i in 0..9999 { a.push(completion + i); } a.len()"),
    ("long texts in a map", "let m = #{}; for i in 0..9999 { m[`${i}`] = completion + i; } 1"),
    (
        "texts in variables of many calls",
        "fn f(n) { let s = \"\"; s.pad(1000000, 'x'); let a = s + 1; let b = s + 2; let c = s + 3; let d = s + 4; f(n + 1) } f(0)",
    ),
    ("replacement that explodes", "let s = \"\"; s.pad(100000, 'a'); s.replace(\"a\", s); 1"),
    ("padding", "let s = \"\"; s.pad(9223372036854775807, 'a'); 1"),
    ("padding with arrays", "let a = []; a.pad(10000, [1]); 1"),
    ("pieces of a long text", "let s = \"\"; s.pad(1000000, ','); s.split(',').len()"),
    ("characters of a long text", "completion.to_chars().len()"),
    ("nesting", "let a = []; for i in 0..9999 { a = [a]; } a"),
    ("nesting by push", "let a = []; for i in 0..9999 { let b = []; b.push(a); a = b; } a"),
    ("nesting of maps", "let a = #{}; for i in 0..9999 { a = #{ a: a }; } a"),
    (
        "nesting of closures",
        "fn g(a) { 1 } let f = Fn(\"g\"); for i in 0..9999 { f = Fn(\"g\").curry(f); } 1",
    ),
    (
        "a square of arrays",
        "let a = []; a.pad(5000, 1); let b = []; for i in 0..5000 { b.push(a); } 1",
    ),
    ("interpolation that grows", "let s = \"aa\"; for i in 0..60 { s = `${s}${s}`; } s"),
];

const REFUSED: &[(&str, &str)] = &[
    ("blob", "blob(100000000)"),
    ("sleep", "sleep(10)"),
    ("clock", "timestamp()"),
    ("exit", "exit(1)"),
    ("missing variable", "nothing"),
    ("broken JSON", "parse_json(completion)"),
];

fn all_end_with(kinds: &[FaultKind], scripts: &[(&str, &str)]) {
    for (name, source) in scripts {
        let mut meter = Meter::default();
        let fault = run(source, &mut meter).expect_err(name);
        assert!(kinds.contains(&fault.kind), "{name}: {fault}");
    }
}

#[test]
fn time_is_bounded_by_fuel() {
    all_end_with(&[FaultKind::OutOfFuel, FaultKind::Trap], OUT_OF_FUEL);
}

#[test]
fn memory_is_bounded() {
    all_end_with(&[FaultKind::OutOfMemory, FaultKind::OutOfFuel], OUT_OF_MEMORY);
}

#[test]
fn what_reaches_outside_is_not_there() {
    all_end_with(&[FaultKind::Trap], REFUSED);
    for source in ["eval(\"1\")", "import \"x\" as y;", "fn f() { this } f()"] {
        assert!(Script::compile(source).is_err(), "{source}");
    }
    assert!(Script::compile(&" ".repeat(SOURCE_BYTES_MAX + 1)).is_err());
}

#[test]
fn a_run_takes_the_same_fuel_every_time_and_no_more_than_the_meter_holds() {
    let source =
        "let n = 0; for word in completion.sub_string(0, 900).split() { n += word.len() } n";
    let (mut one, mut two) = (Meter::default(), Meter::default());
    assert_eq!(run(source, &mut one).unwrap().as_int().unwrap(), 600);
    assert!(run(source, &mut two).is_ok());
    assert_eq!(one.spent(), two.spent());
    let mut short = Meter::new(one.spent() - 1);
    assert_eq!(run(source, &mut short).unwrap_err().kind, FaultKind::OutOfFuel);
}
