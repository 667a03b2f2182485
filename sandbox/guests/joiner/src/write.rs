//! The component around the joined module.

use std::collections::BTreeMap;

use wasm_encoder::reencode::{Reencode, ReencodeComponent};
use wasm_encoder::{
    Alias, CanonicalFunctionSection, Component, ComponentAliasSection, ExportKind, InstanceSection,
    ModuleArg, RawSection,
};
use wasmparser::CanonicalFunction;

use super::core::Core;
use super::error::{Encoded, JoinError, missing};
use super::items::{Kind, Spaces};
use super::merge::Merged;
use super::parts::{Instance, Origin, Part, Parts};
use super::plan::Plan;

/// The id of a core module among the sections of a component.
const MODULE: u8 = 1;

pub(super) fn write(
    parts: &Parts<'_>,
    plan: &Plan<'_>,
    merged: &Merged<'_>,
) -> Result<Vec<u8>, JoinError> {
    let last = plan.joined().last().map(|(at, _)| at);
    let mut writer = Writer {
        parts,
        plan,
        merged,
        component: Component::new(),
        modules: BTreeMap::new(),
        modules_written: 0,
        instances: BTreeMap::new(),
        instances_written: 0,
        items: BTreeMap::new(),
        items_written: Spaces::default(),
        joined: None,
    };
    let mut late = Vec::new();
    for part in &parts.order {
        if writer.is_early(part) {
            late.push(part);
            continue;
        }
        writer.part(part)?;
        if let Part::Instance(at) = part
            && Some(*at) == last
        {
            writer.joined()?;
            for part in late.drain(..) {
                writer.part(part)?;
            }
        }
    }
    Ok(writer.component.finish())
}

struct Writer<'a, 'p> {
    parts: &'p Parts<'a>,
    plan: &'p Plan<'a>,
    merged: &'p Merged<'a>,
    component: Component,
    modules: BTreeMap<u32, u32>,
    modules_written: u32,
    instances: BTreeMap<u32, u32>,
    instances_written: u32,
    items: BTreeMap<(Kind, Origin<'a>), u32>,
    items_written: Spaces<u32>,
    /// The instance of the joined module.
    joined: Option<u32>,
}

impl<'a> Writer<'a, '_> {
    /// Whether a part needs the joined module, which is not there yet. A lifted function keeps its
    /// place among those of the component, so it is never late; it comes last in what linkers
    /// write.
    fn is_early(&self, part: &Part<'a>) -> bool {
        match part {
            _ if self.joined.is_some() => false,
            Part::Canonical(at) => {
                let is_lift =
                    matches!(self.parts.canonicals.get(*at), Some(CanonicalFunction::Lift { .. }));
                let needs = self.parts.canonical_needs(*at);
                !is_lift && needs.is_some_and(|needs| !needs.is_empty())
            }
            Part::Instance(at) => self.plan.core(*at).is_some_and(|core| !core.is_joined),
            _ => false,
        }
    }

    fn part(&mut self, part: &Part<'a>) -> Result<(), JoinError> {
        match part {
            Part::Raw(raw) => {
                self.component.section(raw);
            }
            Part::Alias(alias) => {
                let mut section = ComponentAliasSection::new();
                section.alias(self.component_alias(alias.clone())?);
                self.component.section(&section);
            }
            Part::Canonical(at) => self.canonical(*at)?,
            Part::Module(at) => {
                let mut instances = (0..).zip(&self.parts.instances);
                let is_joined = instances.any(|(index, instance)| {
                    let of_module =
                        matches!(instance, Instance::Module { module, .. } if module == at);
                    of_module && self.plan.is_joined(index)
                });
                if !is_joined {
                    let written = self.module(self.parts.module(*at)?);
                    self.modules.insert(*at, written);
                }
            }
            Part::Instance(at) => {
                if let Some(core) = self.plan.core(*at).filter(|core| !core.is_joined) {
                    let instance = self.parts.instances.get(*at as usize).ok_or_else(missing)?;
                    let written = self.instance(instance, core)?;
                    self.instances.insert(*at, written);
                }
            }
        }
        Ok(())
    }

    fn module(&mut self, wasm: &[u8]) -> u32 {
        self.component.section(&RawSection { id: MODULE, data: wasm });
        self.modules_written += 1;
        self.modules_written - 1
    }

    fn canonical(&mut self, at: usize) -> Result<(), JoinError> {
        let parts = self.parts;
        let canonical = parts.canonicals.get(at).ok_or_else(missing)?;
        let mut section = CanonicalFunctionSection::new();
        self.parse_component_canonical(&mut section, canonical.clone())?;
        self.component.section(&section);
        if !matches!(canonical, CanonicalFunction::Lift { .. }) {
            self.write_item(Kind::Function, Origin::Canonical(at));
        }
        Ok(())
    }

    /// The joined module and its one instance.
    fn joined(&mut self) -> Result<(), JoinError> {
        let module = self.module(&self.merged.wasm);
        let mut imports = Vec::new();
        for (at, origin) in self.merged.imports.iter().enumerate() {
            let index = self.item(Kind::Function, *origin)?;
            imports.push((at.to_string(), ExportKind::Func, index));
        }
        let from = self.bag(imports);
        self.joined = Some(self.instantiate(module, &[(String::new(), from)]));
        Ok(())
    }

    /// An instance of a module that stays apart.
    fn instance(&mut self, instance: &Instance<'a>, core: &Core<'a>) -> Result<u32, JoinError> {
        let Instance::Module { module, args } = instance else { return Err(missing()) };
        let mut given = Vec::new();
        for (name, _) in args {
            let mut exports = Vec::new();
            for (import, origin) in core.imports.iter().zip(&core.origins) {
                if import.module == *name {
                    let kind = Kind::from(import.ty);
                    let index = self.item(kind, *origin)?;
                    exports.push((import.name.to_owned(), kind.into(), index));
                }
            }
            given.push(((*name).to_owned(), self.bag(exports)));
        }
        let module = self.modules.get(module).copied().ok_or_else(missing)?;
        Ok(self.instantiate(module, &given))
    }

    fn bag(&mut self, mut exports: Vec<(String, ExportKind, u32)>) -> u32 {
        exports.dedup();
        let mut section = InstanceSection::new();
        section
            .export_items(exports.iter().map(|(name, kind, index)| (name.as_str(), *kind, *index)));
        self.component.section(&section);
        self.instances_written += 1;
        self.instances_written - 1
    }

    fn instantiate(&mut self, module: u32, args: &[(String, u32)]) -> u32 {
        let mut section = InstanceSection::new();
        let args = args.iter().map(|(name, at)| (name.as_str(), ModuleArg::Instance(*at)));
        section.instantiate(module, args.collect::<Vec<_>>());
        self.component.section(&section);
        self.instances_written += 1;
        self.instances_written - 1
    }

    /// The index of an item, which gets one when it is first asked for.
    fn item(&mut self, kind: Kind, origin: Origin<'a>) -> Result<u32, JoinError> {
        if let Some(index) = self.items.get(&(kind, origin)) {
            return Ok(*index);
        }
        let Origin::Export { instance, name } = origin else { return Err(missing()) };
        let (instance, name) = match self.plan.taken.iter().position(|taken| *taken == origin) {
            Some(at) => (self.joined, at.to_string()),
            None => (self.instances.get(&instance).copied(), name.to_owned()),
        };
        let instance = instance.ok_or_else(missing)?;
        let mut section = ComponentAliasSection::new();
        section.alias(Alias::CoreInstanceExport { instance, kind: kind.into(), name: &name });
        self.component.section(&section);
        Ok(self.write_item(kind, origin))
    }

    fn write_item(&mut self, kind: Kind, origin: Origin<'a>) -> u32 {
        let written = self.items_written.of_mut(kind);
        let index = *written;
        *written += 1;
        self.items.insert((kind, origin), index);
        index
    }

    fn moved(&mut self, kind: Kind, index: u32) -> Encoded<u32> {
        let item = self.parts.origin(kind, index).ok_or_else(missing);
        let item = item.and_then(|origin| self.item(kind, origin));
        item.map_err(wasm_encoder::reencode::Error::UserError)
    }
}

impl Reencode for Writer<'_, '_> {
    type Error = JoinError;

    fn function_index(&mut self, index: u32) -> Encoded<u32> {
        self.moved(Kind::Function, index)
    }

    fn memory_index(&mut self, index: u32) -> Encoded<u32> {
        self.moved(Kind::Memory, index)
    }

    fn table_index(&mut self, index: u32) -> Encoded<u32> {
        self.moved(Kind::Table, index)
    }
}

impl ReencodeComponent for Writer<'_, '_> {}
