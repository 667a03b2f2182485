//! Many core modules become one: indices move, and what they import from each other is joined.

use std::collections::BTreeMap;

use wasm_encoder::reencode::Reencode;
use wasm_encoder::{
    CodeSection, DataCountSection, DataSection, ElementSection, EntityType, ExportSection,
    FunctionSection, GlobalSection, ImportSection, Instruction, MemorySection, Module,
    StartSection, TableSection, TypeSection,
};
use wasmparser::{Operator, SectionLimited, TypeRef};

use super::core::Core;
use super::error::{Encoded, JoinError, missing};
use super::items::{Kind, Spaces};
use super::parts::Origin;
use super::plan::Plan;
use super::reach::{Function, Indices, Reached, roots};

/// The body of a function that nothing reaches: no locals, `unreachable`, `end`.
const NEVER: &[u8] = &[0x00, 0x00, 0x0b];

/// The joined module. Its exports are what is taken of it, called by their places.
pub(super) struct Merged<'a> {
    pub(super) wasm: Vec<u8>,
    /// Where its imports come from; they are called by their places.
    pub(super) imports: Vec<Origin<'a>>,
}

/// Where the indices of one module went.
#[derive(Default)]
struct Moved {
    types: u32,
    elements: u32,
    data: u32,
    items: Spaces<Vec<u32>>,
    /// The values that globals start with, and keep.
    constants: Vec<Option<Constant>>,
}

#[derive(Clone, Copy)]
enum Constant {
    I32(i32),
    I64(i64),
}

pub(super) fn merge<'a>(plan: &Plan<'a>) -> Result<Merged<'a>, JoinError> {
    let mut merger = Merger::default();
    for (at, core) in plan.joined() {
        merger.outside(at, core, plan)?;
    }
    for (at, core) in plan.joined() {
        merger.place(at, core, plan)?;
    }
    merger.encode(plan)
}

#[derive(Default)]
struct Merger<'a> {
    /// Functions from outside, with their types.
    imports: Vec<(Origin<'a>, u32)>,
    types: u32,
    elements: u32,
    data: u32,
    counts: Spaces<u32>,
    moved: BTreeMap<u32, Moved>,
}

impl<'a> Merger<'a> {
    /// Finds what a module takes from outside: that comes first in the index space.
    fn outside(&mut self, at: u32, core: &Core<'a>, plan: &Plan<'a>) -> Result<(), JoinError> {
        for (import, origin) in core.imports.iter().zip(core.origins.iter().copied()) {
            if inside(plan, origin) || self.import(origin).is_some() {
                continue;
            }
            let TypeRef::Func(index) = import.ty else {
                return Err(JoinError::unknown("an import from outside that is no function"));
            };
            self.imports.push((origin, self.types + index));
        }
        self.moved.insert(at, Moved { types: self.types, ..Moved::default() });
        self.types += core.type_count()?;
        self.counts.functions = count(self.imports.len());
        Ok(())
    }

    fn import(&self, origin: Origin<'a>) -> Option<u32> {
        self.imports.iter().position(|(import, _)| *import == origin).map(count)
    }

    /// Gives every item of a module its place.
    fn place(&mut self, at: u32, core: &Core<'a>, plan: &Plan<'a>) -> Result<(), JoinError> {
        let mut moved = self.moved.remove(&at).unwrap_or_default();
        (moved.elements, moved.data) = (self.elements, self.data);
        for (import, origin) in core.imports.iter().zip(core.origins.iter().copied()) {
            let kind = Kind::from(import.ty);
            let (index, constant) = match origin {
                Origin::Export { instance, name } if plan.is_joined(instance) => {
                    self.export(plan, instance, name)?
                }
                origin => (self.import(origin).ok_or_else(missing)?, None),
            };
            moved.items.of_mut(kind).push(index);
            if kind == Kind::Global {
                moved.constants.push(constant);
            }
        }
        let own = core.own();
        for kind in [Kind::Function, Kind::Table, Kind::Memory, Kind::Global] {
            let (count, own) = (self.counts.of_mut(kind), *own.of(kind));
            moved.items.of_mut(kind).extend(*count..*count + own);
            *count += own;
        }
        for global in core.globals.iter().cloned().flatten() {
            let constant = constant(&global?, &moved.constants)?;
            moved.constants.push(constant);
        }
        self.elements += core.elements.as_ref().map_or(0, SectionLimited::count);
        self.data += core.data.as_ref().map_or(0, SectionLimited::count);
        self.moved.insert(at, moved);
        Ok(())
    }

    /// The index of an export of a joined instance, and its value where it is a constant.
    fn export(
        &self,
        plan: &Plan<'a>,
        instance: u32,
        name: &str,
    ) -> Result<(u32, Option<Constant>), JoinError> {
        let (kind, index) = exported(plan, instance, name)?;
        let moved = self.moved.get(&instance).ok_or_else(missing)?;
        let item = moved.items.of(kind).get(index as usize).copied().ok_or_else(missing)?;
        let constant = moved.constants.get(index as usize).copied().flatten();
        Ok((item, constant.filter(|_| kind == Kind::Global)))
    }

    /// Finds what runs, and keeps as constants only the globals that it does not write.
    fn settle(&mut self, plan: &Plan<'a>) -> Result<Reached, JoinError> {
        let (mut from, mut given_out) = (Vec::new(), Vec::new());
        for origin in &plan.taken {
            let Origin::Export { instance, name } = *origin else { continue };
            let (index, _) = self.export(plan, instance, name)?;
            match exported(plan, instance, name)?.0 {
                Kind::Function => from.push(index),
                Kind::Global => given_out.push(index),
                _ => {}
            }
        }
        let mut functions = Vec::new();
        for (at, core) in plan.joined() {
            let indices = self.moved.get(&at).ok_or_else(missing)?.indices();
            from.extend(roots(core, indices)?);
            functions.extend(core.bodies.iter().map(|body| Function { body, indices }));
        }
        let reached = Reached::from(from, count(self.imports.len()), &functions)?;
        for moved in self.moved.values_mut() {
            for (constant, global) in moved.constants.iter_mut().zip(&moved.items.globals) {
                if reached.writes(*global) || given_out.contains(global) {
                    *constant = None;
                }
            }
        }
        Ok(reached)
    }

    fn encode(mut self, plan: &Plan<'a>) -> Result<Merged<'a>, JoinError> {
        let reached = self.settle(plan)?;
        let mut sections = Sections::default();
        for (at, (_, ty)) in self.imports.iter().enumerate() {
            sections.imports.import("", &at.to_string(), EntityType::Function(*ty));
        }
        for (at, core) in plan.joined() {
            let moved = self.moved.get_mut(&at).ok_or_else(missing)?;
            sections.add(core, moved, &reached)?;
        }
        for (at, origin) in plan.taken.iter().enumerate() {
            let Origin::Export { instance, name } = *origin else { continue };
            let (kind, _) = exported(plan, instance, name)?;
            let (index, _) = self.export(plan, instance, name)?;
            sections.exports.export(&at.to_string(), kind.into(), index);
        }
        let imports = self.imports.into_iter().map(|(origin, _)| origin).collect();
        Ok(Merged { wasm: sections.finish(self.data), imports })
    }
}

#[derive(Default)]
struct Sections {
    types: TypeSection,
    imports: ImportSection,
    functions: FunctionSection,
    tables: TableSection,
    memories: MemorySection,
    globals: GlobalSection,
    exports: ExportSection,
    start: Option<u32>,
    elements: ElementSection,
    code: CodeSection,
    data: DataSection,
}

impl Sections {
    fn add(&mut self, core: &Core<'_>, moved: &mut Moved, reached: &Reached) -> Encoded<()> {
        if let Some(types) = core.types.clone() {
            moved.parse_type_section(&mut self.types, types)?;
        }
        if let Some(functions) = core.functions.clone() {
            moved.parse_function_section(&mut self.functions, functions)?;
        }
        if let Some(tables) = core.tables.clone() {
            moved.parse_table_section(&mut self.tables, tables)?;
        }
        if let Some(memories) = core.memories.clone() {
            moved.parse_memory_section(&mut self.memories, memories)?;
        }
        if let Some(globals) = core.globals.clone() {
            moved.parse_global_section(&mut self.globals, globals)?;
        }
        if let Some(start) = core.start {
            self.start = Some(moved.function_index(start)?);
        }
        if let Some(elements) = core.elements.clone() {
            moved.parse_element_section(&mut self.elements, elements)?;
        }
        for body in &core.bodies {
            if reached.runs(self.code.len() as usize) {
                moved.parse_function_body(&mut self.code, body.clone())?;
            } else {
                self.code.raw(NEVER);
            }
        }
        if let Some(data) = core.data.clone() {
            moved.parse_data_section(&mut self.data, data)?;
        }
        Ok(())
    }

    fn finish(self, data_count: u32) -> Vec<u8> {
        let mut module = Module::new();
        module
            .section(&self.types)
            .section(&self.imports)
            .section(&self.functions)
            .section(&self.tables)
            .section(&self.memories)
            .section(&self.globals)
            .section(&self.exports);
        if let Some(function_index) = self.start {
            module.section(&StartSection { function_index });
        }
        module
            .section(&self.elements)
            .section(&DataCountSection { count: data_count })
            .section(&self.code)
            .section(&self.data);
        module.finish()
    }
}

impl Moved {
    fn indices(&self) -> Indices<'_> {
        Indices { functions: &self.items.functions, globals: &self.items.globals }
    }

    fn item(&self, kind: Kind, index: u32) -> Encoded<u32> {
        let item = self.items.of(kind).get(index as usize).copied();
        item.ok_or_else(|| wasm_encoder::reencode::Error::UserError(missing()))
    }
}

impl Reencode for Moved {
    type Error = JoinError;

    fn type_index(&mut self, index: u32) -> Encoded<u32> {
        Ok(self.types + index)
    }

    fn element_index(&mut self, index: u32) -> Encoded<u32> {
        Ok(self.elements + index)
    }

    fn data_index(&mut self, index: u32) -> Encoded<u32> {
        Ok(self.data + index)
    }

    fn function_index(&mut self, index: u32) -> Encoded<u32> {
        self.item(Kind::Function, index)
    }

    fn table_index(&mut self, index: u32) -> Encoded<u32> {
        self.item(Kind::Table, index)
    }

    fn memory_index(&mut self, index: u32) -> Encoded<u32> {
        self.item(Kind::Memory, index)
    }

    fn global_index(&mut self, index: u32) -> Encoded<u32> {
        self.item(Kind::Global, index)
    }

    fn tag_index(&mut self, index: u32) -> Encoded<u32> {
        self.item(Kind::Tag, index)
    }

    fn instruction<'a>(&mut self, operator: Operator<'a>) -> Encoded<Instruction<'a>> {
        if let Operator::GlobalGet { global_index } = operator
            && let Some(Some(constant)) = self.constants.get(global_index as usize)
        {
            return Ok(match constant {
                Constant::I32(value) => Instruction::I32Const(*value),
                Constant::I64(value) => Instruction::I64Const(*value),
            });
        }
        wasm_encoder::reencode::utils::instruction(self, operator)
    }
}

/// The value that a global starts with, where it can be told.
fn constant(
    global: &wasmparser::Global<'_>,
    known: &[Option<Constant>],
) -> Result<Option<Constant>, JoinError> {
    let mut stack = Vec::new();
    for operator in global.init_expr.get_operators_reader() {
        let value = match operator? {
            Operator::I32Const { value } => Some(Constant::I32(value)),
            Operator::I64Const { value } => Some(Constant::I64(value)),
            Operator::GlobalGet { global_index } => {
                known.get(global_index as usize).copied().flatten()
            }
            Operator::I32Add => match (stack.pop(), stack.pop()) {
                (Some(Constant::I32(right)), Some(Constant::I32(left))) => {
                    Some(Constant::I32(left.wrapping_add(right)))
                }
                _ => None,
            },
            Operator::End => break,
            _ => None,
        };
        let Some(value) = value else { return Ok(None) };
        stack.push(value);
    }
    Ok(stack.pop())
}

fn exported(plan: &Plan<'_>, instance: u32, name: &str) -> Result<(Kind, u32), JoinError> {
    let core = plan.core(instance);
    core.and_then(|core| core.exports.get(name)).copied().ok_or_else(missing)
}

fn inside(plan: &Plan<'_>, origin: Origin<'_>) -> bool {
    matches!(origin, Origin::Export { instance, .. } if plan.is_joined(instance))
}

fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(u32::MAX)
}
