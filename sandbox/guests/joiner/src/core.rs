//! What joining needs to know of one core module.

use std::collections::BTreeMap;

use wasmparser::{
    DataSectionReader, ElementSectionReader, FunctionBody, FunctionSectionReader,
    GlobalSectionReader, Import, MemorySectionReader, Parser, Payload, SectionLimited,
    TableSectionReader, TypeSectionReader,
};

use super::error::JoinError;
use super::items::{Kind, Spaces};
use super::parts::Origin;

/// The sections of a core module.
#[derive(Default)]
pub(super) struct Core<'a> {
    pub(super) imports: Vec<Import<'a>>,
    pub(super) exports: BTreeMap<&'a str, (Kind, u32)>,
    pub(super) types: Option<TypeSectionReader<'a>>,
    pub(super) functions: Option<FunctionSectionReader<'a>>,
    pub(super) tables: Option<TableSectionReader<'a>>,
    pub(super) memories: Option<MemorySectionReader<'a>>,
    pub(super) globals: Option<GlobalSectionReader<'a>>,
    pub(super) elements: Option<ElementSectionReader<'a>>,
    pub(super) data: Option<DataSectionReader<'a>>,
    pub(super) bodies: Vec<FunctionBody<'a>>,
    pub(super) start: Option<u32>,
    /// Where its imports come from.
    pub(super) origins: Vec<Origin<'a>>,
    /// It becomes part of the joined module.
    pub(super) is_joined: bool,
}

impl<'a> Core<'a> {
    pub(super) fn read(wasm: &'a [u8]) -> Result<Self, JoinError> {
        let mut core = Self::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::TypeSection(types) => core.types = Some(types),
                Payload::ImportSection(imports) => {
                    core.imports = imports.into_imports().collect::<Result<_, _>>()?;
                }
                Payload::FunctionSection(functions) => core.functions = Some(functions),
                Payload::TableSection(tables) => core.tables = Some(tables),
                Payload::MemorySection(memories) => core.memories = Some(memories),
                Payload::GlobalSection(globals) => core.globals = Some(globals),
                Payload::ExportSection(exports) => {
                    for export in exports {
                        let export = export?;
                        core.exports.insert(export.name, (export.kind.into(), export.index));
                    }
                }
                Payload::StartSection { func, .. } => core.start = Some(func),
                Payload::ElementSection(elements) => core.elements = Some(elements),
                Payload::DataSection(data) => core.data = Some(data),
                Payload::CodeSectionEntry(body) => core.bodies.push(body),
                Payload::Version { .. }
                | Payload::DataCountSection { .. }
                | Payload::CodeSectionStart { .. }
                | Payload::CustomSection(_)
                | Payload::End(_) => {}
                _ => return Err(JoinError::unknown("a section of another proposal")),
            }
        }
        Ok(core)
    }

    /// How many types it has. A group of types counts as many as are in it.
    pub(super) fn type_count(&self) -> Result<u32, JoinError> {
        let mut count = 0;
        for group in self.types.iter().cloned().flatten() {
            count += u32::try_from(group?.types().len()).unwrap_or(u32::MAX);
        }
        Ok(count)
    }

    /// How many items it brings of each kind.
    pub(super) fn own(&self) -> Spaces<u32> {
        Spaces {
            functions: self.functions.as_ref().map_or(0, SectionLimited::count),
            tables: self.tables.as_ref().map_or(0, SectionLimited::count),
            memories: self.memories.as_ref().map_or(0, SectionLimited::count),
            globals: self.globals.as_ref().map_or(0, SectionLimited::count),
            tags: 0,
        }
    }
}
