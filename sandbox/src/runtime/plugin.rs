//! Guests that are verifiers: components that export the interface of `wit/plugin.wit`.

use sha2::{Digest as _, Sha256};
use wasmtime::component::{ComponentExportIndex, ComponentType, InstancePre, Lift, Lower};

use super::compiled;
use super::component::{Setup, State, linker, refused};
use super::engine::{Runtime, SandboxError};
use super::limits::{Limits, Stop};
use super::record::Run;
use super::state::{metered, record};

const INTERFACE: &str = "assay:plugin/verifier@0.1.0";

/// A compiled plugin. Cheap to clone.
#[derive(Clone)]
pub struct Plugin {
    runtime: Runtime,
    pre: InstancePre<State>,
    verify: ComponentExportIndex,
    digest: [u8; 32],
}

/// What a plugin is given.
#[derive(Clone, ComponentType, Lower)]
#[component(record)]
pub struct PluginInput {
    /// The text of the prompt.
    pub prompt: String,
    /// The text of the completion.
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
pub enum PluginAnswer {
    /// A reward, which may not be finite, and the evidence, which may not be JSON.
    Scored(f64, String),
    /// The plugin does not apply, for this reason.
    Abstained(String),
    /// The plugin gave an error, for this reason.
    Refused(String),
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Plugin")
    }
}

impl Plugin {
    /// Compiles a component, or takes its compiled form from where the runtime keeps them. `name`
    /// is for messages.
    ///
    /// # Errors
    /// Bytes that are no component, one that asks for more than a guest is given, and one that
    /// does not export the interface.
    pub fn load(runtime: &Runtime, name: &str, wasm: &[u8]) -> Result<Self, SandboxError> {
        let digest = Sha256::digest(wasm).into();
        let loaded =
            compiled::load(&compiled::COMPONENT, runtime, wasm, &digest).and_then(|component| {
                let verify = component
                    .get_export_index(None, INTERFACE)
                    .and_then(|interface| component.get_export_index(Some(&interface), "verify"));
                let missing =
                    || wasmtime::format_err!("it does not export `verify` of {INTERFACE}");
                Ok((verify.ok_or_else(missing)?, linker(runtime)?.instantiate_pre(&component)?))
            });
        let (verify, pre) = loaded.map_err(refused(name))?;
        Ok(Self { runtime: runtime.clone(), pre, verify, digest })
    }

    /// SHA-256 of the WebAssembly bytes.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Asks a fresh instance. Its clock and its random numbers are the same for every sample.
    ///
    /// # Errors
    /// [`Stop::Internal`] where it could not be started at all.
    pub async fn verify(
        &self,
        input: PluginInput,
        limits: Limits,
    ) -> Result<Run<PluginAnswer>, Stop> {
        let mut store = metered(&self.runtime, State::new(Setup { limits, ..Setup::default() }))?;
        let end = match self.ask(&mut store, input).await {
            Ok(Ok(Answer::Scored(paid))) => Ok(PluginAnswer::Scored(paid.reward, paid.evidence)),
            Ok(Ok(Answer::Abstained(why))) => Ok(PluginAnswer::Abstained(why)),
            Ok(Err(why)) => Ok(PluginAnswer::Refused(why)),
            Err(error) => Err(store.data().quota.stop(&error)),
        };
        Ok(Run { end, used: record(&store) })
    }

    async fn ask(
        &self,
        store: &mut wasmtime::Store<State>,
        input: PluginInput,
    ) -> wasmtime::Result<Result<Answer, String>> {
        let instance = self.pre.instantiate_async(&mut *store).await?;
        let verify = instance.get_typed_func::<(PluginInput,), (Result<Answer, String>,)>(
            &mut *store,
            &self.verify,
        )?;
        Ok(verify.call_async(&mut *store, (input,)).await?.0)
    }
}
