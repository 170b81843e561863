//! What is there before the first word.

use std::collections::BTreeMap;

use super::{contents, script::Line};

/// The user's repository and settings at the start.
#[derive(Default)]
pub struct Setting {
    /// What the first commit holds.
    pub files: BTreeMap<String, String>,
    /// The user's own settings.
    pub settings: String,
    /// Whether the user agrees to what the repository would run.
    pub trust: Trust,
}

/// Whether the user agrees to what the repository would run.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Trust {
    /// Yes, as it is shown.
    #[default]
    Given,
    /// Not yet.
    Withheld,
}

/// Whether a statement says what is there before the first word.
pub fn is_setting(line: &Line) -> bool {
    matches!(line.words().first(), Some(&("file" | "gate" | "settings" | "untrusted")))
}

impl Setting {
    /// Reads the statements at the head of a scenario.
    pub fn read(lines: &[Line]) -> Setting {
        let mut setting = Setting::default();
        for line in lines {
            match line.words()[..] {
                // A file of the first commit.
                ["file", path, ref words @ ..] => {
                    setting.files.insert(path.to_owned(), contents::text(words, line, None));
                }
                // A gate in heph.toml: its name, and what its shell runs.
                ["gate", name, run] => {
                    let gate = format!("[[gate]]\nname = {name:?}\nrun = {run:?}\n");
                    setting.files.entry("heph.toml".to_owned()).or_default().push_str(&gate);
                }
                // The user's own settings, as the rows below.
                ["settings"] => setting.settings = contents::text(&[], line, None),
                // The user has not agreed to what the repository would run.
                ["untrusted"] => setting.trust = Trust::Withheld,
                _ => line.refuse("no such statement"),
            }
        }
        setting
    }
}
