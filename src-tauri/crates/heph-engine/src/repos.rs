//! Repositories that are open, and what they would run.

use std::{collections::HashMap, path::Path};

use heph_git::{OpenError, PrivateRepo, UserRepo};
use heph_wire::{CallError, ErrorKind, GateDefinition, ModelSettings, OpenedRepo, WirePath};
use sha2::{Digest, Sha256};

use crate::{
    demo,
    settings::{Gate, Settings, SettingsError, digest},
    store::Store,
};

/// The name of a repository's settings file, at its root.
const FILE: &str = "heph.toml";

/// An open repository.
pub struct Repo {
    /// Names it.
    pub id: String,
    /// The user's side.
    pub user: UserRepo,
    /// Heph's side.
    pub private: PrivateRepo,
    /// Its settings: the last good ones.
    pub settings: Settings,
}

/// The open repositories, and the user's own settings: the last good ones.
pub struct Repos {
    data: std::path::PathBuf,
    config: std::path::PathBuf,
    user_settings: Settings,
    open: HashMap<String, Repo>,
}

impl Repos {
    /// None open yet.
    pub fn new(data: &Path, config: &Path) -> Repos {
        Repos {
            data: data.to_owned(),
            config: config.to_owned(),
            user_settings: Settings::default(),
            open: HashMap::new(),
        }
    }

    /// Opens the repository that holds `path`; runs nothing from it.
    pub fn open(&mut self, store: &Store, path: &Path, now: i64) -> Result<OpenedRepo, CallError> {
        let user = UserRepo::open(path).map_err(open_error)?;
        let hash = Sha256::digest(user.root().as_os_str().as_encoded_bytes());
        let id: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let private = PrivateRepo::open(&self.data, &user).map_err(internal)?;
        store.open_repo(&id, user.root(), now).map_err(internal)?;
        let repo = Repo { id: id.clone(), user, private, settings: Settings::default() };
        self.open.insert(id.clone(), repo);
        self.shown(store, &id)
    }

    /// A repository, opened if it was open in an earlier run.
    pub fn get(&mut self, store: &Store, id: &str, now: i64) -> Result<&Repo, CallError> {
        if !self.open.contains_key(id) {
            let known = store.repos().map_err(internal)?;
            let root = known.into_iter().find(|(known, _)| known == id).map(|(_, root)| root);
            let root =
                root.ok_or_else(|| CallError::new(ErrorKind::NotFound, "No such repository is known."))?;
            self.open(store, &root, now)?;
        }
        self.open
            .get(id)
            .ok_or_else(|| CallError::new(ErrorKind::NotFound, "The repository's folder was moved."))
    }

    /// Reads the settings of a repository and the user's anew. What is wrong in them is returned, and
    /// the last good ones hold.
    pub fn refresh(&mut self, id: &str) -> Vec<String> {
        let mut problems = Vec::new();
        let mut take = |held: &mut Settings, read: Result<Settings, SettingsError>| match read {
            Ok(settings) => *held = settings,
            Err(error) => problems.push(format!("{error}. The last good settings hold.")),
        };
        take(&mut self.user_settings, Settings::read(&self.config));
        if let Some(repo) = self.open.get_mut(id) {
            take(&mut repo.settings, Settings::read(&repo.user.root().join(FILE)));
            problems.extend(repo.settings.ignored_model().map(str::to_owned));
        }
        problems
    }

    /// All that a repository would run, and whether the user agreed to it.
    pub fn shown(&mut self, store: &Store, id: &str) -> Result<OpenedRepo, CallError> {
        let problems = self.refresh(id);
        let model = self.default_model(id);
        let repo = self.get(store, id, 0)?;
        let gates = repo.settings.gates();
        Ok(OpenedRepo {
            repo: repo.id.clone(),
            root: WirePath(repo.user.root().as_os_str().as_encoded_bytes().to_vec()),
            name: repo.user.name(),
            branch: repo.user.branch().map_err(internal)?,
            gates: gates
                .iter()
                .map(|gate| GateDefinition { name: gate.name.clone(), run: gate.run.clone() })
                .collect(),
            trusted: agreed(store, repo)?,
            digest: digest(gates),
            commands: gates.iter().map(|gate| gate.run.clone()).collect(),
            model,
            problems,
        })
    }

    /// Notes the user's agreement to what was shown under `digest`.
    pub fn trust(&mut self, store: &Store, id: &str, shown: &str) -> Result<(), CallError> {
        self.get(store, id, 0)?;
        self.refresh(id);
        let repo = self.get(store, id, 0)?;
        if digest(repo.settings.gates()) != shown {
            let message = "The repository's commands have changed since they were shown. Read them again.";
            return Err(CallError::new(ErrorKind::Stale, message));
        }
        store.agree(id, shown).map_err(internal)
    }

    /// The gates that a turn of this repository may run now: the repository's if agreed to, and the user's.
    pub fn gates(&self, store: &Store, id: &str) -> Result<Vec<Gate>, CallError> {
        let Some(repo) = self.open.get(id) else { return Ok(Vec::new()) };
        let mut gates = Vec::new();
        if agreed(store, repo)? {
            gates.extend_from_slice(repo.settings.gates());
        }
        gates.extend_from_slice(self.user_settings.gates());
        Ok(gates)
    }

    /// What holds for a turn of this repository, with these gates.
    pub fn turn_settings(&self, id: &str, gates: &[Gate]) -> heph_core::turn::Settings {
        let none = Settings::default();
        let repo = self.open.get(id).map_or(&none, |repo| &repo.settings);
        Settings::for_turn(&self.user_settings, repo, gates)
    }

    /// The model of sessions without one of their own.
    pub fn default_model(&self, id: &str) -> Option<ModelSettings> {
        let repo = self.open.get(id)?;
        demo::model_of(&self.data, repo.user.root()).or_else(|| self.user_settings.model())
    }
}

fn agreed(store: &Store, repo: &Repo) -> Result<bool, CallError> {
    let gates = repo.settings.gates();
    Ok(gates.is_empty() || store.agreed(&repo.id).map_err(internal)? == Some(digest(gates)))
}

/// An error of the disk, the database or git, for the user.
pub fn internal(error: impl std::fmt::Display) -> CallError {
    CallError::new(ErrorKind::Internal, format!("That could not be done: {error}. Nothing was changed."))
}

fn open_error(error: OpenError) -> CallError {
    let kind = match error {
        OpenError::NoSuchPath(_) => ErrorKind::NoSuchPath,
        OpenError::NotARepository(_) | OpenError::Bare(_) => ErrorKind::NotARepository,
        OpenError::Unreadable { .. } => ErrorKind::NoSuchPath,
        OpenError::Git { .. } => ErrorKind::Internal,
    };
    let message = error.to_string();
    let mut first = message.chars();
    let message = first.next().map_or(String::new(), |c| c.to_uppercase().chain(first).collect());
    CallError::new(kind, format!("{message}. Nothing was opened."))
}
