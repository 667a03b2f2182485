//! Fuel for memory that is not near: a module is rewritten so that it pays for each access beyond
//! what a processor keeps close.
//!
//! An instruction that finds its word in a cache takes a fraction of a nanosecond, and one that does
//! not takes a hundred. Fuel that counts instructions alone lets a program that strides through
//! memory run a hundred times longer than others. So the guest keeps a table of the blocks that it
//! touched last, as a cache would, in a memory of its own that its program cannot name. An access
//! to a block that is not in the table puts it there, and costs [`DISTANT_FUEL`]. The table depends on
//! the guest's addresses alone, so the cost is the same on every machine.
//!
//! Not every access is looked at: those at fixed addresses and in the frame of a function are near,
//! and one through a pointer that was looked at since it was set touches the same block again.

mod near;

use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{
    BlockType, CodeSection, Function, Instruction, MemArg, MemArgTarget, MemorySection, MemoryType, Module,
    ValType,
};
use wasmparser::{FunctionBody, MemorySectionReader, Parser, Payload, TypeRef};
use wasmtime::{OperatorCost, VariableOperatorCost};

use self::near::{Access, Near, Signatures};

/// Bytes of a block, as a power of two: accesses in sequence touch many words of one.
const BLOCK_BITS: i32 = 10;
/// Blocks that the table holds, as a power of two: together about what is kept close.
const TABLE_BITS: i32 = 12;
/// Costs of the instruction that nothing but this file uses; it makes no code.
const TOKEN_FUEL: u8 = 255;
/// How often it stands where a block is not in the table.
const TOKENS: u64 = 3;
/// What an access to a block costs that is not in the table.
pub(super) const DISTANT_FUEL: u64 = TOKEN_FUEL as u64 * TOKENS;

/// What instructions cost, by the time that they take: those that make no code cost nothing.
pub(super) fn costs() -> OperatorCost {
    OperatorCost {
        I8x16Popcnt: TOKEN_FUEL,
        LocalGet: 0,
        LocalSet: 0,
        LocalTee: 0,
        I32Const: 0,
        I64Const: 0,
        F32Const: 0,
        F64Const: 0,
        V128Const: 0,
        variable: VariableOperatorCost::new(),
        ..OperatorCost::new()
    }
}

/// The module with its accesses counted. `None` where it has no memory of its own, or has more than
/// one, which no program has.
pub(super) fn counted(wasm: &[u8]) -> Option<Vec<u8>> {
    let signatures = Signatures::read(wasm)?;
    if !has_one_memory(wasm)? {
        return None;
    }
    let mut module = Module::new();
    let mut counter = Counter { signatures: &signatures, functions: 0 };
    counter.parse_core_module(&mut module, Parser::new(0), wasm).ok()?;
    Some(module.finish())
}

fn has_one_memory(wasm: &[u8]) -> Option<bool> {
    let (mut own, mut imported) = (0, 0);
    for payload in Parser::new(0).parse_all(wasm) {
        match payload.ok()? {
            Payload::MemorySection(memories) => {
                own += memories.count();
                let is_small =
                    |memory: wasmparser::Result<wasmparser::MemoryType>| memory.is_ok_and(|memory| {
                        !memory.memory64 && !memory.shared && memory.page_size_log2.is_none()
                    });
                if !memories.into_iter().all(is_small) {
                    return Some(false);
                }
            }
            Payload::ImportSection(imports) => {
                let imports = imports.into_imports();
                imported += imports
                    .filter(|import| {
                        import.as_ref().is_ok_and(|import| matches!(import.ty, TypeRef::Memory(_)))
                    })
                    .count();
            }
            _ => {}
        }
    }
    Some(own == 1 && imported == 0)
}

struct Counter<'s> {
    signatures: &'s Signatures,
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
        let first = self.signatures.params(self.functions)
            + locals.iter().map(|(count, _)| count).sum::<u32>();
        self.functions += 1;
        let scratch = Scratch(first);
        locals.extend(Scratch::LOCALS.map(|kind| (1, kind)));
        let mut function = Function::new(locals);
        let mut near = Near::of(&body, self.signatures)?;
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            if let Some(access) = near.access(&operator) {
                scratch.look_at(&access, &mut function);
            }
            near.step(&operator);
            function.instruction(&self.instruction(operator)?);
        }
        code.function(&function);
        Ok(())
    }
}

/// The first of the locals that a function is given for the looks at its table.
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

    /// Writes a look at the block that an access touches, before the access itself.
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
        let entry = MemArg {
            offset: 0,
            align: 1,
            target: MemArgTarget::Memory(1),
            ordering: None,
        };
        // Entries have two bytes.
        let places = ((1 << TABLE_BITS) - 1) << 1;
        out.instruction(&Instruction::LocalTee(address))
            .instruction(&Instruction::I32Const(BLOCK_BITS - 1))
            .instruction(&Instruction::I32ShrU)
            .instruction(&Instruction::I32Const(places))
            .instruction(&Instruction::I32And)
            .instruction(&Instruction::LocalTee(place))
            .instruction(&Instruction::I32Load16U(entry))
            .instruction(&Instruction::LocalGet(address))
            .instruction(&Instruction::I32Const(BLOCK_BITS + TABLE_BITS))
            .instruction(&Instruction::I32ShrU)
            .instruction(&Instruction::LocalTee(tag))
            .instruction(&Instruction::I32Ne)
            .instruction(&Instruction::If(BlockType::Empty))
            .instruction(&Instruction::LocalGet(place))
            .instruction(&Instruction::LocalGet(tag))
            .instruction(&Instruction::I32Store16(entry));
        for _ in 0..TOKENS {
            out.instruction(&Instruction::V128Const(0))
                .instruction(&Instruction::I8x16Popcnt)
                .instruction(&Instruction::Drop);
        }
        out.instruction(&Instruction::End);
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
