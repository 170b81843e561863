use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;

/// Which of the workspace's own crates each of them may use: arrows only go down this list. A crate that is
/// not in it has no place in the plan yet.
const ARROWS: &[(&str, &[&str])] = &[
    ("heph-core", &[]),
    ("heph-git", &["heph-core"]),
    ("heph-exec", &[]),
    ("heph-agent", &["heph-core", "heph-exec"]),
    ("heph-wire", &[]),
    ("heph-engine", &["heph-core", "heph-git", "heph-exec", "heph-agent", "heph-wire"]),
    ("heph-serve", &["heph-engine", "heph-wire"]),
    ("heph-testkit", &[]),
    ("heph", &["heph-engine", "heph-wire"]),
    ("xtask", &["heph-wire"]),
];

/// Crates that speak HTTP.
const HTTP: &[&str] = &["attohttpc", "curl", "genai", "hyper", "isahc", "minreq", "reqwest", "ureq"];

/// What the core must not reach besides: anything with files of git's, a runtime, a window or a socket.
const NOT_IN_CORE: &[&str] =
    &["async-std", "git2", "mio", "native-tls", "rustls", "smol", "socket2", "tauri", "tokio"];

/// The crates of a build and what each is compiled with; tests' own dependencies are left out.
pub struct Graph {
    members: BTreeSet<String>,
    uses: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    /// Reads what `cargo metadata` prints.
    ///
    /// # Errors
    /// It is not in the form of `--format-version=1`.
    pub fn parse(metadata: &str) -> Result<Graph> {
        let metadata: Value =
            serde_json::from_str(metadata).context("reading what cargo metadata printed")?;
        let names: BTreeMap<&str, &str> = list(&metadata["packages"])
            .filter_map(|package| Some((package["id"].as_str()?, package["name"].as_str()?)))
            .collect();
        let name = |id: &Value| {
            let id = id.as_str().context("a package without an id")?;
            Ok::<_, anyhow::Error>(names.get(id).context("a package without a name")?.to_string())
        };
        let mut uses = BTreeMap::<_, BTreeSet<_>>::new();
        for node in list(&metadata["resolve"]["nodes"]) {
            // Two versions of a crate are one name here: what either reaches counts.
            let used = uses.entry(name(&node["id"])?).or_default();
            for dependency in list(&node["deps"]) {
                if list(&dependency["dep_kinds"]).any(|kind| kind["kind"] != "dev") {
                    used.insert(name(&dependency["pkg"])?);
                }
            }
        }
        let members = list(&metadata["workspace_members"]).map(name).collect::<Result<_>>()?;
        Ok(Graph { members, uses })
    }

    fn uses(&self, of: &str) -> impl Iterator<Item = &str> {
        self.uses.get(of).into_iter().flatten().map(String::as_str)
    }

    /// The shortest way from a crate to one that `is_sought`, never through one that `is_closed`.
    fn way(
        &self,
        from: &str,
        is_sought: impl Fn(&str) -> bool,
        is_closed: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let mut seen = BTreeSet::from([from]);
        let mut ways = std::collections::VecDeque::from([vec![from]]);
        while let Some(way) = ways.pop_front() {
            let last = way.last().copied().unwrap_or(from);
            if is_sought(last) {
                return Some(way.join(" -> "));
            }
            for next in self.uses(last).filter(|next| !is_closed(next)) {
                if seen.insert(next) {
                    ways.push_back([&way[..], &[next]].concat());
                }
            }
        }
        None
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Where the crates do not keep to the plan of the house.
pub fn faults(graph: &Graph) -> Vec<String> {
    let mut faults = Vec::new();
    for member in &graph.members {
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| name == member) else {
            faults.push(format!("{member} has no place in the list of crates (xtask/src/tidy/crates.rs)"));
            continue;
        };
        for used in graph.uses(member).filter(|used| graph.members.contains(*used)) {
            if !allowed.contains(&used) {
                faults.push(format!("{member} must not use {used}"));
            }
        }
        let is_http = |name: &str| HTTP.contains(&name);
        if member != "heph-agent" {
            // What is behind heph-agent is heph-agent's.
            let way = graph.way(member, is_http, |next| next == "heph-agent");
            faults.extend(way.map(|way| format!("only heph-agent reaches a network: {way}")));
        }
        if member != "heph" {
            let way = graph.way(member, |name| name == "tauri" || name == "wry", |_| false);
            faults.extend(way.map(|way| format!("only the app reaches tauri: {way}")));
        }
        if member == "heph-core" {
            let way = graph.way(member, |name| NOT_IN_CORE.contains(&name), |_| false);
            faults.extend(way.map(|way| format!("the core is pure: {way}")));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A build in which each crate uses those named after it; `member` is in the workspace if it is in ARROWS.
    fn graph(uses: &[(&str, &[&str])]) -> Graph {
        let names: BTreeSet<&str> =
            uses.iter().flat_map(|(name, used)| [*name].into_iter().chain(used.iter().copied())).collect();
        let members: Vec<&str> = names.iter().copied().filter(|name| name.starts_with("heph")).collect();
        let node = |(name, used): &(&str, &[&str])| {
            let deps: Vec<Value> =
                used.iter().map(|name| json!({"pkg": name, "dep_kinds": [{"kind": null}]})).collect();
            json!({"id": name, "deps": deps})
        };
        let metadata = json!({
            "packages": names.iter().map(|name| json!({"id": name, "name": name})).collect::<Vec<_>>(),
            "workspace_members": members,
            "resolve": {"nodes": uses.iter().map(node).collect::<Vec<_>>()},
        });
        Graph::parse(&metadata.to_string()).unwrap()
    }

    #[test]
    fn the_plan_of_the_house_has_no_faults() {
        let house = graph(&[
            ("heph", &["heph-engine", "tauri"]),
            ("heph-engine", &["heph-agent", "heph-core", "tokio"]),
            ("heph-agent", &["heph-core", "genai"]),
            ("genai", &["reqwest"]),
        ]);
        assert_eq!(faults(&house), [""; 0]);
    }

    #[test]
    fn the_core_cannot_reach_a_runtime_not_even_through_another_crate() {
        let house = graph(&[("heph-core", &["harmless"]), ("harmless", &["tokio"])]);
        assert_eq!(faults(&house), ["the core is pure: heph-core -> harmless -> tokio"]);
    }

    #[test]
    fn only_the_agent_reaches_a_network() {
        let house = graph(&[("heph-git", &["fetch"]), ("fetch", &["hyper"])]);
        assert_eq!(faults(&house), ["only heph-agent reaches a network: heph-git -> fetch -> hyper"]);
    }

    #[test]
    fn only_the_app_reaches_the_window() {
        let house = graph(&[("heph-engine", &["tauri"])]);
        assert_eq!(faults(&house), ["only the app reaches tauri: heph-engine -> tauri"]);
    }

    #[test]
    fn an_arrow_that_goes_up_is_a_fault() {
        let house = graph(&[("heph-core", &["heph-git"])]);
        assert_eq!(faults(&house), ["heph-core must not use heph-git"]);
    }

    #[test]
    fn a_crate_that_the_plan_does_not_know_is_a_fault() {
        let house = graph(&[("heph-extras", &[])]);
        assert_eq!(
            faults(&house),
            ["heph-extras has no place in the list of crates (xtask/src/tidy/crates.rs)"]
        );
    }

    #[test]
    fn what_only_tests_use_is_not_counted() {
        let metadata = json!({
            "packages": [{"id": "a", "name": "heph"}, {"id": "b", "name": "ureq"}],
            "workspace_members": ["a"],
            "resolve": {"nodes": [
                {"id": "a", "deps": [{"pkg": "b", "dep_kinds": [{"kind": "dev"}]}]},
                {"id": "b", "deps": []},
            ]},
        });
        assert_eq!(faults(&Graph::parse(&metadata.to_string()).unwrap()), [""; 0]);
    }
}
