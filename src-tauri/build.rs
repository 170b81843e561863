//! Embeds the built UI and the capabilities into the app.
use std::{fs, path::Path};

fn main() -> anyhow::Result<()> {
    // `generate_context!` needs the folder of the UI even where the UI has not been built yet.
    let dist = Path::new("ui/dist");
    if !dist.exists() {
        fs::create_dir_all(dist)?;
        fs::write(dist.join("index.html"), "Build the UI first: cargo xtask run")?;
    }
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    println!("cargo:rerun-if-changed=ui/dist");
    tauri_build::try_build(
        tauri_build::Attributes::new().capabilities_path_pattern("src-tauri/capabilities/**/*"),
    )
}
