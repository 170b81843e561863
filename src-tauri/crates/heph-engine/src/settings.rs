//! `heph.toml` of a repository and the user's own `config.toml`.
//!
//! The user's value wins; gate lists are joined, the repository's first. Nothing of a repository's
//! settings is run before the user has agreed to it as shown, by digest.

use std::{path::Path, time::Duration};

use heph_core::turn;
use heph_wire::{ModelSettings, Provider};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A gate that names no time limit gets this one.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

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
    model: Option<Model>,
}

/// A command that must exit 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Its name.
    pub name: String,
    /// What the platform's shell runs, in the worktree.
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

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    provider: Option<Provider>,
    name: Option<String>,
    file: Option<String>,
}

/// A whole number, 1 or more.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "i64")]
struct Count(u32);

/// A number over 0, to 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
struct Share(f64);

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
    /// A key that is unknown, or a value of a wrong type or out of range, by file, line and key.
    pub fn read(file: &Path) -> Result<Settings, SettingsError> {
        let shown = file.display().to_string();
        match std::fs::read_to_string(file) {
            Ok(text) => Settings::parse(&text, &shown),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Settings::default()),
            Err(error) => Err(SettingsError::Unreadable { file: shown, reason: error.to_string() }),
        }
    }

    fn parse(text: &str, file: &str) -> Result<Settings, SettingsError> {
        toml::from_str(text).map_err(|error| SettingsError::Fault {
            file: file.into(),
            line: error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1),
            message: fault(text, &error),
        })
    }

    /// Its gates.
    pub fn gates(&self) -> &[Gate] {
        &self.gate
    }

    /// The model, where these settings choose one.
    pub fn model(&self) -> Option<ModelSettings> {
        let model = self.model.as_ref()?;
        Some(ModelSettings { provider: model.provider?, name: model.name.clone(), file: model.file.clone() })
    }

    /// What is ignored of a repository's settings: all of `[model]` but the name.
    pub fn ignored_model(&self) -> Option<&'static str> {
        let model = self.model.as_ref()?;
        (model.provider.is_some() || model.file.is_some())
            .then_some("heph.toml: of [model] a repository can only give a name; the rest is ignored")
    }

    /// What holds for a turn, the user's values first.
    pub fn for_turn(user: &Settings, repo: &Settings, gates: &[Gate]) -> turn::Settings {
        let default = turn::Settings::default();
        let pick = |of: fn(&Settings) -> Option<u32>, default: u32| of(user).or(of(repo)).unwrap_or(default);
        turn::Settings {
            gates: gates.iter().map(|gate| gate.name.clone()).collect(),
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

/// The error's own words, and the key that its line sets, where the words do not name one.
fn fault(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim();
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line = text[line_start..].lines().next().unwrap_or_default();
    match line.split_once('=') {
        Some((key, _)) if !message.contains(key.trim()) => format!("{}: {message}", key.trim()),
        _ => message.to_owned(),
    }
}

/// What the agreement to run a repository's gates is bound to.
pub fn digest(gates: &[Gate]) -> String {
    let mut hash = Sha256::new();
    for gate in gates {
        for part in [&gate.name, &gate.run, &format!("{:?}", gate.time_limit())] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
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
        ] {
            let error = Settings::parse(text, "heph.toml").unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn the_users_value_wins() {
        let user = Settings::parse("[review]\nmax_rounds = 2\n", "u").unwrap();
        let repo = Settings::parse("[review]\nmax_rounds = 5\nreproposal_floor = 3\n", "r").unwrap();
        let held = Settings::for_turn(&user, &repo, &[]);
        assert_eq!((held.max_rounds, held.floor, held.attempts, held.threshold), (2, 3, 3, 0.8));
    }

    #[test]
    fn the_digest_changes_with_what_would_run() {
        let gates = |run: &str| {
            Settings::parse(&format!("[[gate]]\nname = \"t\"\nrun = \"{run}\"\n"), "r").unwrap().gate
        };
        assert_eq!(digest(&gates("true")), digest(&gates("true")));
        assert_ne!(digest(&gates("true")), digest(&gates("false")));
    }
}
