use std::collections::BTreeSet;

/// A text file of the project.
pub struct File {
    /// From the project's folder, with slashes.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// Longer source files hold more than one thing.
const MOST_LINES: usize = 800;
const GENERATED: &str = "ui/src/lib/bindings/";
const DESKTOP_BINDING: &str = "@tauri-apps";
const BACKEND: &str = "ui/src/lib/backend/";
const ARCHITECTURE: &str = "docs/architecture.md";
const MOST_INVARIANTS: usize = 10;

/// Whether the rules look at a file.
pub fn is_text(path: &str) -> bool {
    is_source(path) || path == ARCHITECTURE
}

fn is_source(path: &str) -> bool {
    let Some((_, extension)) = path.rsplit_once('.') else { return false };
    ["rs", "ts", "js", "mjs", "svelte", "css"].contains(&extension) && !path.starts_with(GENERATED)
}

/// Where the files break a rule.
pub fn faults(files: &[File]) -> Vec<String> {
    let sources = || files.iter().filter(|file| is_source(&file.path));
    let mut faults = Vec::new();
    faults.extend(sources().filter_map(long_file));
    faults.extend(sources().filter_map(desktop_outside_backend));
    match files.iter().find(|file| file.path == ARCHITECTURE) {
        Some(architecture) => faults.extend(invariants_without_test(&architecture.text, &tests(files))),
        None => faults.push(format!("{ARCHITECTURE} is missing")),
    }
    faults
}

fn long_file(file: &File) -> Option<String> {
    let lines = file.text.lines().count();
    (lines > MOST_LINES).then(|| format!("{} has {lines} lines, more than {MOST_LINES}", file.path))
}

fn desktop_outside_backend(file: &File) -> Option<String> {
    let line = file.text.lines().position(|line| line.contains(DESKTOP_BINDING))?;
    (file.path.starts_with("ui/src/") && !file.path.starts_with(BACKEND))
        .then(|| format!("{}:{}: only {BACKEND} imports {DESKTOP_BINDING}", file.path, line + 1))
}

/// The names of all tests written in Rust.
fn tests(files: &[File]) -> BTreeSet<&str> {
    let mut tests = BTreeSet::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        let mut is_test = false;
        for line in file.text.lines().map(str::trim) {
            if let Some(name) = line.trim_start_matches("async ").strip_prefix("fn ") {
                if let (true, Some((name, _))) = (is_test, name.split_once('(')) {
                    tests.insert(name);
                }
                is_test = false;
            }
            // Macros of test libraries end in `test` too: `#[tokio::test]`.
            is_test |= line.starts_with("#[") && line.trim_end_matches(']').ends_with("test");
        }
    }
    tests
}

/// Looks at the numbered list under the heading `Invariants`: each entry says `Held by` and then, in
/// backticks, the tests that hold it, each a function's name or a path that ends in one.
fn invariants_without_test(architecture: &str, tests: &BTreeSet<&str>) -> Vec<String> {
    let invariants = invariants(architecture);
    let mut faults = Vec::new();
    if !(1..=MOST_INVARIANTS).contains(&invariants.len()) {
        let count = invariants.len();
        faults.push(format!("{ARCHITECTURE} has {count} invariants; it has 1 to {MOST_INVARIANTS}"));
    }
    for (number, invariant) in (1..).zip(invariants) {
        let held_by = invariant.split_once("Held by").map_or("", |(_, held_by)| held_by);
        let named: Vec<&str> = held_by.split('`').skip(1).step_by(2).collect();
        if named.is_empty() {
            faults.push(format!("{ARCHITECTURE}: invariant {number} does not say which test it is held by"));
        }
        for name in named {
            if !tests.contains(name.rsplit("::").next().unwrap_or(name)) {
                faults.push(format!(
                    "{ARCHITECTURE}: invariant {number} is held by `{name}`, which is no test"
                ));
            }
        }
    }
    faults
}

fn invariants(architecture: &str) -> Vec<String> {
    let is_invariants =
        |line: &str| line.starts_with('#') && line.trim_start_matches('#').trim() == "Invariants";
    let section = architecture.lines().skip_while(|line| !is_invariants(line)).skip(1);
    let mut invariants: Vec<String> = Vec::new();
    for line in section.take_while(|line| !line.starts_with('#')) {
        let is_entry = line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        if is_entry {
            invariants.push(line.to_owned());
        } else if let Some(invariant) = invariants.last_mut() {
            invariant.push(' ');
            invariant.push_str(line);
        }
    }
    invariants
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.into(), text: text.into() }
    }

    fn house(more: File) -> Vec<String> {
        let architecture =
            "## Invariants\n\n1. Nothing is lost.\n   Held by `git::nothing_is_lost`.\n\n## Else\n2. No.\n";
        faults(&[
            file(ARCHITECTURE, architecture),
            file("src-tauri/crates/heph-git/src/lib.rs", "    #[test]\n    fn nothing_is_lost() {\n"),
            more,
        ])
    }

    #[test]
    fn a_file_over_the_limit_is_a_fault_unless_it_is_generated() {
        let lines = "x\n".repeat(MOST_LINES + 1);
        assert_eq!(house(file("ui/src/lib/bindings/wire.ts", &lines)), [""; 0]);
        assert_eq!(
            house(file("ui/src/App.svelte", &lines)),
            ["ui/src/App.svelte has 801 lines, more than 800"]
        );
    }

    #[test]
    fn only_the_backend_folder_knows_the_desktop() {
        let import = "\nimport { invoke } from \"@tauri-apps/api/core\";";
        assert_eq!(house(file("ui/src/lib/backend/tauri.ts", import)), [""; 0]);
        assert_eq!(
            house(file("ui/src/App.svelte", import)),
            ["ui/src/App.svelte:2: only ui/src/lib/backend/ imports @tauri-apps"]
        );
    }

    #[test]
    fn an_invariant_names_a_test_that_exists() {
        let tests = BTreeSet::from(["nothing_is_lost"]);
        let check = |text: &str| invariants_without_test(&format!("## Invariants\n{text}\n"), &tests);
        assert_eq!(check("1. Kept. Held by `nothing_is_lost`."), [""; 0]);
        assert_eq!(
            check("1. Kept. Held by `gone`."),
            ["docs/architecture.md: invariant 1 is held by `gone`, which is no test"]
        );
        assert_eq!(
            check("1. Kept, see `nothing_is_lost`."),
            ["docs/architecture.md: invariant 1 does not say which test it is held by"]
        );
        assert_eq!(check(""), ["docs/architecture.md has 0 invariants; it has 1 to 10"]);
    }

    #[test]
    fn a_function_is_a_test_only_where_it_is_marked_as_one() {
        let source = "#[test]\nfn one() {}\nfn two() {}\n#[tokio::test]\n// why\nasync fn three() {}\n";
        assert_eq!(tests(&[file("a.rs", source)]), BTreeSet::from(["one", "three"]));
    }
}
