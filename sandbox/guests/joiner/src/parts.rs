//! A component, read into its parts.

use wasm_encoder::RawSection;
use wasmparser::{
    CanonicalFunction, CanonicalOption, Chunk, ComponentAlias, ComponentOuterAliasKind, Export,
    Import, InstantiationArgKind, Parser, Payload,
};

use super::error::JoinError;
use super::items::{Kind, Spaces};

/// Where an item of the core world comes from, once every name for it is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin<'a> {
    /// A canonical function, by its place among them.
    Canonical(usize),
    /// An export of an instance of a core module.
    Export { instance: u32, name: &'a str },
}

/// An instance of the core world.
pub(super) enum Instance<'a> {
    /// A module, with an instance for each name that it imports from.
    Module { module: u32, args: Vec<(&'a str, u32)> },
    /// Items under new names.
    Bag(Vec<Export<'a>>),
}

/// What a component is made of, in order.
pub(super) enum Part<'a> {
    /// A section that does not speak of the core world.
    Raw(RawSection<'a>),
    /// Another name for something that is not of the core world.
    Alias(ComponentAlias<'a>),
    /// A canonical function.
    Canonical(usize),
    /// A core module.
    Module(u32),
    /// An instance of the core world.
    Instance(u32),
}

/// A component.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) order: Vec<Part<'a>>,
    pub(super) canonicals: Vec<CanonicalFunction>,
    pub(super) instances: Vec<Instance<'a>>,
    modules: Vec<&'a [u8]>,
    /// The items of the core world by kind and index, as they are first named.
    items: Spaces<Vec<Named<'a>>>,
}

#[derive(Clone, Copy)]
enum Named<'a> {
    Canonical(usize),
    Export { instance: u32, name: &'a str },
}

impl<'a> Parts<'a> {
    pub(super) fn read(wasm: &'a [u8]) -> Result<Self, JoinError> {
        let mut parts = Self::default();
        let mut parser = Parser::new(0);
        let mut rest = wasm;
        loop {
            let Chunk::Parsed { payload, consumed } = parser.parse(rest, true)? else {
                return Err(JoinError::unknown("the component is cut off"));
            };
            (_, rest) = rest.split_at(consumed);
            if let Payload::End(_) = payload {
                return Ok(parts);
            }
            let section = payload.as_section();
            let bytes = section.clone().and_then(|(_, range)| wasm.get(range));
            let bytes = bytes.unwrap_or_default();
            // What is inside these is not read here.
            if let Payload::ModuleSection { .. } | Payload::ComponentSection { .. } = payload {
                (_, rest) = rest.split_at(bytes.len());
            }
            let raw = section.map(|(id, _)| RawSection { id, data: bytes });
            parts.section(payload, raw)?;
        }
    }

    fn section(
        &mut self,
        payload: Payload<'a>,
        raw: Option<RawSection<'a>>,
    ) -> Result<(), JoinError> {
        match payload {
            // Names would speak of indices that are no more.
            Payload::Version { encoding: wasmparser::Encoding::Component, .. }
            | Payload::CustomSection(_) => {}
            Payload::ModuleSection { .. } => {
                self.order.push(Part::Module(count(&self.modules)));
                self.modules.push(raw.map(|raw| raw.data).unwrap_or_default());
            }
            Payload::InstanceSection(instances) => {
                for instance in instances {
                    self.order.push(Part::Instance(count(&self.instances)));
                    self.instances.push(instance_of(instance?));
                }
            }
            Payload::ComponentAliasSection(aliases) => {
                for alias in aliases {
                    self.alias(alias?)?;
                }
            }
            Payload::ComponentCanonicalSection(canonicals) => {
                for canonical in canonicals {
                    let (at, canonical) = (self.canonicals.len(), canonical?);
                    if !matches!(canonical, CanonicalFunction::Lift { .. }) {
                        self.name(Kind::Function, Named::Canonical(at));
                    }
                    self.order.push(Part::Canonical(at));
                    self.canonicals.push(canonical);
                }
            }
            _ => {
                let raw = raw.ok_or_else(|| JoinError::unknown("not a component"))?;
                self.order.push(Part::Raw(raw));
            }
        }
        Ok(())
    }

    fn alias(&mut self, alias: ComponentAlias<'a>) -> Result<(), JoinError> {
        match alias {
            ComponentAlias::CoreInstanceExport { kind, instance_index: instance, name } => {
                self.name(kind.into(), Named::Export { instance, name });
            }
            ComponentAlias::Outer { kind: ComponentOuterAliasKind::CoreModule, .. } => {
                return Err(JoinError::unknown("a core module from outside"));
            }
            alias => self.order.push(Part::Alias(alias)),
        }
        Ok(())
    }

    fn name(&mut self, kind: Kind, named: Named<'a>) {
        self.items.of_mut(kind).push(named);
    }

    pub(super) fn module(&self, module: u32) -> Result<&'a [u8], JoinError> {
        let bytes = self.modules.get(module as usize).copied();
        bytes.ok_or_else(|| JoinError::unknown("a core module from outside"))
    }

    /// Where an item comes from.
    pub(super) fn origin(&self, kind: Kind, index: u32) -> Option<Origin<'a>> {
        match *self.items.of(kind).get(index as usize)? {
            Named::Canonical(at) => Some(Origin::Canonical(at)),
            Named::Export { instance, name } => self.exported(instance, name),
        }
    }

    /// Where an export of an instance comes from.
    fn exported(&self, instance: u32, name: &'a str) -> Option<Origin<'a>> {
        match self.instances.get(instance as usize)? {
            Instance::Module { .. } => Some(Origin::Export { instance, name }),
            Instance::Bag(exports) => {
                let export = exports.iter().find(|export| export.name == name)?;
                self.origin(export.kind.into(), export.index)
            }
        }
    }

    /// Where each import of an instance comes from.
    pub(super) fn imports(
        &self,
        instance: &Instance<'a>,
        imports: &[Import<'a>],
    ) -> Result<Vec<Origin<'a>>, JoinError> {
        let args = match instance {
            Instance::Module { args, .. } => args.as_slice(),
            Instance::Bag(_) => &[],
        };
        let origin = |import: &Import<'a>| {
            let (_, from) = args.iter().find(|(name, _)| *name == import.module)?;
            self.exported(*from, import.name)
        };
        let missing = |import: &Import<'a>| {
            JoinError::unknown(format!("nothing gives {} {}", import.module, import.name))
        };
        imports.iter().map(|import| origin(import).ok_or_else(|| missing(import))).collect()
    }

    /// What a canonical function needs of the core world; `None` where that is not known.
    pub(super) fn canonical_needs(&self, at: usize) -> Option<Vec<Origin<'a>>> {
        let (function, options) = match self.canonicals.get(at)? {
            CanonicalFunction::Lift { core_func_index, options, .. } => {
                (Some(*core_func_index), options.as_ref())
            }
            CanonicalFunction::Lower { options, .. } => (None, options.as_ref()),
            CanonicalFunction::ResourceNew { .. }
            | CanonicalFunction::ResourceDrop { .. }
            | CanonicalFunction::ResourceRep { .. } => (None, [].as_slice()),
            _ => return None,
        };
        let mut needs = Vec::new();
        if let Some(function) = function {
            needs.push(self.origin(Kind::Function, function)?);
        }
        for option in options {
            match *option {
                CanonicalOption::Memory(memory) => {
                    needs.push(self.origin(Kind::Memory, memory)?);
                }
                CanonicalOption::Realloc(function) | CanonicalOption::PostReturn(function) => {
                    needs.push(self.origin(Kind::Function, function)?);
                }
                CanonicalOption::UTF8 | CanonicalOption::UTF16 | CanonicalOption::CompactUTF16 => {}
                _ => return None,
            }
        }
        Some(needs)
    }
}

fn instance_of(instance: wasmparser::Instance<'_>) -> Instance<'_> {
    match instance {
        wasmparser::Instance::Instantiate { module_index, args } => {
            let args = args.iter().map(|arg| match arg.kind {
                InstantiationArgKind::Instance => (arg.name, arg.index),
            });
            Instance::Module { module: module_index, args: args.collect() }
        }
        wasmparser::Instance::FromExports(exports) => Instance::Bag(exports.into_vec()),
    }
}

fn count<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}
