//! What the code of a guest may ask of the compiler.
//!
//! At each branch of a function its compiler looks at every local, and at every value that a block or a
//! call takes and gives. So its time and memory grow with the branches times those values, not with the
//! bytes of the file: without a bound, 200 kB take 17 seconds and 2.4 GB.

use wasmparser::{BlockType, FuncType, FunctionBody, Operator, Parser, Payload};

use super::signatures::Signatures;

/// The longest function, in bytes. The longest of a plugin in Python has 427 kB.
const FUNCTION_BYTES_MAX: u64 = 512 << 10;
/// Values at the branches and calls of one function. A plugin in Python has one of 0.2 million.
const FUNCTION_VALUES_MAX: u64 = 1 << 20;
/// The same of all functions together. Those of a plugin in Python have 4 million.
const VALUES_MAX: u64 = 1 << 24;
/// Functions, of which a plugin in Python has 13,000: each takes 8 kB and more to compile.
const FUNCTIONS_MAX: u64 = 1 << 15;

/// Refuses code that would take too long to compile. What is not WebAssembly is for the compiler to
/// refuse.
pub(super) fn check(wasm: &[u8]) -> Result<(), String> {
    let (mut module, mut functions, mut values) = (Module::default(), 0_u64, 0_u64);
    for payload in Parser::new(0).parse_all(wasm).map_while(Result::ok) {
        match payload {
            Payload::Version { .. } => module = Module::default(),
            Payload::CodeSectionEntry(body) => {
                let bytes = body.as_bytes().len() as u64;
                at_most("a function has", bytes, "bytes", FUNCTION_BYTES_MAX)?;
                functions += 1;
                at_most("it has", functions, "functions", FUNCTIONS_MAX)?;
                let own = module.values(&body);
                at_most("a function has", own, "values at its branches", FUNCTION_VALUES_MAX)?;
                values = values.saturating_add(own);
                at_most("its functions have", values, "values at their branches", VALUES_MAX)?;
            }
            payload => module.signatures.read(&payload).unwrap_or_default(),
        }
    }
    Ok(())
}

fn at_most(of: &str, found: u64, what: &str, most: u64) -> Result<(), String> {
    if found <= most {
        return Ok(());
    }
    Err(format!("{of} {found} {what}; at most {most} are allowed"))
}

/// A module, as far as it was read.
#[derive(Default)]
struct Module {
    signatures: Signatures,
    /// Bodies that were read.
    bodies: usize,
}

impl Module {
    /// Values at the branches and calls of the next function: those of a call, and for each way that a
    /// branch may go, the locals and what the largest block takes and gives. Reading ends where the body
    /// is not WebAssembly.
    fn values(&mut self, body: &FunctionBody<'_>) -> u64 {
        let (params, results) =
            arity(self.signatures.of_function(self.signatures.index(self.bodies)));
        self.bodies += 1;
        let locals = body.get_locals_reader().into_iter().flatten().map_while(Result::ok);
        let locals = params + locals.map(|(count, _)| u64::from(count)).sum::<u64>();
        let (mut ways, mut carried, mut called) = (0_u64, results, 0_u64);
        let operators = body.get_operators_reader().into_iter().flatten();
        for operator in operators.map_while(Result::ok) {
            match operator {
                Operator::Block { blockty }
                | Operator::Loop { blockty }
                | Operator::If { blockty }
                | Operator::TryTable { try_table: wasmparser::TryTable { ty: blockty, .. } } => {
                    ways += 1;
                    carried = carried.max(self.of_block(blockty));
                }
                Operator::BrTable { targets } => ways += 1 + u64::from(targets.len()),
                Operator::Else
                | Operator::Br { .. }
                | Operator::BrIf { .. }
                | Operator::BrOnNull { .. }
                | Operator::BrOnNonNull { .. }
                | Operator::Return => ways += 1,
                Operator::Call { function_index: at }
                | Operator::ReturnCall { function_index: at } => {
                    let (params, results) = arity(self.signatures.of_function(at as usize));
                    called = called.saturating_add(params + results);
                }
                Operator::CallIndirect { type_index: at, .. }
                | Operator::ReturnCallIndirect { type_index: at, .. }
                | Operator::CallRef { type_index: at }
                | Operator::ReturnCallRef { type_index: at } => {
                    let (params, results) = arity(self.signatures.of_type(at));
                    called = called.saturating_add(params + results);
                }
                _ => {}
            }
        }
        called.saturating_add(locals.saturating_add(carried).saturating_mul(ways))
    }

    fn of_block(&self, ty: BlockType) -> u64 {
        match ty {
            BlockType::Empty => 0,
            BlockType::Type(_) => 1,
            BlockType::FuncType(at) => {
                let (params, results) = arity(self.signatures.of_type(at));
                params + results
            }
        }
    }
}

/// Parameters and results; none of a type that is not a function.
fn arity(function: Option<&FuncType>) -> (u64, u64) {
    function.map_or((0, 0), |own| (own.params().len() as u64, own.results().len() as u64))
}
