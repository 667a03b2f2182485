//! What a judge is sent: texts that cannot be taken for instructions, and the prompt around them.

mod escape;
mod fence;
mod render;

pub use escape::escaped;
pub use fence::Fence;
pub use render::{Material, PromptTemplate, Rendered, ShownMaterial};
