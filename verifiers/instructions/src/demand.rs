//! One instruction with its arguments, and which of several a text follows.

use serde_json::{Map, Value};

use crate::kwargs::Kwargs;
use crate::passage::loose_forms;
use crate::rule::{Edition, Judge};
use crate::{bench, ifeval, py, tulu};

/// One instruction with its arguments.
pub struct Demand {
    judge: Judge,
    /// What each byte of a text costs.
    per_byte: u64,
    /// What a text costs beyond.
    whole: u64,
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
    /// An instruction of `IFEval` or `IFBench`, by its id.
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
        let found = found.or_else(|| bench::read(id, &mut kwargs));
        Demand::checked(id, found, kwargs)
    }

    /// An instruction of Tulu 3: an object with `func_name` and arguments, as in its data set.
    ///
    /// # Errors
    ///
    /// As [`Demand::read`].
    pub fn tulu(name: &str, arguments: &Map<String, Value>) -> Result<Demand, String> {
        let mut kwargs = Kwargs::new(Some(arguments));
        kwargs.skip("func_name");
        let found = tulu::read(name, &mut kwargs);
        Demand::checked(name, found, kwargs)
    }

    fn checked(
        id: &str,
        found: Option<Result<Judge, String>>,
        kwargs: Kwargs<'_>,
    ) -> Result<Demand, String> {
        let judge = found.ok_or_else(|| format!("there is no instruction \"{id}\""))?;
        let within = |what: String| format!("instruction \"{id}\": {what}");
        let (judge, repeats) = (judge.map_err(within)?, kwargs.repeats());
        kwargs.finish().map_err(within)?;
        let is_language = ["language", "change_case", "case"].iter().any(|part| id.contains(part));
        let whole = if is_language { 800_000 } else { 0 };
        Ok(Demand { judge, per_byte: 40 + 8 * repeats, whole })
    }

    /// What it costs to judge a text of so many bytes, in steps of 1 to 10 ns.
    pub fn cost(&self, bytes: usize) -> u64 {
        self.whole.saturating_add(self.per_byte.saturating_mul(bytes as u64))
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
