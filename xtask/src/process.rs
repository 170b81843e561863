use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// Cargo, as it runs this program, in the project's folder.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// npm, in the folder of the user interface.
pub fn npm(root: &Path) -> Command {
    let mut command = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    command.current_dir(root.join("ui"));
    command
}

/// Runs a command; what it prints is seen at once.
///
/// # Errors
/// It could not be started, or did not exit with 0.
pub fn run(command: &mut Command) -> Result<()> {
    let words = words(command);
    println!("$ {words}");
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("starting `{words}`"))?;
    if !status.success() {
        bail!("`{words}` failed ({status})");
    }
    Ok(())
}

/// Runs a command; what it prints is seen at once, and its standard output is shown to `line`, line by line.
/// Gives whether it exited with 0.
///
/// # Errors
/// It could not be started.
pub fn follow(command: &mut Command, mut line: impl FnMut(&str)) -> Result<bool> {
    let words = words(command);
    println!("$ {words}");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting `{words}`"))?;
    let output = child.stdout.take().context("standard output is a pipe")?;
    for bytes in BufReader::new(output).split(b'\n') {
        let text = String::from_utf8_lossy(&bytes?).into_owned();
        println!("{text}");
        line(&text);
    }
    Ok(child.wait()?.success())
}

/// What a command prints on standard output.
///
/// # Errors
/// It could not be started, or did not exit with 0.
pub fn output(command: &mut Command) -> Result<String> {
    let words = words(command);
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("starting `{words}`"))?;
    if !output.status.success() {
        bail!("`{words}` failed ({})", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a command can be started and exits with 0; it prints nothing.
pub fn succeeds(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

fn words(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
