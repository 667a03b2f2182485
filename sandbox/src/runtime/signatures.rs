//! The types of a module's functions, as its sections before their bodies give them.

use wasmparser::{
    BlockType, CompositeInnerType, ContType, FrameKind, FuncType, ModuleArity, Payload, RefType,
    SubType, TypeRef,
};

/// What a module says of its functions before their bodies.
#[derive(Default)]
pub(super) struct Signatures {
    types: Vec<SubType>,
    /// The type of each function, imports first.
    functions: Vec<u32>,
    imports: usize,
}

impl Signatures {
    /// Takes in a section; most say nothing of types.
    pub(super) fn read(&mut self, payload: &Payload<'_>) -> wasmparser::Result<()> {
        match payload {
            Payload::TypeSection(types) => {
                for group in types.clone() {
                    self.types.extend(group?.into_types());
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.clone().into_imports() {
                    if let TypeRef::Func(ty) | TypeRef::FuncExact(ty) = import?.ty {
                        self.functions.push(ty);
                    }
                }
                self.imports = self.functions.len();
            }
            Payload::FunctionSection(functions) => {
                for ty in functions.clone() {
                    self.functions.push(ty?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The index of the function with this body.
    pub(super) fn index(&self, body: usize) -> usize {
        self.imports + body
    }

    pub(super) fn of_function(&self, index: usize) -> Option<&FuncType> {
        self.of_type(*self.functions.get(index)?)
    }

    /// `None` for a type that is not a function.
    pub(super) fn of_type(&self, index: u32) -> Option<&FuncType> {
        match &self.sub_type_at(index)?.composite_type.inner {
            CompositeInnerType::Func(function) => Some(function),
            _ => None,
        }
    }
}

impl ModuleArity for Signatures {
    fn sub_type_at(&self, index: u32) -> Option<&SubType> {
        self.types.get(index as usize)
    }

    fn type_index_of_function(&self, index: u32) -> Option<u32> {
        self.functions.get(index as usize).copied()
    }

    fn tag_type_arity(&self, _: u32) -> Option<(u32, u32)> {
        None
    }

    fn func_type_of_cont_type(&self, _: &ContType) -> Option<&FuncType> {
        None
    }

    fn sub_type_of_ref_type(&self, _: &RefType) -> Option<&SubType> {
        None
    }

    fn control_stack_height(&self) -> u32 {
        0
    }

    fn label_block(&self, _: u32) -> Option<(BlockType, FrameKind)> {
        None
    }
}
