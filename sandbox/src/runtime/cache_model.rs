//! Fuel for cache misses: a module is rewritten so that an access to memory that a processor would
//! not have in its cache costs more.
//!
//! An instruction that finds its word in a cache takes a fraction of a nanosecond, and one that does
//! not takes a hundred. Fuel that counts instructions alone lets a program that strides through
//! memory run a hundred times longer than others. So the guest keeps a table of the blocks that it
//! touched last, as a cache would, in a second memory that its program cannot name. An access to a
//! block that is not in the table enters it there, and costs as much as hundreds of instructions.
//! The table depends on the guest's addresses alone, so the cost is the same on every machine.
//!
//! Not every access is instrumented: those at fixed addresses and in the frame of a function are
//! hits, and so is one through a pointer that was looked up since it was set.

mod accesses;

use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{
    BlockType, CodeSection, Component, Function, Instruction, MemArg, MemorySection, MemoryType,
    Module, RawSection, ValType,
};
use wasmparser::{Chunk, FunctionBody, MemorySectionReader, Operator, Parser, Payload};
use wasmtime::{OperatorCost, VariableOperatorCost};

use self::accesses::{Access, AccessTracker, ModuleFacts};

/// Bytes of a block, as a power of two: accesses in sequence touch many words of one.
const BLOCK_BITS: i32 = 12;
/// Blocks that the table holds, as a power of two: together about the size of a cache.
const TABLE_BITS: i32 = 11;
/// Fuel of an instruction that only this file emits, and that compiles to no code.
const TOKEN_FUEL: u8 = 255;
/// How many of them a miss costs, and each 4 KiB that are filled or copied.
const TOKENS: usize = 4;
/// Bytes that are filled or copied at once, as a power of two, for [`TOKENS`] too: a processor does
/// that faster than anything else. Fewer cost what the instruction does.
const BULK_BITS: i32 = 12;

/// Fuel of an instruction that fills or copies bytes, whatever their number.
const BULK_FUEL: u8 = 200;

/// Fuel of instructions, by the time that they take: those that compile to no code are free.
pub(super) fn costs() -> OperatorCost {
    OperatorCost {
        I8x16Popcnt: TOKEN_FUEL,
        MemoryFill: BULK_FUEL,
        MemoryCopy: BULK_FUEL,
        LocalGet: 0,
        LocalSet: 0,
        LocalTee: 0,
        I32Const: 0,
        I64Const: 0,
        F32Const: 0,
        F64Const: 0,
        V128Const: 0,
        // Their targets are often mispredicted, and the fuel counter is stored before them.
        BrTable: 16,
        Call: 4,
        CallIndirect: 10,
        I32DivS: 8,
        I32DivU: 8,
        I32RemS: 8,
        I32RemU: 8,
        I64DivS: 8,
        I64DivU: 8,
        I64RemS: 8,
        I64RemU: 8,
        F64Div: 8,
        F64Sqrt: 8,
        F64Add: 3,
        F64Sub: 3,
        F64Mul: 3,
        variable: VariableOperatorCost {
            memory_fill_per_byte: 0,
            memory_copy_per_byte: 0,
            ..VariableOperatorCost::new()
        },
        ..OperatorCost::new()
    }
}

/// The component with its one core module instrumented that has a memory. `None` where no module
/// has one, or several do: the pool has room for one table.
pub(super) fn instrument_component(wasm: &[u8]) -> Option<Vec<u8>> {
    let mut component = Component::new();
    let mut instrumented = 0;
    let (mut parser, mut rest) = (Parser::new(0), wasm);
    loop {
        let Chunk::Parsed { payload, consumed } = parser.parse(rest, true).ok()? else {
            return None;
        };
        rest = rest.get(consumed..)?;
        if let Payload::End(_) = payload {
            return (instrumented == 1).then(|| component.finish());
        }
        let Some((id, range)) = payload.as_section() else { continue };
        let data = wasm.get(range)?;
        if let Payload::ModuleSection { .. } | Payload::ComponentSection { .. } = payload {
            rest = rest.get(data.len()..)?;
        }
        let module = matches!(payload, Payload::ModuleSection { .. });
        let counted = module.then(|| instrument(data)).flatten();
        instrumented += usize::from(counted.is_some());
        component.section(&RawSection { id, data: counted.as_deref().unwrap_or(data) });
    }
}

/// The module with its accesses counted. `None` where it has no memory of its own, or has more than
/// one, which no program has.
pub(super) fn instrument(wasm: &[u8]) -> Option<Vec<u8>> {
    let facts = ModuleFacts::read(wasm).filter(ModuleFacts::has_one_memory)?;
    let mut module = Module::new();
    let mut counter = Counter { facts: &facts, functions: 0 };
    counter.parse_core_module(&mut module, Parser::new(0), wasm).ok()?;
    Some(module.finish())
}

struct Counter<'s> {
    facts: &'s ModuleFacts,
    /// Bodies that were rewritten.
    functions: usize,
}

impl Reencode for Counter<'_> {
    type Error = std::convert::Infallible;

    /// The program's memory is the first; the table comes after it.
    fn parse_memory_section(
        &mut self,
        memories: &mut MemorySection,
        section: MemorySectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        utils::parse_memory_section(self, memories, section)?;
        memories.memory(MemoryType {
            minimum: 1,
            maximum: Some(1),
            memory64: false,
            shared: false,
            page_size_log2: None,
        });
        Ok(())
    }

    fn parse_function_body(
        &mut self,
        code: &mut CodeSection,
        body: FunctionBody<'_>,
    ) -> Result<(), Error<Self::Error>> {
        let mut locals = Vec::new();
        for group in body.get_locals_reader()? {
            let (count, kind) = group?;
            locals.push((count, self.val_type(kind)?));
        }
        let first =
            self.facts.params(self.functions) + locals.iter().map(|(count, _)| count).sum::<u32>();
        let index = self.functions;
        self.functions += 1;
        let scratch = Scratch(first);
        locals.extend(Scratch::LOCALS.map(|kind| (1, kind)));
        let mut function = Function::new(locals);
        let mut tracker = AccessTracker::of(&body, index, self.facts)?;
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            if matches!(operator, Operator::MemoryFill { .. } | Operator::MemoryCopy { .. }) {
                scratch.pay_for_bytes(&mut function);
            }
            if let Some(access) = tracker.access(&operator) {
                scratch.look_at(&access, &mut function);
            }
            tracker.step(&operator);
            function.instruction(&self.instruction(operator)?);
        }
        code.function(&function);
        Ok(())
    }
}

fn tokens(out: &mut Function) {
    for _ in 0..TOKENS {
        out.instruction(&Instruction::V128Const(0))
            .instruction(&Instruction::I8x16Popcnt)
            .instruction(&Instruction::Drop);
    }
}

/// The first of the locals that a function gets for its lookups in the table.
#[derive(Clone, Copy)]
struct Scratch(u32);

impl Scratch {
    /// The address, the place in the table, what belongs there, and a value that is to be stored.
    const LOCALS: [ValType; 8] = [
        ValType::I32,
        ValType::I32,
        ValType::I32,
        ValType::I32,
        ValType::I64,
        ValType::F32,
        ValType::F64,
        ValType::V128,
    ];

    /// Emits a lookup of the block that an access touches, before the access itself.
    fn look_at(self, access: &Access, out: &mut Function) {
        let (address, place, tag) = (self.0, self.0 + 1, self.0 + 2);
        let value = access.stored.map(|kind| self.value(kind));
        match (access.base, value) {
            (Some(base), _) => {
                out.instruction(&Instruction::LocalGet(base));
            }
            (None, Some(value)) => {
                out.instruction(&Instruction::LocalSet(value))
                    .instruction(&Instruction::LocalTee(address))
                    .instruction(&Instruction::LocalGet(value))
                    .instruction(&Instruction::LocalGet(address));
            }
            (None, None) => {
                out.instruction(&Instruction::LocalTee(address))
                    .instruction(&Instruction::LocalGet(address));
            }
        }
        if access.offset != 0 {
            out.instruction(&Instruction::I32Const(access.offset.cast_signed()))
                .instruction(&Instruction::I32Add);
        }
        let entry = MemArg { offset: 0, align: 1, memory_index: 1 };
        // Entries have two bytes. The upper bits of the address are mixed in, so that arrays whose
        // distance is a power of two have places of their own.
        let places = ((1 << TABLE_BITS) - 1) << 1;
        out.instruction(&Instruction::LocalTee(address))
            .instruction(&Instruction::I32Const(BLOCK_BITS + TABLE_BITS - 1))
            .instruction(&Instruction::I32ShrU)
            .instruction(&Instruction::LocalTee(tag))
            .instruction(&Instruction::LocalGet(address))
            .instruction(&Instruction::I32Const(BLOCK_BITS - 1))
            .instruction(&Instruction::I32ShrU)
            .instruction(&Instruction::I32Xor)
            .instruction(&Instruction::I32Const(places))
            .instruction(&Instruction::I32And)
            .instruction(&Instruction::LocalTee(place))
            .instruction(&Instruction::I32Load16U(entry))
            .instruction(&Instruction::LocalGet(tag))
            .instruction(&Instruction::I32Ne)
            .instruction(&Instruction::If(BlockType::Empty))
            .instruction(&Instruction::LocalGet(place))
            .instruction(&Instruction::LocalGet(tag))
            .instruction(&Instruction::I32Store16(entry));
        tokens(out);
        out.instruction(&Instruction::End);
    }

    /// Emits the cost of the bytes, whose number is on top of the stack, that are filled or copied.
    fn pay_for_bytes(self, out: &mut Function) {
        let (length, left) = (self.0, self.0 + 1);
        out.instruction(&Instruction::LocalTee(length))
            .instruction(&Instruction::LocalGet(length))
            .instruction(&Instruction::I32Const(BULK_BITS))
            .instruction(&Instruction::I32ShrU)
            .instruction(&Instruction::LocalTee(left))
            .instruction(&Instruction::If(BlockType::Empty))
            .instruction(&Instruction::Loop(BlockType::Empty));
        tokens(out);
        out.instruction(&Instruction::LocalGet(left))
            .instruction(&Instruction::I32Const(1))
            .instruction(&Instruction::I32Sub)
            .instruction(&Instruction::LocalTee(left))
            .instruction(&Instruction::BrIf(0))
            .instruction(&Instruction::End)
            .instruction(&Instruction::End);
    }

    fn value(self, kind: wasmparser::ValType) -> u32 {
        use wasmparser::ValType as Kind;
        self.0
            + match kind {
                Kind::I64 => 4,
                Kind::F32 => 5,
                Kind::F64 => 6,
                Kind::V128 => 7,
                Kind::I32 | Kind::Ref(_) => 3,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, Options, Program, Runtime, Start, drive};
    use super::*;

    /// Fuel of a program with this body, which has eight locals and 16 MiB.
    fn fuel(body: &str) -> u64 {
        let text = format!(
            "(module (memory (export \"memory\") 260) (func $other (param i32) (local i32 i64)
               (local.set 1 (i32.load (local.get 0))))
             (func (export \"_start\") (local i32 i32 i64 f32 f64) {body}))"
        );
        let wasm = wat::parse_str(text).unwrap();
        assert!(instrument(&wasm).is_some());
        let runtime = Runtime::new(&Options::default()).unwrap();
        let program = Program::load(&runtime, "guest", &wasm).unwrap();
        let start = Start { limits: Limits::default(), ..Start::default() };
        let run = drive(program.run(start), &mut || false).unwrap();
        assert_eq!(run.end, Ok(0));
        run.used.fuel
    }

    /// Walks over memory 20,000 times, so many bytes at a time.
    fn walk(step: u32, access: &str) -> u64 {
        fuel(&format!(
            "(loop $again {access}
               (local.set 0 (i32.and (i32.add (local.get 0) (i32.const {step})) (i32.const 0xfffff8)))
               (br_if $again (i32.lt_u (local.tee 1 (i32.add (local.get 1) (i32.const 1))) (i32.const 20000))))"
        ))
    }

    #[test]
    fn strides_cost_more_than_steps() {
        let accesses = [
            "(drop (i32.load (local.get 0)))",
            "(drop (i64.load8_u offset=8 (i32.add (local.get 0) (i32.const 16))))",
            "(drop (f64.load offset=4096 (local.get 0)))",
            "(i64.store (i32.add (local.get 0) (i32.const 0)) (local.get 2))",
            "(i32.store8 (local.get 0) (i32.const 1))",
            "(f32.store (i32.or (local.get 0) (i32.const 4)) (local.get 3))",
            "(f64.store (i32.or (local.get 0) (i32.const 8)) (local.get 4))",
            "(v128.store (i32.or (local.get 0) (i32.const 16)) (v128.const i64x2 1 2))",
            "(if (local.get 0) (then (drop (i32.load (local.get 0)))))",
        ];
        for access in accesses {
            let (near, far) = (walk(8, access), walk(65_536 + 4096, access));
            assert!(far > 20 * near, "{access}: {near} {far}");
        }
    }

    #[test]
    fn what_is_fixed_or_was_looked_at_costs_nothing_more() {
        let plain = walk(69_632, "");
        let fixed = walk(69_632, "(drop (i32.load offset=1000000 (i32.const 8)))");
        assert!(fixed < plain + 20_000 * 3, "{plain} {fixed}");
        let once = walk(69_632, "(drop (i32.load (local.get 0)))");
        let twice = walk(
            69_632,
            "(drop (i32.load (local.get 0))) (drop (i64.load offset=8 (local.get 0)))",
        );
        assert!(twice < once + 20_000 * 3, "{once} {twice}");
    }

    #[test]
    fn bytes_at_once_cost_by_their_number() {
        let fill = |bytes: u32| {
            fuel(&format!("(memory.fill (i32.const 0) (i32.const 1) (i32.const {bytes}))"))
        };
        let copy = |bytes: u32| {
            fuel(&format!("(memory.copy (i32.const 0) (i32.const 8) (i32.const {bytes}))"))
        };
        assert!(fill(1 << 23) > 1 << 20 && copy(1 << 23) > 1 << 20);
        assert!(fill(64) < 1000 && copy(64) < 1000);
    }

    #[test]
    fn modules_without_a_memory_of_their_own_stay_as_they_are() {
        for text in [
            "(module (func (export \"_start\")))",
            "(module (import \"a\" \"m\" (memory 1)))",
            "(module (memory 1) (memory 1))",
        ] {
            assert!(instrument(&wat::parse_str(text).unwrap()).is_none(), "{text}");
        }
    }
}
