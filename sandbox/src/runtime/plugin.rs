//! Guests that judge: components that export the interface of `wit/plugin.wit`.

use sha2::{Digest as _, Sha256};
use wasmtime::component::{
    ComponentExportIndex, ComponentType, InstancePre, Lift, Lower, ResourceTable,
};

use super::clock::Clock;
use super::component::{Room, linker};
use super::limits::{Limits, Stop};
use super::state::{Fence, fenced};
use super::{Runtime, SandboxError, compiled};

const INTERFACE: &str = "assay:plugin/verifier@0.1.0";

/// A compiled plugin. Cheap to clone.
#[derive(Clone)]
pub struct Plugin {
    runtime: Runtime,
    pre: InstancePre<Room>,
    verify: ComponentExportIndex,
    digest: [u8; 32],
}

/// What a plugin judges.
#[derive(Clone, ComponentType, Lower)]
#[component(record)]
pub struct Question {
    /// The text of the prompt.
    pub prompt: String,
    /// The text that is judged.
    pub completion: String,
    /// The reference, as JSON.
    pub reference: Option<String>,
    /// The other columns, as JSON.
    pub meta: String,
    /// The settings of the plugin, as JSON.
    pub settings: String,
}

#[derive(Debug, ComponentType, Lift)]
#[component(record)]
struct Score {
    reward: f64,
    evidence: String,
}

#[derive(Debug, ComponentType, Lift)]
#[component(variant)]
enum Answer {
    #[component(name = "scored")]
    Scored(Score),
    #[component(name = "abstained")]
    Abstained(String),
}

/// What a plugin says of a sample.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// A reward, which may not be finite, and the evidence, which may not be JSON.
    Scored(f64, String),
    /// The plugin does not apply, for this reason.
    Abstained(String),
    /// The plugin could not judge, for this reason.
    Refused(String),
}

/// What came of asking a plugin, and what it cost.
#[derive(Debug)]
pub struct Judged {
    /// What it said, or what stopped it.
    pub end: Result<Judgement, Stop>,
    /// Fuel that was spent.
    pub fuel: u64,
}

impl Plugin {
    /// Compiles a component, or takes its compiled form from where the runtime keeps them. `name`
    /// is for messages.
    ///
    /// # Errors
    /// Bytes that are no component, one that asks for more than a guest is given, and one that
    /// does not export the interface.
    pub fn load(runtime: &Runtime, name: &str, wasm: &[u8]) -> Result<Self, SandboxError> {
        let refused = |why: String| SandboxError::Guest { name: name.to_owned(), why };
        let failed = |error: wasmtime::Error| refused(format!("{error:#}"));
        let digest = Sha256::digest(wasm).into();
        let component = compiled::component(runtime, wasm, &digest).map_err(failed)?;
        let verify = component
            .get_export_index(None, INTERFACE)
            .and_then(|interface| component.get_export_index(Some(&interface), "verify"))
            .ok_or_else(|| refused(format!("it does not export `verify` of {INTERFACE}")))?;
        let pre = linker(runtime).and_then(|linker| linker.instantiate_pre(&component));
        let pre = pre.map_err(failed)?;
        Ok(Self { runtime: runtime.clone(), pre, verify, digest })
    }

    /// SHA-256 of the WebAssembly bytes.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Asks a fresh instance. Its clock and its random numbers are the same for every sample.
    pub async fn judge(&self, question: Question, limits: Limits) -> Judged {
        let fence = Fence::new(limits, Clock::new());
        let wasi = fence.wasi(Vec::new(), 0).build();
        let room = Room { fence, wasi, table: ResourceTable::new(), invoke: None };
        let mut store = match fenced(&self.runtime, room) {
            Ok(store) => store,
            Err(stop) => return Judged { end: Err(stop), fuel: 0 },
        };
        let answered = self.ask(&mut store, question).await;
        let left = store.get_fuel().unwrap_or(0);
        let end = match answered {
            Ok(Ok(Answer::Scored(paid))) => Ok(Judgement::Scored(paid.reward, paid.evidence)),
            Ok(Ok(Answer::Abstained(why))) => Ok(Judgement::Abstained(why)),
            Ok(Err(why)) => Ok(Judgement::Refused(why)),
            Err(error) => Err(store.data().fence.stop(&error)),
        };
        Judged { end, fuel: store.data().fence.fuel_spent(left) }
    }

    async fn ask(
        &self,
        store: &mut wasmtime::Store<Room>,
        question: Question,
    ) -> wasmtime::Result<Result<Answer, String>> {
        let instance = self.pre.instantiate_async(&mut *store).await?;
        let verify = instance
            .get_typed_func::<(Question,), (Result<Answer, String>,)>(&mut *store, &self.verify)?;
        Ok(verify.call_async(&mut *store, (question,)).await?.0)
    }
}
