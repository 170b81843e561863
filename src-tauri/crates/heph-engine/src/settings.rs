//! `heph.toml` of a repository and the user's own `config.toml`.
//!
//! The user's value wins; gate lists are joined, the repository's first. Nothing of a repository's
//! settings is run before the user has agreed to it as shown, by digest.

use std::{collections::HashSet, path::Path, time::Duration};

use heph_core::{
    path::RepoPath,
    turn::{self, Setup},
};
use heph_wire::ModelSettings;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use sha2::{Digest, Sha256};
use toml::Spanned;

/// A gate that names no time limit gets this one.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// After so many days a worktree that nothing needs is taken away.
const DEFAULT_KEEP_DAYS: u32 = 14;

/// What is wrong in a settings file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The file exists and cannot be read.
    #[error("{file} cannot be read: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// A key is unknown, or a value does not fit.
    #[error("{file}:{line}: {message}")]
    Fault {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong, naming the key.
        message: String,
    },
}

/// One settings file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    #[serde(default)]
    gate: Vec<Gate>,
    #[serde(default)]
    gates: Gates,
    #[serde(default)]
    review: Review,
    #[serde(default)]
    worktree: Worktree,
    #[serde(default)]
    model: Model,
}

/// A command that must exit 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Its name, on one line.
    #[serde(deserialize_with = "one_line")]
    pub name: String,
    /// What the platform's shell runs, in the worktree.
    #[serde(deserialize_with = "not_empty")]
    pub run: String,
    timeout: Option<Timeout>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gates {
    attempts: Option<Count>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Review {
    reproposal_threshold: Option<Share>,
    reproposal_floor: Option<Count>,
    max_rounds: Option<Count>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Worktree {
    copy: Option<Vec<Inside>>,
    link: Option<Vec<Inside>>,
    setup: Option<String>,
    keep_days: Option<Count>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    provider: Option<Provider>,
    name: Option<String>,
    base_url: Option<String>,
    key_env: Option<String>,
    command: Option<Vec<String>>,
    file: Option<String>,
    record: Option<String>,
}

/// A provider that settings may name; the protocol has those that there are already.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Provider {
    Anthropic,
    Openai,
    Ollama,
    Gemini,
    Acp,
    Replay,
}

/// A provider is named that this version does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the provider {0} under [model] is not available yet; `replay` is")]
pub struct NotAvailable(&'static str);

/// A whole number, 1 or more.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "i64")]
struct Count(u32);

/// A number over 0, to 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
struct Share(f64);

/// A path inside the repository, relative to its root.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
struct Inside(RepoPath);

impl TryFrom<String> for Inside {
    type Error = String;

    fn try_from(value: String) -> Result<Inside, String> {
        RepoPath::new(value).map(Inside).map_err(|error| error.to_string())
    }
}

/// A time as `90s`, `10m` or `1h`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Timeout(Duration);

impl From<Timeout> for String {
    fn from(timeout: Timeout) -> String {
        format!("{}s", timeout.0.as_secs())
    }
}

impl TryFrom<i64> for Count {
    type Error = String;

    fn try_from(value: i64) -> Result<Count, String> {
        match u32::try_from(value) {
            Ok(count) if count > 0 => Ok(Count(count)),
            _ => Err(format!("{value} is out of range: a whole number from 1")),
        }
    }
}

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(value: f64) -> Result<Share, String> {
        let fits = value > 0.0 && value <= 1.0;
        fits.then_some(Share(value)).ok_or_else(|| format!("{value} is out of range: over 0, to 1"))
    }
}

impl TryFrom<String> for Timeout {
    type Error = String;

    fn try_from(value: String) -> Result<Timeout, String> {
        let split = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
        let (number, unit) = value.split_at(split);
        let seconds = match unit {
            "s" => Some(1),
            "m" => Some(60),
            "h" => Some(3600),
            _ => None,
        };
        let whole = number.parse::<u64>().ok().filter(|number| *number > 0);
        let timeout = whole.zip(seconds).and_then(|(number, seconds)| number.checked_mul(seconds));
        timeout
            .map(|seconds| Timeout(Duration::from_secs(seconds)))
            .ok_or_else(|| format!("{value:?} is no time: write it as \"90s\", \"10m\" or \"1h\""))
    }
}

fn not_empty<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    let text = String::deserialize(value)?;
    match text.trim() {
        "" => Err(D::Error::custom("it is empty")),
        _ => Ok(text),
    }
}

fn one_line<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    let text = not_empty(value)?;
    match text.contains(char::is_control) {
        true => Err(D::Error::custom(format!("{text:?} is more than plain words on one line"))),
        false => Ok(text),
    }
}

impl Worktree {
    /// These settings, and where they say nothing, the others.
    fn or(self, other: Worktree) -> Worktree {
        Worktree {
            copy: self.copy.or(other.copy),
            link: self.link.or(other.link),
            setup: self.setup.or(other.setup),
            keep_days: self.keep_days.or(other.keep_days),
        }
    }

    fn setup(&self) -> Setup {
        let copied = self.copy.iter().chain(&self.link).flatten().map(|inside| inside.0.clone()).collect();
        // An empty one is how a user has none where the repository has one.
        let command = self.setup.clone().filter(|command| !command.trim().is_empty());
        Setup { copied, command }
    }
}

impl Gate {
    /// How long it may run.
    pub fn time_limit(&self) -> Duration {
        self.timeout.map_or(DEFAULT_TIMEOUT, |timeout| timeout.0)
    }
}

impl Settings {
    /// Reads `file`; a file that does not exist says nothing.
    ///
    /// # Errors
    /// A key that is unknown, a value of a wrong type or out of range, or a second gate of one name, by
    /// file, line and key.
    pub fn read(file: &Path) -> Result<Settings, SettingsError> {
        let shown = file.display().to_string();
        match std::fs::read_to_string(file) {
            Ok(text) => Settings::parse(&text, &shown),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Settings::default()),
            Err(error) => Err(SettingsError::Unreadable { file: shown, reason: error.to_string() }),
        }
    }

    fn parse(text: &str, file: &str) -> Result<Settings, SettingsError> {
        let fault = |at: usize, message: String| SettingsError::Fault {
            file: file.into(),
            line: text[..at.min(text.len())].matches('\n').count() + 1,
            message,
        };
        let faulty =
            |error: toml::de::Error| fault(error.span().map_or(0, |span| span.start), words(text, &error));
        let settings: Settings = toml::from_str(text).map_err(faulty)?;
        let names: Names = toml::from_str(text).map_err(faulty)?;
        let mut seen = HashSet::new();
        match names.gate.iter().find(|gate| !seen.insert(gate.name.get_ref())) {
            Some(Name { name }) => Err(fault(
                name.span().start,
                format!("name: a gate above is called {:?} too", name.get_ref()),
            )),
            None => Ok(settings),
        }
    }

    /// Its gates.
    pub fn gates(&self) -> &[Gate] {
        &self.gate
    }

    /// The model, where these settings choose one.
    ///
    /// # Errors
    /// Where its provider is one that this version does not have.
    pub fn model(&self) -> Result<Option<ModelSettings>, NotAvailable> {
        let provider = match self.model.provider {
            None => return Ok(None),
            Some(Provider::Replay) => heph_wire::Provider::Replay,
            Some(Provider::Anthropic) => return Err(NotAvailable("anthropic")),
            Some(Provider::Openai) => return Err(NotAvailable("openai")),
            Some(Provider::Ollama) => return Err(NotAvailable("ollama")),
            Some(Provider::Gemini) => return Err(NotAvailable("gemini")),
            Some(Provider::Acp) => return Err(NotAvailable("acp")),
        };
        Ok(Some(ModelSettings { provider, name: self.model.name.clone(), file: self.model.file.clone() }))
    }

    /// What is ignored of a repository's settings: all of `[model]` but the name.
    pub fn ignored_model(&self) -> Option<&'static str> {
        let name = self.model.name.clone();
        (self.model != Model { name, ..Model::default() })
            .then_some("heph.toml: of [model] a repository can only give a name; the rest is ignored.")
    }

    /// What sets a worktree up.
    pub fn setup(&self) -> Setup {
        self.worktree.setup()
    }

    /// All that would be run or copied: what the user agrees to.
    pub fn asks(&self) -> Asks<'_> {
        Asks { gates: &self.gate, setup: self.setup() }
    }

    /// After how many days without a turn a worktree is taken away.
    pub fn keep_days(user: &Settings, repo: &Settings) -> u32 {
        let own = user.worktree.keep_days.or(repo.worktree.keep_days);
        own.map_or(DEFAULT_KEEP_DAYS, |days| days.0)
    }

    /// What holds for a turn, the user's values first.
    pub fn for_turn(user: &Settings, repo: &Settings, gates: &[Gate], agreed: Agreed) -> turn::Settings {
        let default = turn::Settings::default();
        let pick = |of: fn(&Settings) -> Option<u32>, default: u32| of(user).or(of(repo)).unwrap_or(default);
        let theirs = if agreed == Agreed::Yes { repo.worktree.clone() } else { Worktree::default() };
        turn::Settings {
            gates: gates.iter().map(|gate| gate.name.clone()).collect(),
            setup: user.worktree.clone().or(theirs).setup(),
            attempts: pick(|from| from.gates.attempts.map(|count| count.0), default.attempts),
            max_rounds: pick(|from| from.review.max_rounds.map(|count| count.0), default.max_rounds),
            floor: pick(|from| from.review.reproposal_floor.map(|count| count.0), default.floor),
            threshold: user
                .review
                .reproposal_threshold
                .or(repo.review.reproposal_threshold)
                .map_or(default.threshold, |share| share.0),
        }
    }
}

/// The names of a file's gates, and where they are in it.
#[derive(Deserialize)]
struct Names {
    #[serde(default)]
    gate: Vec<Name>,
}

#[derive(Deserialize)]
struct Name {
    name: Spanned<String>,
}

/// The error's own words, and the key that its line sets, where the words do not name one.
fn words(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim();
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line = text[line_start..].lines().next().unwrap_or_default();
    match line.split_once('=') {
        Some((key, _)) if !message.contains(key.trim()) => format!("{}: {message}", key.trim()),
        _ => message.to_owned(),
    }
}

/// Whether the user has agreed to what a repository would run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreed {
    /// They have.
    Yes,
    /// They have not, or not to what it would run now.
    No,
}

/// All that a repository's settings would run or copy.
pub struct Asks<'a> {
    /// Its gates.
    pub gates: &'a [Gate],
    /// Its setup.
    pub setup: Setup,
}

impl Asks<'_> {
    /// Whether there is nothing to agree to.
    pub fn is_nothing(&self) -> bool {
        self.gates.is_empty() && self.setup == Setup::default()
    }

    /// The commands, in the order in which they would run.
    pub fn commands(&self) -> Vec<String> {
        self.setup.command.iter().cloned().chain(self.gates.iter().map(|gate| gate.run.clone())).collect()
    }

    /// The files and folders that would be copied.
    pub fn copied(&self) -> Vec<String> {
        self.setup.copied.iter().map(RepoPath::display).collect()
    }

    /// What the agreement is bound to.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        for gate in self.gates {
            part(b"gate");
            part(gate.name.as_bytes());
            part(gate.run.as_bytes());
            part(format!("{:?}", gate.time_limit()).as_bytes());
        }
        for path in &self.setup.copied {
            part(b"copy");
            part(path.as_bytes());
        }
        if let Some(command) = &self.setup.command {
            part(b"setup");
            part(command.as_bytes());
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// `text` with `gates` after what it holds, as `heph.toml` has them.
///
/// # Errors
/// Where the result would not be settings: the text has a fault, or a gate of that name.
pub fn with_gates(text: &str, gates: &[(String, String)], file: &str) -> Result<String, SettingsError> {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut out = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        out.push_str(end);
    }
    for (name, run) in gates {
        let value = |text: &str| toml::Value::String(text.to_owned());
        let blank = if out.is_empty() { "" } else { end };
        out.push_str(&format!("{blank}[[gate]]{end}name = {}{end}run = {}{end}", value(name), value(run)));
    }
    Settings::parse(&out, file)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_file_line_and_key() {
        for (text, expected) in [
            (
                "[review]\nreproposal_threshold = 1.5\n",
                "heph.toml:2: reproposal_threshold: 1.5 is out of range",
            ),
            ("[gates]\n\nattempts = \"many\"\n", "heph.toml:3: attempts: invalid type: string \"many\""),
            ("[review]\nrounds = 8\n", "heph.toml:2: unknown field `rounds`"),
            (
                "[[gate]]\nname = \"t\"\nrun = \"true\"\ntimeout = \"soon\"\n",
                "heph.toml:4: timeout: \"soon\" is no time",
            ),
            ("[worktree]\nsetup = [\"npm\"]\n", "heph.toml:2: setup: invalid type"),
            (
                "[worktree]\nsetup = \"a\"\ncopy = [\n  \"a=b\",\n  \"../x\",\n]\n",
                "heph.toml:3: copy: ../x leaves the worktree",
            ),
            ("[[gate]]\nname = \" \"\nrun = \"true\"\n", "heph.toml:2: name: it is empty"),
            ("[[gate]]\nname = \"a\\nb\"\nrun = \"true\"\n", "heph.toml:2: name: \"a\\nb\" is more"),
            ("[gates]\nattempts = 1\n[[gate]]\nname = \"t\"\n", "heph.toml:3: missing field `run`"),
            (
                "[[gate]]\nname = \"t\"\nrun = \"true\"\n[[gate]]\nrun = \"false\"\nname = \"t\"\n",
                "heph.toml:6: name: a gate above is called \"t\" too",
            ),
        ] {
            let error = Settings::parse(text, "heph.toml").unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn every_documented_key_is_known_and_a_provider_that_is_not_there_yet_is_said() {
        let text = "[worktree]\ncopy = [\".env\"]\nlink = [\"node_modules\"]\nsetup = \"npm ci\"\nkeep_days = 14\n\
                    [model]\nprovider = \"acp\"\nname = \"n\"\nbase_url = \"u\"\nkey_env = \"K\"\n\
                    command = [\"opencode\", \"acp\"]\nfile = \"f\"\nrecord = \"r\"\n";
        let settings = Settings::parse(text, "config.toml").unwrap();
        assert_eq!(Settings::keep_days(&settings, &Settings::default()), 14);
        assert_eq!(settings.setup().copied.len(), 2);
        assert_eq!(
            settings.model().unwrap_err().to_string(),
            "the provider acp under [model] is not available yet; `replay` is"
        );
        assert!(settings.ignored_model().is_some());
        for provider in ["anthropic", "openai", "ollama", "gemini"] {
            let text = format!("[model]\nprovider = \"{provider}\"\n");
            let error = Settings::parse(&text, "config.toml").unwrap().model().unwrap_err();
            assert!(error.to_string().contains(provider), "{error}");
        }
        assert_eq!(Settings::parse("[model]\nname = \"n\"\n", "heph.toml").unwrap().ignored_model(), None);
    }

    #[test]
    fn the_users_value_wins() {
        let user = Settings::parse("[review]\nmax_rounds = 2\n", "u").unwrap();
        let repo = Settings::parse("[review]\nmax_rounds = 5\nreproposal_floor = 3\n", "r").unwrap();
        let held = Settings::for_turn(&user, &repo, &[], Agreed::Yes);
        assert_eq!((held.max_rounds, held.floor, held.attempts, held.threshold), (2, 3, 3, 0.8));
        let user = Settings::parse("[worktree]\ncopy = []\nsetup = \"\"\n", "u").unwrap();
        let repo = "[worktree]\ncopy = [\".env\"]\nlink = [\"deps/\"]\nsetup = \"npm ci\"\n";
        let repo = Settings::parse(repo, "r").unwrap();
        let setup = |agreed| Settings::for_turn(&user, &repo, &[], agreed).setup;
        let deps = vec![RepoPath::new("deps").unwrap()];
        assert_eq!(setup(Agreed::Yes), Setup { copied: deps, command: None }, "each key by itself");
        assert_eq!(setup(Agreed::No), Setup::default());
    }

    #[test]
    fn the_digest_changes_with_what_would_run_or_be_copied() {
        let digest = |text: &str| Settings::parse(text, "r").unwrap().asks().digest();
        let gate = |run: &str| format!("[[gate]]\nname = \"t\"\nrun = \"{run}\"\n");
        assert_eq!(digest(&gate("true")), digest(&gate("true")));
        let all = [
            digest(&gate("true")),
            digest(&gate("false")),
            digest("[worktree]\nsetup = \"true\"\n"),
            digest("[worktree]\ncopy = [\".env\"]\n"),
            digest("[worktree]\ncopy = [\".env.local\"]\n"),
        ];
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }

    #[test]
    fn what_is_copied_lies_inside_the_repository() {
        for path in ["../.ssh", "/etc/passwd", ".git/config", ""] {
            let text = format!("[worktree]\ncopy = [\"{path}\"]\n");
            let error = Settings::parse(&text, "heph.toml").unwrap_err().to_string();
            assert!(error.starts_with("heph.toml:2: copy: "), "{error}");
        }
    }

    #[test]
    fn gates_are_added_after_what_a_file_holds() {
        let gates = [("test".to_owned(), "echo \"a\"".to_owned())];
        let kept = "# ours\n[review]\nmax_rounds = 2 # few";
        let added = with_gates(kept, &gates, "heph.toml").unwrap();
        assert!(added.starts_with(&format!("{kept}\n\n[[gate]]\n")), "{added}");
        assert_eq!(Settings::parse(&added, "heph.toml").unwrap().gates()[0].run, "echo \"a\"");
        let windows = with_gates("[review]\r\nmax_rounds = 2\r\n", &gates, "heph.toml").unwrap();
        assert_eq!(windows.matches('\n').count(), windows.matches("\r\n").count(), "{windows:?}");
        assert!(with_gates(&added, &gates, "heph.toml").is_err(), "a second gate of one name");
        assert!(with_gates("gate = 1\n", &gates, "heph.toml").is_err());
    }
}
