//! Which accesses of a function may miss the cache, by what is known of their pointers.

use std::collections::{BTreeMap, BTreeSet};

use wasmparser::{
    ElementItems, FunctionBody, MemoryType, Operator, Parser, Payload, TypeRef, ValType,
};

use super::super::signatures::Signatures;

/// Offsets below this stay in the block of their pointer, or next to it.
const OFFSET_NEAR: u64 = 1 << 10;
/// A pointer with this many accesses in a function points to hot data, such as the frame of an
/// interpreter.
const BUSY: usize = 40;
/// A function that branches to this many places is the core of an interpreter.
const BRANCHES: u32 = 100;
/// A function of fewer bytes does so little that a miss is most of its time.
const SHORT: usize = 600;

/// An access that must be looked up.
pub(super) struct Access {
    /// The local that holds the pointer; without one the address is below what is stored.
    pub(super) base: Option<u32>,
    /// What is added to the pointer, where it leads away from it.
    pub(super) offset: u32,
    /// The type of what is stored, which is on top of the address.
    pub(super) stored: Option<ValType>,
}

/// What an operand is known to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Local(u32),
    Constant,
    /// A place in the frame of the function.
    Frame,
    Unknown,
}

/// What is known at a place of a function about the pointers that it uses.
pub(super) struct AccessTracker<'s> {
    module: &'s ModuleFacts,
    /// What is known of the operands on top of the stack.
    stack: Vec<Operand>,
    /// Pointers that were looked up since they were set.
    seen: BTreeSet<u32>,
    /// Pointers that need no lookup: into the frame, or to hot data.
    spared: BTreeSet<u32>,
    /// The locals that each loop of the function sets, in their order.
    set_in_loops: Vec<BTreeSet<u32>>,
    /// The blocks that are open.
    blocks: Vec<Open>,
    loops: usize,
    /// Loops that are open.
    depth: usize,
    /// The function is the core of an interpreter.
    is_core: bool,
    /// Accesses outside of loops are looked up too.
    is_called_back: bool,
}

/// An open block.
struct Open {
    /// What was seen where it began.
    seen: BTreeSet<u32>,
    /// The locals that were set since then.
    set: BTreeSet<u32>,
    /// Its place among the loops, where it is one.
    at: Option<usize>,
}

impl<'s> AccessTracker<'s> {
    /// At the beginning of a function.
    pub(super) fn of(
        body: &FunctionBody<'_>,
        index: usize,
        module: &'s ModuleFacts,
    ) -> wasmparser::Result<Self> {
        let tracker = || Self {
            module,
            stack: Vec::new(),
            seen: BTreeSet::new(),
            spared: BTreeSet::new(),
            set_in_loops: Vec::new(),
            blocks: Vec::new(),
            loops: 0,
            depth: 0,
            is_core: false,
            is_called_back: body.as_bytes().len() < SHORT && module.is_referred(index),
        };
        let (mut first, mut uses) = (tracker(), BTreeMap::<u32, usize>::new());
        let (mut framed, mut set_otherwise) = (BTreeSet::new(), BTreeSet::new());
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            if let Some((offset, stored)) = accessed(&operator)
                && offset < OFFSET_NEAR
                && let Operand::Local(local) = first.operand(usize::from(stored.is_some()))
            {
                *uses.entry(local).or_default() += 1;
            }
            if let Operator::LocalSet { local_index } | Operator::LocalTee { local_index } =
                operator
            {
                let is_frame = first.operand(0) == Operand::Frame;
                if is_frame { &mut framed } else { &mut set_otherwise }.insert(local_index);
            }
            first.is_core |=
                matches!(&operator, Operator::BrTable { targets } if targets.len() >= BRANCHES);
            first.step(&operator);
        }
        let busy = uses.into_iter().filter(|(_, count)| *count >= BUSY).map(|(local, _)| local);
        let framed = framed.difference(&set_otherwise).copied();
        let spared = busy.chain(framed).collect();
        let (set_in_loops, is_core) = (first.set_in_loops, first.is_core);
        Ok(Self { spared, set_in_loops, is_core, ..tracker() })
    }

    /// The access of an operator, where it must be looked up.
    pub(super) fn access(&mut self, operator: &Operator<'_>) -> Option<Access> {
        let (offset, stored) = accessed(operator)?;
        if self.depth == 0 && !self.is_called_back {
            return None;
        }
        let is_far = offset >= OFFSET_NEAR;
        let offset = if is_far { u32::try_from(offset).ok()? } else { 0 };
        let base = match self.operand(usize::from(stored.is_some())) {
            Operand::Constant | Operand::Frame => return None,
            Operand::Unknown => None,
            Operand::Local(_) if self.is_core => return None,
            Operand::Local(local) if is_far => Some(local),
            Operand::Local(local) if self.spared.contains(&local) || !self.seen.insert(local) => {
                return None;
            }
            Operand::Local(local) => Some(local),
        };
        Some(Access { base, offset, stored })
    }

    /// Steps over an operator.
    pub(super) fn step(&mut self, operator: &Operator<'_>) {
        match operator {
            Operator::LocalGet { local_index } => self.stack.push(Operand::Local(*local_index)),
            Operator::LocalSet { local_index } => {
                self.stack.pop();
                self.forget(*local_index);
            }
            Operator::LocalTee { local_index } => {
                self.stack.pop();
                self.forget(*local_index);
                self.stack.push(Operand::Local(*local_index));
            }
            Operator::I32Const { .. } => self.stack.push(Operand::Constant),
            // The one global that programs read is the pointer to their stack.
            Operator::GlobalGet { .. } => self.stack.push(Operand::Frame),
            Operator::I32Add | Operator::I32Sub => {
                let (right, left) = (self.stack.pop(), self.stack.pop());
                let is_busy = |operand| matches!(operand, Some(Operand::Local(local)) if self.spared.contains(&local));
                let is_frame = left == Some(Operand::Frame) && right == Some(Operand::Constant)
                    || is_busy(left)
                    || is_busy(right);
                self.stack.push(if is_frame { Operand::Frame } else { Operand::Unknown });
            }
            Operator::Block { .. } | Operator::If { .. } | Operator::Loop { .. } => {
                self.stack.clear();
                self.open(matches!(operator, Operator::Loop { .. }));
            }
            Operator::Else => {
                self.stack.clear();
                if let Some(open) = self.blocks.last() {
                    self.seen = open.seen.difference(&open.set).copied().collect();
                }
            }
            Operator::End => {
                self.stack.clear();
                self.close();
            }
            operator => match operator.operator_arity(&self.module.signatures) {
                Some((taken, given)) if !is_control(operator) => {
                    let left = self.stack.len().saturating_sub(taken as usize);
                    self.stack.truncate(left);
                    self.stack.extend((0..given).map(|_| Operand::Unknown));
                }
                _ => self.stack.clear(),
            },
        }
    }

    /// The operand so far below the top.
    fn operand(&self, below: usize) -> Operand {
        let at = self.stack.len().checked_sub(below + 1);
        at.and_then(|at| self.stack.get(at)).copied().unwrap_or(Operand::Unknown)
    }

    fn open(&mut self, is_loop: bool) {
        let at = is_loop.then_some(self.loops);
        if let Some(at) = at {
            self.loops += 1;
            self.depth += 1;
            match self.set_in_loops.get(at) {
                Some(set) => self.seen.retain(|local| !set.contains(local)),
                None => self.set_in_loops.push(BTreeSet::new()),
            }
        }
        self.blocks.push(Open { seen: self.seen.clone(), set: BTreeSet::new(), at });
    }

    /// What was seen before a block is seen after it, unless it was set within.
    fn close(&mut self) {
        let Some(open) = self.blocks.pop() else { return };
        self.seen = open.seen.difference(&open.set).copied().collect();
        if let Some(outer) = self.blocks.last_mut() {
            outer.set.extend(&open.set);
        }
        if let Some(set) = open.at.and_then(|at| self.set_in_loops.get_mut(at)) {
            set.extend(open.set);
        }
        self.depth -= usize::from(open.at.is_some());
    }

    /// A local has another value now.
    fn forget(&mut self, local: u32) {
        self.seen.remove(&local);
        if let Some(open) = self.blocks.last_mut() {
            open.set.insert(local);
        }
        for operand in &mut self.stack {
            if *operand == Operand::Local(local) {
                *operand = Operand::Unknown;
            }
        }
    }
}

fn is_control(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::Br { .. }
            | Operator::BrIf { .. }
            | Operator::BrTable { .. }
            | Operator::Return
            | Operator::Unreachable
    )
}

/// The offset of an access to memory, and what it stores.
fn accessed(operator: &Operator<'_>) -> Option<(u64, Option<ValType>)> {
    use Operator as Op;
    let stored = match operator {
        Op::I32Store { .. } | Op::I32Store8 { .. } | Op::I32Store16 { .. } => Some(ValType::I32),
        Op::I64Store { .. }
        | Op::I64Store8 { .. }
        | Op::I64Store16 { .. }
        | Op::I64Store32 { .. } => Some(ValType::I64),
        Op::F32Store { .. } => Some(ValType::F32),
        Op::F64Store { .. } => Some(ValType::F64),
        Op::V128Store { .. } => Some(ValType::V128),
        _ => None,
    };
    let (Op::I32Store { memarg }
    | Op::I32Store8 { memarg }
    | Op::I32Store16 { memarg }
    | Op::I64Store { memarg }
    | Op::I64Store8 { memarg }
    | Op::I64Store16 { memarg }
    | Op::I64Store32 { memarg }
    | Op::F32Store { memarg }
    | Op::F64Store { memarg }
    | Op::V128Store { memarg }
    | Op::I32Load { memarg }
    | Op::I32Load8S { memarg }
    | Op::I32Load8U { memarg }
    | Op::I32Load16S { memarg }
    | Op::I32Load16U { memarg }
    | Op::I64Load { memarg }
    | Op::I64Load8S { memarg }
    | Op::I64Load8U { memarg }
    | Op::I64Load16S { memarg }
    | Op::I64Load16U { memarg }
    | Op::I64Load32S { memarg }
    | Op::I64Load32U { memarg }
    | Op::F32Load { memarg }
    | Op::F64Load { memarg }
    | Op::V128Load { memarg }) = operator
    else {
        return None;
    };
    Some((memarg.offset, stored))
}

/// What of a module decides which accesses are looked up.
#[derive(Default)]
pub(super) struct ModuleFacts {
    signatures: Signatures,
    /// Functions that are called through a table.
    referred: BTreeSet<u32>,
    /// Its memories, imports first.
    memories: Vec<MemoryType>,
    has_imported_memory: bool,
}

impl ModuleFacts {
    /// `None` where the module cannot be read.
    pub(super) fn read(wasm: &[u8]) -> Option<Self> {
        let mut module = Self::default();
        for payload in Parser::new(0).parse_all(wasm) {
            let payload = payload.ok()?;
            module.signatures.read(&payload).ok()?;
            match payload {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        if let TypeRef::Memory(memory) = import.ok()?.ty {
                            module.has_imported_memory = true;
                            module.memories.push(memory);
                        }
                    }
                }
                Payload::MemorySection(memories) => {
                    for memory in memories {
                        module.memories.push(memory.ok()?);
                    }
                }
                Payload::ElementSection(elements) => {
                    for element in elements {
                        if let ElementItems::Functions(functions) = element.ok()?.items {
                            for function in functions {
                                module.referred.insert(function.ok()?);
                            }
                        }
                    }
                }
                Payload::CodeSectionStart { .. } => break,
                _ => {}
            }
        }
        Some(module)
    }

    /// Whether the module has one memory, of its own.
    pub(super) fn has_one_memory(&self) -> bool {
        let is_plain = |memory: &MemoryType| {
            !memory.memory64 && !memory.shared && memory.page_size_log2.is_none()
        };
        !self.has_imported_memory && matches!(self.memories.as_slice(), [one] if is_plain(one))
    }

    /// Whether the function with this body is called through a table.
    fn is_referred(&self, body: usize) -> bool {
        let index = u32::try_from(self.signatures.index(body));
        index.is_ok_and(|index| self.referred.contains(&index))
    }

    /// Parameters of the function with this body.
    pub(super) fn params(&self, body: usize) -> u32 {
        let function = self.signatures.of_function(self.signatures.index(body));
        function.map_or(0, |own| u32::try_from(own.params().len()).unwrap_or(0))
    }
}
