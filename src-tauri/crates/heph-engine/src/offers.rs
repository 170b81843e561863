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

/// What a gate looks at, in the order in which gates are offered and run: what is quick first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Format,
    Lint,
    Test,
}

struct Offer {
    kind: Kind,
    name: String,
    run: String,
}

fn offer(kind: Kind, name: &str, run: impl Into<String>) -> Offer {
    Offer { kind, name: name.to_owned(), run: run.into() }
}

/// The content of a file at the root, where there is such a file.
type Read<'a> = &'a dyn Fn(&str) -> Option<String>;

fn suggested(read: Read<'_>) -> Vec<GateDefinition> {
    let mut offers: Vec<Offer> = Vec::new();
    let sources = [cargo, package, python, go, targets];
    for mut offer in sources.into_iter().flat_map(|source| source(read)) {
        // Two tools may both have a `test`; the second is called by what it runs.
        if offers.iter().any(|other| other.name == offer.name) {
            offer.name = format!("{}-{}", offer.run.split(' ').next().unwrap_or_default(), offer.name);
        }
        if !offers.iter().any(|other| other.name == offer.name || other.run == offer.run) {
            offers.push(offer);
        }
    }
    offers.sort_by_key(|offer| offer.kind);
    while offers.len() > MOST {
        let lint = offers.iter().rposition(|offer| offer.kind == Kind::Lint);
        offers.remove(lint.unwrap_or(MOST));
    }
    offers.into_iter().map(|Offer { name, run, .. }| GateDefinition { name, run }).collect()
}

fn cargo(read: Read<'_>) -> Vec<Offer> {
    let Some(manifest) = read("Cargo.toml") else { return Vec::new() };
    let manifest: toml::Table = manifest.parse().unwrap_or_default();
    let workspace = if manifest.contains_key("workspace") { " --workspace" } else { "" };
    vec![
        offer(Kind::Format, "fmt", "cargo fmt --all --check"),
        offer(Kind::Lint, "clippy", format!("cargo clippy{workspace} --all-targets -- -D warnings")),
        offer(Kind::Test, "test", format!("cargo test{workspace}")),
    ]
}

fn package(read: Read<'_>) -> Vec<Offer> {
    let Some(manifest) = read("package.json") else { return Vec::new() };
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap_or_default();
    let locked =
        [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
    // As Corepack reads it: `pnpm@9.1.0`.
    let named = manifest["packageManager"].as_str().and_then(|manager| manager.split('@').next());
    let named = ["npm", "pnpm", "yarn", "bun"].into_iter().find(|manager| named == Some(manager));
    let locked = locked.into_iter().find(|(lock, _)| read(lock).is_some()).map(|(_, manager)| manager);
    let manager = named.or(locked).unwrap_or("npm");
    let wanted = [
        (Kind::Format, "format:check", "format"),
        (Kind::Format, "fmt:check", "format"),
        (Kind::Lint, "lint", "lint"),
        (Kind::Lint, "typecheck", "types"),
        (Kind::Lint, "check", "check"),
        (Kind::Lint, "build", "build"),
        (Kind::Test, "test", "test"),
    ];
    // What `npm init` writes fails always, and what watches never ends.
    let ends = |command: &str| !command.contains("no test specified") && !command.contains("watch");
    let has = |script: &str| manifest["scripts"][script].as_str().is_some_and(ends);
    wanted
        .into_iter()
        .filter(|(_, script, _)| has(script))
        .map(|(kind, script, name)| offer(kind, name, format!("{manager} run {script}")))
        .collect()
}

fn python(read: Read<'_>) -> Vec<Offer> {
    let holds = |file: &str, text: &str| read(file).is_some_and(|content| content.contains(text));
    let runner = [("uv.lock", "uv run "), ("poetry.lock", "poetry run ")];
    let runner = runner.into_iter().find(|(lock, _)| read(lock).is_some()).map_or("", |(_, runner)| runner);
    let mut offers = Vec::new();
    if holds("pyproject.toml", "[tool.ruff.format") {
        offers.push(offer(Kind::Format, "format", format!("{runner}ruff format --check .")));
    }
    if holds("pyproject.toml", "[tool.ruff") || read("ruff.toml").is_some() || read(".ruff.toml").is_some() {
        offers.push(offer(Kind::Lint, "lint", format!("{runner}ruff check .")));
    }
    let is_configured = holds("setup.cfg", "[tool:pytest]") || holds("tox.ini", "[pytest]");
    let is_there = read("pytest.ini").is_some() || read("conftest.py").is_some();
    if holds("pyproject.toml", "pytest") || is_configured || is_there {
        offers.push(offer(Kind::Test, "test", format!("{runner}python3 -m pytest -q")));
    }
    offers
}

fn go(read: Read<'_>) -> Vec<Offer> {
    match read("go.mod") {
        Some(_) => vec![
            offer(Kind::Format, "gofmt", "test -z \"$(gofmt -l . | tee /dev/stderr)\""),
            offer(Kind::Lint, "vet", "go vet ./..."),
            offer(Kind::Test, "test", "go test ./..."),
        ],
        None => Vec::new(),
    }
}

fn targets(read: Read<'_>) -> Vec<Offer> {
    let files = [
        ("GNUmakefile", "make"),
        ("makefile", "make"),
        ("Makefile", "make"),
        ("justfile", "just"),
        (".justfile", "just"),
    ];
    let wanted = [
        (Kind::Format, "fmt-check"),
        (Kind::Format, "format-check"),
        (Kind::Lint, "lint"),
        (Kind::Lint, "check"),
        (Kind::Test, "test"),
    ];
    let mut offers = Vec::new();
    for (file, runner) in files {
        let Some(text) = read(file) else { continue };
        let there = wanted.iter().filter(|(_, name)| text.lines().any(|line| makes(line, name)));
        offers.extend(there.map(|(kind, name)| offer(*kind, name, format!("{runner} {name}"))));
    }
    offers
}

/// Whether `line` starts the target `name` of a Makefile, or the recipe of a justfile.
fn makes(line: &str, name: &str) -> bool {
    // A justfile may silence a recipe with `@`.
    let line = line.strip_prefix('@').unwrap_or(line);
    let Some(rest) = line.strip_prefix(name).filter(|rest| rest.starts_with([':', ' ', '\t'])) else {
        return false;
    };
    // Prerequisites and parameters come between; `:=` and `=` assign.
    let colon = rest.find([':', '=']).map(|at| &rest[at..]);
    colon.is_some_and(|end| end.starts_with(':') && !end.starts_with(":="))
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
            ["lint: ruff check .", "test: python3 -m pytest -q"]
        );
        assert_eq!(offered(&[("pytest.ini", ""), ("uv.lock", "")]), ["test: uv run python3 -m pytest -q"]);
        let go = [
            "gofmt: test -z \"$(gofmt -l . | tee /dev/stderr)\"",
            "vet: go vet ./...",
            "test: go test ./...",
        ];
        assert_eq!(offered(&[("go.mod", "module m")]), go);
        assert_eq!(offered(&[("package.json", "no json")]), [""; 0]);
    }

    #[test]
    fn a_target_is_told_from_what_only_starts_like_one() {
        for (text, is_offered) in [
            ("test:\n\ttrue\n", true),
            ("test: build\n\ttrue\n", true),
            ("test lint::\n", true),
            ("tests:\n", false),
            ("test := a\n", false),
            ("test = a:b\n", false),
            ("\ttest: no\n", false),
        ] {
            assert_eq!(offered(&[("Makefile", text)]) == ["test: make test"], is_offered, "{text}");
        }
        assert_eq!(offered(&[("justfile", "@test *args:\n")]), ["test: just test"]);
    }

    #[test]
    fn two_tools_do_not_share_a_name_and_there_are_few_of_which_the_tests_stay() {
        let files = [("Cargo.toml", "[workspace]"), ("go.mod", "module m"), ("Makefile", "test:\ncheck:\n")];
        let names: Vec<String> =
            offered(&files).iter().map(|offer| offer.split(':').next().unwrap().to_owned()).collect();
        assert_eq!(names, ["fmt", "gofmt", "test", "go-test", "make-test"]);
        let scripts = r#"{"packageManager": "yarn@4.1.0", "scripts": {"format:check": "a", "lint": "a",
            "typecheck": "a", "check": "a", "build": "a", "test": "a"}}"#;
        let offers = offered(&[("package.json", scripts)]);
        assert_eq!((offers.len(), offers[4].as_str()), (MOST, "test: yarn run test"));
    }
}
