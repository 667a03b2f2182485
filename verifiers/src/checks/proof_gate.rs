//! `proof_gate`: a proof has no gap that its text shows, and states what was asked.

use assay_structure::proof::{Flaw, Prover};

use crate::prelude::*;
use crate::text_parts::{Place, judge_document, valid};

/// Right when a formal proof has no gap that its text shows, and proves the statement of the reference.
///
/// No prover runs: this is a gate before one (`external_checker`), and it alone proves nothing. Words that leave
/// a gap (`sorry`, `admit`), assume (`axiom`), trust a compiler or change what the statement means (`variable`,
/// `instance`, `notation`, a definition of a name that it uses) are refused, outside of comments and texts in
/// quotes; the statement itself may assume and define. The statement of the reference, without what begins a
/// proof, must stand there token by token, white space and comments aside, with a proof behind it.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProofGate {
    /// The language of the proof.
    prover: ProverName,
    /// Where the proof stands.
    from: Place,
    /// Words that are allowed though they leave a gap, and names that may be defined anew.
    allow: Vec<String>,
    /// The reference is no statement: it is not looked at.
    any_statement: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ProverName {
    #[default]
    Lean,
    Coq,
    Isabelle,
    Dafny,
}

impl ProverName {
    fn prover(self) -> Prover {
        match self {
            Self::Lean => Prover::Lean,
            Self::Coq => Prover::Coq,
            Self::Isabelle => Prover::Isabelle,
            Self::Dafny => Prover::Dafny,
        }
    }
}

impl Check for ProofGate {
    const ID: &'static str = "proof_gate";
    const ASPECT: Aspect = Aspect::Form;

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let prover = self.prover.prover();
        let statement =
            sample.reference().map(crate::sample::value_text).filter(|_| !self.any_statement);
        if statement.is_none() && !self.any_statement {
            return Ok(Verdict::no_reference());
        }
        if let Some(statement) = &statement {
            meter.spend(60 * statement.len() as u64)?;
            if !prover.stated(statement).is_ok_and(|words| !words.is_empty()) {
                return Err(Fault::bad_reference("the reference is no statement"));
            }
        }
        let stated = statement.as_deref();
        judge_document(sample, (self.from, prover.fences(), 150), meter, |text, _| {
            Ok(match prover.flaw(text, stated, &self.allow)? {
                None => valid(),
                Some(Flaw::Gap(word, _)) => {
                    Verdict::graded(false).with("word", word.as_str()).because("gap")
                }
                Some(Flaw::OtherStatement) => Verdict::graded(false).because("other-statement"),
                Some(Flaw::NoProof) => Verdict::graded(false).because("no-proof"),
            })
        })
    }
}
