//! Templates: Jinja within bounds. Whatever makes a value pays for its size, and whatever reads one pays for
//! that; the interpreter by itself counts instructions alone.

mod account;
mod bounded;
mod json;
mod program;

use minijinja::Environment;

pub use account::{chatting, fits, within, work};
pub use json::python_json;
pub use program::{BoundedTemplate, STACK_BYTES};

/// Instructions that a rendering may take. A long conversation takes a few thousand.
const FUEL: u64 = 1_000_000;
/// Calls of templates and macros that may be open at a time, four each: each takes some of the stack.
const LEVELS_MAX: usize = 160;

/// An environment in which a [`BoundedTemplate`] runs, [`within`] an account. Its filters, tests and methods are those
/// of minijinja and, for texts and maps, those of Python.
pub fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(LEVELS_MAX);
    bounded::register(&mut environment);
    program::register(&mut environment);
    environment
}
