//! What the code of a guest may ask of the compiler.
//!
//! At each branch of a function its compiler looks at every local, and at every value that a block or a
//! call takes and gives. So its time and memory grow with the branches times those values, not with the
//! bytes of the file: without a bound, 200 kB take 17 seconds and 2.4 GB.

use wasmparser::{BlockType, CompositeInnerType, FunctionBody, Operator, Parser, Payload, TypeRef};

/// The longest function, in bytes. The longest of a plugin in Python has 427 kB.
const FUNCTION_BYTES_MAX: u64 = 512 << 10;
/// Values at the branches and calls of one function. A plugin in Python has one of 0.2 million.
const FUNCTION_VALUES_MAX: u64 = 1 << 20;
/// The same of all functions together. Those of a plugin in Python have 4 million.
const VALUES_MAX: u64 = 1 << 24;
/// Functions, of which a plugin in Python has 13,000: each takes 8 kB and more to compile.
const FUNCTIONS_MAX: u64 = 1 << 15;

/// Refuses code that would take too long to compile. What is no WebAssembly is for the compiler to
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
            payload => module.read(payload).unwrap_or_default(),
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

/// What a module says of its functions before their bodies.
#[derive(Default)]
struct Module {
    /// Parameters and results of each type; none of one that is no function.
    types: Vec<(u64, u64)>,
    /// The type of each function, imports first.
    functions: Vec<u32>,
    /// Functions that have no body, or whose body was read.
    read: usize,
}

impl Module {
    fn read(&mut self, payload: Payload<'_>) -> wasmparser::Result<()> {
        match payload {
            Payload::TypeSection(types) => {
                for group in types {
                    let arities = group?.into_types().map(|ty| match ty.composite_type.inner {
                        CompositeInnerType::Func(ty) => {
                            (ty.params().len() as u64, ty.results().len() as u64)
                        }
                        _ => (0, 0),
                    });
                    self.types.extend(arities);
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    if let TypeRef::Func(ty) | TypeRef::FuncExact(ty) = import?.ty {
                        self.functions.push(ty);
                    }
                }
                self.read = self.functions.len();
            }
            Payload::FunctionSection(functions) => {
                for ty in functions {
                    self.functions.push(ty?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Values at the branches and calls of the next function: those of a call, and for each way that a
    /// branch may go, the locals and what the largest block takes and gives. Reading ends where the body
    /// is no WebAssembly.
    fn values(&mut self, body: &FunctionBody<'_>) -> u64 {
        let (params, results) = self.of_function(self.read);
        self.read += 1;
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
                    let (params, results) = self.of_function(at as usize);
                    called = called.saturating_add(params + results);
                }
                Operator::CallIndirect { type_index: at, .. }
                | Operator::ReturnCallIndirect { type_index: at, .. }
                | Operator::CallRef { type_index: at }
                | Operator::ReturnCallRef { type_index: at } => {
                    let (params, results) = self.of_type(at);
                    called = called.saturating_add(params + results);
                }
                _ => {}
            }
        }
        called.saturating_add(locals.saturating_add(carried).saturating_mul(ways))
    }

    fn of_type(&self, at: u32) -> (u64, u64) {
        self.types.get(at as usize).copied().unwrap_or_default()
    }

    fn of_function(&self, at: usize) -> (u64, u64) {
        self.functions.get(at).map_or((0, 0), |ty| self.of_type(*ty))
    }

    fn of_block(&self, ty: BlockType) -> u64 {
        match ty {
            BlockType::Empty => 0,
            BlockType::Type(_) => 1,
            BlockType::FuncType(at) => {
                let (params, results) = self.of_type(at);
                params + results
            }
        }
    }
}
