//! The kinds of items that core modules import and export.

use wasm_encoder::ExportKind;
use wasmparser::{ExternalKind, TypeRef};

/// Something for each kind of item that has indices of its own.
#[derive(Default)]
pub(super) struct Spaces<T> {
    pub(super) functions: T,
    pub(super) tables: T,
    pub(super) memories: T,
    pub(super) globals: T,
    pub(super) tags: T,
}

impl<T> Spaces<T> {
    pub(super) fn of(&self, kind: Kind) -> &T {
        match kind {
            Kind::Function => &self.functions,
            Kind::Table => &self.tables,
            Kind::Memory => &self.memories,
            Kind::Global => &self.globals,
            Kind::Tag => &self.tags,
        }
    }

    pub(super) fn of_mut(&mut self, kind: Kind) -> &mut T {
        match kind {
            Kind::Function => &mut self.functions,
            Kind::Table => &mut self.tables,
            Kind::Memory => &mut self.memories,
            Kind::Global => &mut self.globals,
            Kind::Tag => &mut self.tags,
        }
    }
}

/// A kind of item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Function,
    Table,
    Memory,
    Global,
    Tag,
}

impl From<ExternalKind> for Kind {
    fn from(kind: ExternalKind) -> Self {
        match kind {
            ExternalKind::Func | ExternalKind::FuncExact => Self::Function,
            ExternalKind::Table => Self::Table,
            ExternalKind::Memory => Self::Memory,
            ExternalKind::Global => Self::Global,
            ExternalKind::Tag => Self::Tag,
        }
    }
}

impl From<TypeRef> for Kind {
    fn from(ty: TypeRef) -> Self {
        match ty {
            TypeRef::Func(_) | TypeRef::FuncExact(_) => Self::Function,
            TypeRef::Table(_) => Self::Table,
            TypeRef::Memory(_) => Self::Memory,
            TypeRef::Global(_) => Self::Global,
            TypeRef::Tag(_) => Self::Tag,
        }
    }
}

impl From<Kind> for ExportKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Function => Self::Func,
            Kind::Table => Self::Table,
            Kind::Memory => Self::Memory,
            Kind::Global => Self::Global,
            Kind::Tag => Self::Tag,
        }
    }
}
