//! The results of a run as pages: [`report_html`] makes one file that needs nothing else, and `serve` shows whole
//! runs on this machine.
//!
//! The crate reads run folders by itself and knows no engine. What only the data know, prompts and
//! completions, is handed to it row by row. Every text of a model is data in the page, never markup:
//! see `page`.

#[cfg(feature = "serve")]
mod compare;
#[cfg(feature = "serve")]
mod data;
mod drawn;
mod error;
mod figures;
mod files;
mod groups;
#[cfg(feature = "serve")]
mod index;
#[cfg(feature = "serve")]
mod labels;
mod line;
#[cfg(feature = "serve")]
mod opened;
mod overview;
mod page;
#[cfg(feature = "serve")]
mod query;
mod report;
mod row;
#[cfg(feature = "serve")]
mod search;
#[cfg(feature = "serve")]
mod server;
mod text;
mod training;

#[cfg(feature = "serve")]
pub use data::RunData;
pub use error::ViewError;
#[cfg(feature = "serve")]
pub use opened::ViewRun;
pub use report::{REPORT_BYTES_MAX, report_html};
pub use row::{DataRows, RowText};
#[cfg(feature = "serve")]
pub use server::{ViewServer, ViewSpec};
