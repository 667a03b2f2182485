//! The candidate's instance, as the host holds it.

use super::message::{self, Reply, request};
use crate::answer::unmarked;
use crate::runtime::{Guest, GuestClock, Instance, Limits, Setup, Stop};
use crate::value::{PyValue, marshal};

/// Bytes of the names and constants that the tests take from the candidate's program.
const NAMES_BYTES_MAX: usize = 1 << 20;

/// What is loaded into a candidate's instance.
#[derive(Clone, Copy)]
pub(super) struct Load<'a> {
    /// Code that runs first.
    pub(super) setup: Option<&'a str>,
    /// The candidate's program.
    pub(super) program: &'a str,
    /// Names that programs take for granted are there.
    pub(super) has_common_imports: bool,
}

impl Load<'_> {
    /// As the guest takes it.
    pub(super) fn arguments(self) -> [PyValue; 3] {
        [
            self.setup.map(unmarked).into(),
            unmarked(self.program).into(),
            PyValue::Bool(self.has_common_imports),
        ]
    }

    /// Whether the reply says that the setup does not run, and it does not run alone either, in an
    /// instance of its own. An instance that has run a candidate's program is not believed: it
    /// could blame the tests for what the candidate did.
    pub(super) async fn is_blamed(
        self,
        reply: &Reply,
        guest: &Guest,
        limits: &Limits,
    ) -> Result<bool, Stop> {
        if !matches!(reply, Reply::BadSetup(_)) || self.setup.is_none() {
            return Ok(false);
        }
        let mut fresh =
            CandidateInstance::start(guest, limits, GuestClock::new(), 0, false).await?;
        let alone = Load { program: "", ..self };
        let reply = fresh.ask(request("load", alone.arguments())).await?.0;
        Ok(matches!(reply, Reply::BadSetup(_)))
    }
}

/// A started instance for the candidate's program.
pub(super) struct CandidateInstance {
    instance: Instance,
    allows_nan: bool,
    /// Why the candidate can no longer pass.
    pub(super) poisoned: Option<String>,
    /// What stopped the instance.
    pub(super) stop: Option<Stop>,
    /// Messages that went in.
    pub(super) crossings: u64,
}

impl CandidateInstance {
    pub(super) async fn start(
        guest: &Guest,
        limits: &Limits,
        clock: GuestClock,
        seed: u64,
        allows_nan: bool,
    ) -> Result<Self, Stop> {
        let setup = Setup { limits: limits.clone(), clock, seed, ..Setup::default() };
        let instance = guest.start(setup).await?;
        Ok(Self { instance, allows_nan, poisoned: None, stop: None, crossings: 0 })
    }

    /// Sends a message in and reads all of the reply. An instance that breaks a rule is poisoned for
    /// good; an error is not a fault of the instance.
    pub(super) async fn ask(&mut self, message: Vec<u8>) -> Result<(Reply, Vec<u8>), Stop> {
        if let Some(why) = &self.poisoned {
            return Ok((Reply::Bad(why.clone()), message::poisoned(why)));
        }
        let bytes = match self.instance.call(message).await {
            Ok(bytes) => bytes,
            Err(stop @ (Stop::Deadline | Stop::Internal(_))) => return Err(stop),
            Err(stop) => {
                let why = stop.to_string();
                self.stop = Some(stop);
                return Ok(self.poison(why));
            }
        };
        match message::read(&bytes) {
            Reply::Bad(why) | Reply::Exits(why) => Ok(self.poison(why)),
            Reply::Value(seen) if seen.nan && !self.allows_nan => {
                Ok(self.poison("a result is not a number".to_owned()))
            }
            reply => Ok((reply, bytes)),
        }
    }

    /// Forwards a message of the tests' side, and returns the reply.
    pub(super) async fn cross(&mut self, message: Vec<u8>) -> Result<Vec<u8>, Stop> {
        // Asking what the program defines runs none of its code.
        let is_names = message.starts_with(&message::head_of("names"));
        self.crossings += u64::from(!is_names);
        marshal::check(&message).map_err(|error| Stop::Internal(message::unreadable(&error)))?;
        let is_step = message.starts_with(&message::head_of("next"));
        match self.ask(message).await? {
            // The end of an iteration that did not begin would end an iteration of the tests.
            (Reply::Ended, _) if !is_step => {
                Ok(self.poison("an iteration ends that has not begun".to_owned()).1)
            }
            // Names arrive before the candidate is called. Were the tests to run out of memory for
            // them, it would look as if the tests had failed by themselves.
            (_, bytes) if is_names && bytes.len() > NAMES_BYTES_MAX => {
                Ok(self.poison("what the tests name is too large".to_owned()).1)
            }
            (_, bytes) => Ok(bytes),
        }
    }

    pub(super) fn instance(&self) -> &Instance {
        &self.instance
    }

    fn poison(&mut self, why: String) -> (Reply, Vec<u8>) {
        let told = message::poisoned(&why);
        self.poisoned = Some(why.clone());
        (Reply::Bad(why), told)
    }
}
