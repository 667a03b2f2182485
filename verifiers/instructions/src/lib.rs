//! Instructions that can be verified, as pure functions over a text: no I/O, no clock, deterministic.
//!
//! [`Demand`] is one instruction of IFEval, IFBench or Tulu 3, with its arguments; [`follow`] says which
//! of several a text follows, as it is and loosely. [`languages`] tells what a text is written in, equal
//! to `langdetect` with seed 0. The tables are described in `data/README.md`.
//!
//! The cost of a judgement is linear in the text, up to patterns that a data set gives: see
//! [`Demand::cost`].

mod detect;
mod ifeval;
mod json;
mod kwargs;
mod needle;
mod passage;
mod profiles;
mod punkt;
mod py;
mod tokens;
mod twister;

use serde_json::{Map, Value};

pub use detect::{codes, languages};
pub use punkt::sentences;
pub use tokens::words;

use kwargs::Kwargs;
use passage::{Passage, loose_forms};

/// Which semantics an instruction has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edition {
    /// Those of the official code, with its quirks.
    #[default]
    Official,
    /// The same without what is plainly a mistake.
    Fixed,
}

/// What says whether a text follows an instruction.
type Judge = Box<dyn Fn(&Passage<'_>) -> bool + Send + Sync>;

fn judge(judge: impl Fn(&Passage<'_>) -> bool + Send + Sync + 'static) -> Result<Judge, String> {
    Ok(Box::new(judge))
}

/// One instruction with its arguments.
pub struct Demand {
    judge: Judge,
}

/// Whether a text follows an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// As it is.
    pub strict: bool,
    /// In one of the eight loose forms.
    pub loose: bool,
}

impl Demand {
    /// An instruction of IFEval or IFBench.
    ///
    /// # Errors
    ///
    /// What is wrong: an id that is unknown, or an argument that is unknown, missing or none that can
    /// be judged by. Official code replaces what is missing by something drawn at random.
    pub fn read(
        id: &str,
        kwargs: Option<&Map<String, Value>>,
        edition: Edition,
    ) -> Result<Demand, String> {
        let mut kwargs = Kwargs::new(kwargs);
        let found = ifeval::read(id, &mut kwargs, edition);
        let judge = found.ok_or_else(|| format!("there is no instruction \"{id}\""))?;
        let within = |what: String| format!("instruction \"{id}\": {what}");
        let judge = judge.map_err(within)?;
        kwargs.finish().map_err(within)?;
        Ok(Demand { judge })
    }
}

/// Which instructions a text follows, in their order. A blank text follows none.
pub fn follow(demands: &[Demand], text: &str) -> Vec<Met> {
    let forms = loose_forms(text);
    let is_blank = py::strip(text).is_empty();
    demands
        .iter()
        .map(|demand| {
            // The first form is the text itself, unless it is blank.
            let mut met = forms.iter().map(|form| (demand.judge)(form));
            let strict = !is_blank && met.next() == Some(true);
            Met { strict, loose: strict || met.any(|met| met) }
        })
        .collect()
}
