//! The reference part of the protocol's documentation, made from the TypeScript of heph-wire.

use anyhow::{Context, Result};

/// What follows this line is generated.
const MARKER: &str = "<!-- What follows is written by `cargo xtask bindings`. -->";

/// The documentation, with all that follows its marker made anew.
///
/// # Errors
/// The documentation has no marker, or the TypeScript is not in the form that is looked for.
pub fn replace(documentation: &str, typescript: &str) -> Result<String> {
    let (written, _) = documentation.split_once(MARKER).context("docs/protocol.md has lost its marker")?;
    Ok(format!("{written}{MARKER}\n\n{}", reference(typescript)?))
}

fn reference(typescript: &str) -> Result<String> {
    let declarations: Vec<&str> = typescript.trim_end().split("\n\n").skip(1).collect();
    let find = |start: &str| {
        let found = declarations.iter().find(|declaration| declaration.contains(start));
        found.copied().with_context(|| format!("the TypeScript has no `{start}`"))
    };
    let methods = find("export interface Methods ")?;
    let notifications = find("export type Notification ")?;
    let errors = find("export type CallError ")?;
    let apart = [methods, notifications, errors];
    let types = declarations.iter().filter(|declaration| !apart.contains(declaration)).copied();
    Ok([
        format!("## Methods\n\n{}", method_table(methods)?),
        section("Notifications", [notifications]),
        section("Errors", [errors]),
        section("Types", types),
    ]
    .join("\n"))
}

fn section<'a>(title: &str, declarations: impl IntoIterator<Item = &'a str>) -> String {
    let declarations: Vec<&str> = declarations.into_iter().collect();
    let text = declarations.join("\n\n").replace("export ", "");
    format!("## {title}\n\n```ts\n{text}\n```\n")
}

/// One row for each member of `Methods`; what it does stands in a comment on the line before it.
fn method_table(methods: &str) -> Result<String> {
    let mut table = String::from("| method | params | result | what it does |\n|---|---|---|---|\n");
    let lines: Vec<&str> = methods.lines().map(str::trim).collect();
    for (before, line) in lines.iter().zip(&lines[1..]) {
        let Some((name, types)) = line.strip_prefix('"').and_then(|line| line.split_once("\": { params: "))
        else {
            continue;
        };
        let types = types.strip_suffix(" };").and_then(|types| types.split_once("; result: "));
        let (params, result) = types.with_context(|| format!("`{name}` has no params and result"))?;
        let what = before.strip_prefix("/** ").and_then(|comment| comment.strip_suffix(" */"));
        let what = what.with_context(|| format!("`{name}` has no comment before it"))?;
        table.push_str(&format!("| `{name}` | `{params}` | `{result}` | {what} |\n"));
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_wrote_stays_and_the_reference_is_made_anew() {
        let old = format!("# The protocol\n\nWords.\n\n{MARKER}\n\nold tables\n");
        let new = replace(&old, &heph_wire::typescript()).unwrap();
        assert!(new.starts_with("# The protocol\n\nWords.\n") && !new.contains("old tables"));
        assert!(replace("no marker", &heph_wire::typescript()).is_err());
    }

    #[test]
    fn every_method_and_the_fields_of_every_type_are_in_the_reference() {
        let reference = reference(&heph_wire::typescript()).unwrap();
        for name in heph_wire::METHOD_NAMES {
            assert!(reference.contains(&format!("| `{name}` |")), "{name} is missing");
        }
        assert!(reference.contains("/** How many hunks have none. */"));
        assert!(reference.contains("\"method\": \"review/ready\""));
    }
}
