//! The model that a session's settings name.

use std::path::{Path, PathBuf};

use heph_agent::{
    Agent, Entry,
    replay::{ReplayModel, Script},
};
use heph_wire::{CallError, ErrorKind, ModelSettings, Provider};

/// An agent for these settings that goes on after `told`. Relative paths are taken from `folder`.
///
/// # Errors
/// Where the model cannot be had: for a replay file with a fault, by line and field.
pub fn agent(settings: &ModelSettings, folder: &Path, told: Vec<Entry>) -> Result<Agent, CallError> {
    match settings.provider {
        Provider::Replay => {
            let script = script(settings, folder)?;
            let prompts: Vec<String> = told
                .iter()
                .filter_map(|entry| match entry {
                    Entry::User(text) => Some(text.clone()),
                    Entry::Model(_) | Entry::Results(_) => None,
                })
                .collect();
            Ok(Agent::new(Box::new(ReplayModel::new(script, &prompts)), told))
        }
    }
}

fn script(settings: &ModelSettings, folder: &Path) -> Result<Script, CallError> {
    let fault = |message: String| CallError::new(ErrorKind::Settings, message);
    let Some(file) = &settings.file else {
        return Err(fault("The replay model needs a file: set `file` under [model].".into()));
    };
    let path: PathBuf = folder.join(file);
    let source = std::fs::read_to_string(&path)
        .map_err(|error| fault(format!("The replay file {} cannot be read: {error}.", path.display())))?;
    Script::parse(&source, &path.display().to_string()).map_err(|error| fault(error.to_string()))
}
