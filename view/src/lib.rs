//! The results of a run as pages: [`report_html`] makes one file that needs nothing else, and `serve` shows whole
//! runs on this machine.
//!
//! The crate reads run folders by itself and knows no engine. What only the data know, prompts and
//! completions, is handed to it row by row. Every text of a model is data in the page, never markup:
//! see `page`.

#[cfg(feature = "serve")]
mod compare;
mod data;
mod error;
mod figures;
mod files;
mod index;
mod labels;
mod line;
mod lines;
mod opened;
mod overview;
mod page;
#[cfg(feature = "serve")]
mod query;
mod report;
#[cfg(feature = "serve")]
mod search;
#[cfg(feature = "serve")]
mod server;
#[cfg(test)]
mod testing;
mod text;
mod training;

pub use data::{DataRows, RowText, RunData};
pub use error::ViewError;
pub use opened::ViewRun;
pub use report::{REPORT_BYTES_MAX, report_html};
#[cfg(feature = "serve")]
pub use server::ViewServer;
