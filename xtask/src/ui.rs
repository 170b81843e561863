use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{install, process};

/// Installs the packages of the user interface, where its lock file is not the one they were installed from.
///
/// # Errors
/// Node is missing, or npm failed.
pub fn install(root: &Path) -> Result<()> {
    install::node()?;
    let lock = fs::read(root.join("ui/package-lock.json")).context("reading ui/package-lock.json")?;
    let stamp = root.join("ui/node_modules/.installed-lock.json");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    process::run(process::npm(root).args(["ci", "--no-audit", "--no-fund"]))?;
    fs::write(stamp, lock)?;
    Ok(())
}

/// Builds the user interface into `ui/dist`, where neither its sources nor what was built are as they were
/// after the last build.
///
/// # Errors
/// The build failed.
pub fn build(root: &Path) -> Result<()> {
    let stamp = root.join("target/ui-build.stamp");
    let present = || -> Result<String> {
        Ok(format!("{:x} {:x}", sources(&root.join("ui"))?, contents(&root.join("ui/dist"))?))
    };
    if fs::read_to_string(&stamp).is_ok_and(|built| present().is_ok_and(|present| present == built)) {
        println!("The user interface is built already.");
        return Ok(());
    }
    process::run(process::npm(root).args(["run", "build"]))?;
    fs::create_dir_all(root.join("target"))?;
    fs::write(stamp, present()?)?;
    Ok(())
}

/// A number for all of `ui/` that is neither installed nor built.
fn sources(ui: &Path) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    for entry in sorted(ui)? {
        if !["node_modules", "dist"].iter().any(|name| entry.ends_with(name)) {
            contents(&entry)?.hash(&mut hasher);
        }
    }
    Ok(hasher.finish())
}

/// A number for a file or folder: its name and all that is in it.
fn contents(path: &Path) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    path.file_name().hash(&mut hasher);
    if path.is_dir() {
        for entry in sorted(path)? {
            contents(&entry)?.hash(&mut hasher);
        }
    } else {
        fs::read(path).with_context(|| format!("reading {}", path.display()))?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
