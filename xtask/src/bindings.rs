use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

use crate::reference;

const TYPESCRIPT: &str = "ui/src/lib/bindings/wire.ts";
const PROTOCOL: &str = "docs/protocol.md";

/// Writes the TypeScript of the protocol, and the reference part of its documentation.
///
/// # Errors
/// A file could not be read or written, or the documentation has lost its marker.
pub fn write(root: &Path) -> Result<()> {
    for (file, text) in generated(root)? {
        fs::write(root.join(file), text).with_context(|| format!("writing {file}"))?;
    }
    Ok(())
}

/// Compares what is committed with what would be written.
///
/// # Errors
/// A file is not up to date.
pub fn check(root: &Path) -> Result<()> {
    for (file, text) in generated(root)? {
        if fs::read_to_string(root.join(file)).unwrap_or_default() != text {
            bail!("{file} is not up to date: run `cargo xtask bindings` and commit the result");
        }
    }
    Ok(())
}

fn generated(root: &Path) -> Result<[(&'static str, String); 2]> {
    let typescript = heph_wire::typescript();
    let protocol = fs::read_to_string(root.join(PROTOCOL)).with_context(|| format!("reading {PROTOCOL}"))?;
    let protocol = reference::replace(&protocol, &typescript)?;
    Ok([(TYPESCRIPT, typescript), (PROTOCOL, protocol)])
}
