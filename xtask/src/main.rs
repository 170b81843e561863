//! The project's own commands, so that a clone needs nothing but Rust and Node to be run and tested.
//!
//! It knows how the project is built and checked, and nothing of what the app does. It needs no system
//! package itself, because it is what installs them.
//!
//! Words: a *part* is one step of `cargo xtask test`; a *fault* is a place where `tidy` found a rule broken.

mod bindings;
mod install;
mod process;
mod reference;
mod test;
mod tidy;
mod ui;

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, bail};

const HELP: &str = "\
cargo xtask run [-- ARGUMENTS]   install what is missing, build, and start the app; without arguments: the demo
cargo xtask test                 install what the tests need, and run every check and test
cargo xtask tidy                 check the rules of the house that no compiler checks
cargo xtask bindings [--check]   write what is generated from heph-wire, or check that it is up to date";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[&str]) -> Result<ExitCode> {
    let root = root()?;
    match arguments {
        ["run", "--", rest @ ..] | ["run", rest @ ..] => run(&root, rest),
        ["test"] => test::test(&root),
        ["tidy"] => tidy::tidy(&root).map(|()| ExitCode::SUCCESS),
        ["bindings"] => bindings::write(&root).map(|()| ExitCode::SUCCESS),
        ["bindings", "--check"] => bindings::check(&root).map(|()| ExitCode::SUCCESS),
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("there is no such command: {}\n\n{HELP}", arguments.join(" ")),
    }
}

fn run(root: &Path, arguments: &[&str]) -> Result<ExitCode> {
    install::packages(install::TO_BUILD)?;
    ui::install(root)?;
    ui::build(root)?;
    // With the features of the whole workspace, as `test` builds it, so that going from one to the other
    // compiles nothing twice.
    process::run(process::cargo(root).args(["build", "--workspace", "--bin", "heph"]))?;
    let app = std::env::current_exe()?.with_file_name(format!("heph{}", std::env::consts::EXE_SUFFIX));
    let arguments = if arguments.is_empty() { &["--demo"] } else { arguments };
    let status =
        Command::new(&app).args(arguments).status().with_context(|| format!("starting {}", app.display()))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(here.parent().context("xtask lies in the project's folder")?.to_path_buf())
}
