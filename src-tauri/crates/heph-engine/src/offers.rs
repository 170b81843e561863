//! Gates that a repository's own files suggest.
//!
//! Read from the names and contents of files at the root; nothing is run. What a tool is not evidenced for is
//! not offered: a gate that cannot run helps nobody.

use std::{fs, path::Path};

use heph_wire::GateDefinition;

/// More are not offered: gates run on every attempt.
const MOST: usize = 5;

/// So much of a file is read; a manifest is shorter.
const LONGEST: u64 = 1 << 20;

/// The gates found in the repository at `root`: format, then build and lint, then tests.
pub fn found(root: &Path) -> Vec<GateDefinition> {
    let read = |name: &str| {
        let file = root.join(name);
        let is_small = file.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
        is_small.then(|| fs::read_to_string(&file).ok()).flatten()
    };
    suggested(&read)
}

fn suggested(read: &dyn Fn(&str) -> Option<String>) -> Vec<GateDefinition> {
    let mut gates: Vec<GateDefinition> = Vec::new();
    let sources = [cargo, package, python, go, targets];
    for (name, run) in sources.into_iter().flat_map(|source| source(read)) {
        // Two tools may both have a `test`; the second is called by what it runs.
        let name = match gates.iter().any(|gate| gate.name == name) {
            true => run.split(' ').next().map_or(name.clone(), |tool| format!("{tool}-{name}")),
            false => name,
        };
        if gates.len() < MOST && !gates.iter().any(|gate| gate.name == name || gate.run == run) {
            gates.push(GateDefinition { name, run });
        }
    }
    gates
}

type Found = Vec<(String, String)>;

fn gate(name: &str, run: impl Into<String>) -> (String, String) {
    (name.to_owned(), run.into())
}

fn cargo(read: &dyn Fn(&str) -> Option<String>) -> Found {
    let Some(manifest) = read("Cargo.toml") else { return Vec::new() };
    let workspace = if manifest.contains("[workspace]") { " --workspace" } else { "" };
    vec![
        gate("fmt", "cargo fmt --all --check"),
        gate("clippy", format!("cargo clippy{workspace} --all-targets -- -D warnings")),
        gate("test", format!("cargo test{workspace}")),
    ]
}

fn package(read: &dyn Fn(&str) -> Option<String>) -> Found {
    let Some(manifest) = read("package.json") else { return Vec::new() };
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap_or_default();
    let runner =
        [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")]
            .into_iter()
            .find(|(lock, _)| read(lock).is_some())
            .map_or("npm", |(_, runner)| runner);
    let wanted = [
        ("format:check", "format"),
        ("fmt:check", "format"),
        ("lint", "lint"),
        ("typecheck", "types"),
        ("check", "check"),
        ("build", "build"),
        ("test", "test"),
    ];
    wanted
        .into_iter()
        .filter(|(script, _)| {
            let command = manifest["scripts"][script].as_str();
            // What `npm init` writes fails always.
            command.is_some_and(|command| !command.contains("no test specified"))
        })
        .map(|(script, name)| gate(name, format!("{runner} run {script}")))
        .collect()
}

fn python(read: &dyn Fn(&str) -> Option<String>) -> Found {
    let project = read("pyproject.toml").unwrap_or_default();
    let setup = read("setup.cfg").unwrap_or_default();
    let mut gates = Vec::new();
    if project.contains("[tool.ruff") || read("ruff.toml").is_some() || read(".ruff.toml").is_some() {
        gates.push(gate("lint", "ruff check ."));
    }
    let names_pytest = project.contains("pytest") || setup.contains("[tool:pytest]");
    if names_pytest || read("pytest.ini").is_some() || read("conftest.py").is_some() {
        gates.push(gate("test", "python -m pytest -q"));
    }
    gates
}

fn go(read: &dyn Fn(&str) -> Option<String>) -> Found {
    match read("go.mod") {
        Some(_) => vec![gate("vet", "go vet ./..."), gate("test", "go test ./...")],
        None => Vec::new(),
    }
}

fn targets(read: &dyn Fn(&str) -> Option<String>) -> Found {
    let mut gates = Vec::new();
    for (file, runner) in
        [("Makefile", "make"), ("makefile", "make"), ("justfile", "just"), ("Justfile", "just")]
    {
        let Some(text) = read(file) else { continue };
        for name in ["lint", "check", "test"] {
            let starts = |line: &str| {
                let rest = line.strip_prefix(name)?;
                rest.trim_start().strip_prefix(':').map(|rest| !rest.starts_with('='))
            };
            if text.lines().any(|line| starts(line).unwrap_or_default()) {
                gates.push(gate(name, format!("{runner} {name}")));
            }
        }
    }
    gates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(files: &[(&str, &str)]) -> Vec<String> {
        let read =
            |name: &str| files.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned());
        suggested(&read).into_iter().map(|gate| format!("{}: {}", gate.name, gate.run)).collect()
    }

    #[test]
    fn each_tool_is_offered_where_its_files_are() {
        assert_eq!(offered(&[]), [""; 0]);
        assert_eq!(
            offered(&[("Cargo.toml", "[package]")]),
            [
                "fmt: cargo fmt --all --check",
                "clippy: cargo clippy --all-targets -- -D warnings",
                "test: cargo test"
            ]
        );
        let scripts = r#"{"scripts": {"test": "vitest", "lint": "eslint .", "start": "vite"}}"#;
        assert_eq!(offered(&[("package.json", scripts)]), ["lint: npm run lint", "test: npm run test"]);
        assert_eq!(offered(&[("package.json", scripts), ("pnpm-lock.yaml", "")])[0], "lint: pnpm run lint");
        let untested = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        assert_eq!(offered(&[("package.json", untested)]), [""; 0]);
        assert_eq!(
            offered(&[("pyproject.toml", "[tool.ruff]\n[tool.pytest.ini_options]\n")]),
            ["lint: ruff check .", "test: python -m pytest -q"]
        );
        assert_eq!(offered(&[("go.mod", "module m")]), ["vet: go vet ./...", "test: go test ./..."]);
        assert_eq!(offered(&[("Makefile", "test:\n\ttrue\ntests := a\nlint = b\n")]), ["test: make test"]);
        assert_eq!(offered(&[("package.json", "no json")]), [""; 0]);
    }

    #[test]
    fn two_tools_do_not_share_a_name_and_there_are_few() {
        let files = [("Cargo.toml", "[workspace]"), ("go.mod", "module m"), ("Makefile", "test:\n")];
        let all = offered(&files);
        assert_eq!(all.len(), MOST);
        assert_eq!(all[4], "go-test: go test ./...");
    }
}
