//! Rules of the house that no compiler checks. Each is a pure function over what it looks at, and gives the
//! faults it found in words.

mod crates;
mod files;

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};

use crate::process;

/// Checks every rule.
///
/// # Errors
/// A rule is broken; every place where one is has been printed.
pub fn tidy(root: &Path) -> Result<()> {
    let mut faults = crates::faults(&crates::Graph::parse(&metadata(root)?)?);
    let files = files(root)?;
    faults.extend(files::faults(&files));
    if faults.is_empty() {
        println!("{} files are tidy.", files.len());
        return Ok(());
    }
    for fault in &faults {
        println!("tidy: {fault}");
    }
    bail!("tidy found {} faults", faults.len())
}

fn metadata(root: &Path) -> Result<String> {
    // Without a platform cargo would fetch what other systems need.
    let version = process::output(Command::new("rustc").arg("-vV"))?;
    let host =
        version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names its host")?;
    process::output(process::cargo(root).args(["metadata", "--format-version=1", "--filter-platform", host]))
}

/// The project's own text files: what git tracks, or would.
fn files(root: &Path) -> Result<Vec<files::File>> {
    let mut list = Command::new("git");
    list.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let mut files = Vec::new();
    for path in process::output(&mut list)?.split('\0').filter(|path| files::is_text(path)) {
        // A file may be tracked and deleted.
        if let Ok(text) = fs::read_to_string(root.join(path)) {
            files.push(files::File { path: path.to_owned(), text });
        }
    }
    Ok(files)
}
