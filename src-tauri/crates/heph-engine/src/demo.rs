//! The demo: a small repository, and a replay model made for it.

use std::path::{Path, PathBuf};

use heph_git::{GitError, create_repository};
use heph_wire::{ModelSettings, Provider};
use include_dir::{Dir, DirEntry, include_dir};

/// The files of the repository.
static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../../demo/repo");

/// What its model says and does.
const SCRIPT: &str = include_str!("../../../../demo/demo.replay.toml");

/// The repository's name.
const NAME: &str = "gatehouse";

/// The folder of demos in the data folder.
const FOLDER: &str = "demo";

/// The script's file, beside the repository.
const SCRIPT_FILE: &str = "demo.replay.toml";

/// Why no demo could be made.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The repository.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The script beside it.
    #[error("the demo's model cannot be written: {0}")]
    Script(#[from] std::io::Error),
}

/// Makes a fresh copy of the demo in the data folder, and returns its root. Earlier copies stay: the
/// user may have work in them.
pub fn make(data: &Path) -> Result<PathBuf, DemoError> {
    let folder = (1..)
        .map(|number| data.join(FOLDER).join(number.to_string()))
        .find(|folder| !folder.exists())
        .expect("there are more numbers than folders");
    let root = folder.join(NAME);
    let mut files = Vec::new();
    collect(&FILES, &mut files);
    create_repository(&root, &files)?;
    std::fs::write(folder.join(SCRIPT_FILE), SCRIPT)?;
    Ok(root)
}

fn collect<'a>(folder: &'a Dir<'a>, files: &mut Vec<(&'a Path, &'a [u8])>) {
    for entry in folder.entries() {
        match entry {
            DirEntry::Dir(folder) => collect(folder, files),
            DirEntry::File(file) => files.push((file.path(), file.contents())),
        }
    }
}

/// The model of the repository at `root`, where that is a demo of this data folder.
pub fn model_of(data: &Path, root: &Path) -> Option<ModelSettings> {
    let folder = root.parent()?;
    let demos = data.join(FOLDER).canonicalize().ok()?;
    let script = folder.join(SCRIPT_FILE);
    let is_demo = folder.parent() == Some(demos.as_path()) && script.is_file();
    is_demo.then(|| ModelSettings {
        provider: Provider::Replay,
        name: Some("Demo".into()),
        file: Some(script.to_string_lossy().into_owned()),
    })
}
