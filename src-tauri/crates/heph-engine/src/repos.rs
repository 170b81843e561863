//! Repositories that are open, and what they would run.

use std::{collections::HashMap, ffi::OsStr, os::unix::ffi::OsStrExt as _, path::Path};

use heph_core::turn;
use heph_git::{OpenError, PrivateRepo, UserRepo};
use heph_wire::{CallError, ErrorKind, GateDefinition, ModelSettings, OpenedRepo, WirePath};
use sha2::{Digest, Sha256};

use crate::{
    demo,
    failure::{failed, internal},
    offers,
    settings::{Agreed, Gate, Settings, SettingsError, with_gates},
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
    settings: Held,
}

/// The last good settings of a file; before there were any, what is wrong in it.
type Held = Result<Settings, SettingsError>;

/// The open repositories, and the user's own settings: the last good ones.
pub struct Repos {
    data: std::path::PathBuf,
    config: std::path::PathBuf,
    user_settings: Held,
    open: HashMap<String, Repo>,
}

impl Repos {
    /// None open yet.
    pub fn new(data: &Path, config: &Path) -> Repos {
        Repos {
            data: data.to_owned(),
            config: config.to_owned(),
            user_settings: Settings::read(config),
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
        if !self.open.contains_key(&id)
            && let Err(error) = private.complete_applies()
        {
            tracing::warn!("an apply that was cut off waits to be completed: {error}");
        }
        let settings = match self.open.remove(&id) {
            Some(open) => open.settings,
            None => Settings::read(&user.root().join(FILE)),
        };
        let repo = Repo { id: id.clone(), user, private, settings };
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
        self.open.get(id).ok_or_else(moved)
    }

    /// After how many days without a turn a worktree of the repository is taken away.
    pub fn keep_days(&self, id: &str) -> u32 {
        let own = self.open.get(id).and_then(|repo| repo.settings.as_ref().ok()).cloned().unwrap_or_default();
        Settings::keep_days(&self.user_settings.as_ref().cloned().unwrap_or_default(), &own)
    }

    /// Reads the settings of a repository and the user's anew. What is wrong in them is returned, and
    /// the last good ones hold.
    pub fn refresh(&mut self, id: &str) -> Vec<String> {
        let mut problems = Vec::new();
        let mut take = |held: &mut Held, read: Held| match (read, &held) {
            (Ok(settings), _) => *held = Ok(settings),
            (Err(error), Ok(_)) => problems.push(format!("{error}. The last good settings hold.")),
            (Err(error), Err(_)) => {
                problems.push(format!("{error}. No turn can start until that is mended."));
                *held = Err(error);
            }
        };
        take(&mut self.user_settings, Settings::read(&self.config));
        if let Some(repo) = self.open.get_mut(id) {
            take(&mut repo.settings, Settings::read(&repo.user.root().join(FILE)));
        }
        problems
    }

    /// All that a repository would run, and whether the user agreed to it.
    fn shown(&mut self, store: &Store, id: &str) -> Result<OpenedRepo, CallError> {
        let mut problems = self.refresh(id);
        problems.extend(self.remarks(id));
        let model = self.default_model(id).ok().flatten();
        self.get(store, id, 0)?;
        let repo = self.open.get(id).ok_or_else(moved)?;
        let own = repo.settings.as_ref().cloned().unwrap_or_default();
        let asks = own.asks();
        let has_gates =
            !asks.gates.is_empty() || self.user_settings.as_ref().is_ok_and(|user| !user.gates().is_empty());
        Ok(OpenedRepo {
            repo: repo.id.clone(),
            root: WirePath(repo.user.root().as_os_str().as_encoded_bytes().to_vec()),
            name: repo.user.name(),
            branch: repo.user.branch().map_err(internal)?,
            gates: asks
                .gates
                .iter()
                .map(|gate| GateDefinition { name: gate.name.clone(), run: gate.run.clone() })
                .collect(),
            trusted: agreed(store, repo)?,
            digest: asks.digest(),
            commands: asks.commands(),
            copied: asks.copied(),
            setup: asks.setup.command,
            // A file with a fault may name gates: none are offered beside it.
            found: if has_gates || repo.settings.is_err() {
                Vec::new()
            } else {
                offers::found(repo.user.root())
            },
            model,
            problems,
        })
    }

    /// What good settings ask for in vain.
    fn remarks(&self, id: &str) -> Vec<String> {
        let repo = self.open.get(id).and_then(|repo| repo.settings.as_ref().ok());
        let user = self.user_settings.as_ref().ok();
        let config = self.config.display();
        let mut remarks = Vec::new();
        if let Some(repo) = repo {
            remarks.extend(repo.ignored_model().map(str::to_owned));
        }
        if let Some(user) = user {
            remarks.extend(user.model().err().map(|error| format!("{config}: {error}.")));
        }
        if let (Some(repo), Some(user)) = (repo, user) {
            remarks.extend(same_name(repo.gates(), user.gates()).map(|name| self.twice(name)));
        }
        remarks
    }

    fn twice(&self, name: &str) -> String {
        let config = self.config.display();
        format!("{FILE} and {config} both have a gate that is called {name:?}. Give one another name.")
    }

    /// Notes the user's agreement to what was shown under `digest`.
    pub fn trust(&mut self, store: &Store, id: &str, shown: &str) -> Result<(), CallError> {
        self.get(store, id, 0)?;
        self.refresh(id);
        let repo = self.get(store, id, 0)?;
        let settings = repo.settings.as_ref().map_err(faulty)?;
        if settings.asks().digest() != shown {
            let message = "The repository's commands have changed since they were shown. Read them again.";
            return Err(CallError::new(ErrorKind::Stale, message));
        }
        store.agree(id, shown).map_err(internal)
    }

    /// Writes gates into the repository's settings, after what is there. Who asked for that has agreed to
    /// them.
    pub fn add_gates(
        &mut self,
        store: &Store,
        id: &str,
        gates: &[GateDefinition],
    ) -> Result<OpenedRepo, CallError> {
        self.get(store, id, 0)?;
        self.refresh(id);
        let repo = self.open.get(id).ok_or_else(moved)?;
        let was_agreed = agreed(store, repo)?;
        let gates: Vec<(String, String)> =
            gates.iter().map(|gate| (gate.name.clone(), gate.run.clone())).collect();
        let file = repo.user.root().join(FILE);
        let refused = |why: String| CallError::new(ErrorKind::Refused, format!("{why} Nothing was written."));
        if gates.is_empty() {
            return Err(refused("No gate was chosen.".into()));
        }
        if file.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            return Err(refused(format!("{} is no plain file.", file.display())));
        }
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(refused(format!("{} cannot be read: {error}.", file.display()))),
        };
        let text = with_gates(&text, &gates, FILE).map_err(|error| refused(format!("{error}.")))?;
        write_whole(&file, &text)
            .map_err(|error| refused(format!("{} cannot be written: {error}.", file.display())))?;
        self.refresh(id);
        if was_agreed {
            let repo = self.open.get(id).ok_or_else(moved)?;
            let digest = repo.settings.as_ref().map_err(faulty)?.asks().digest();
            store.agree(id, &digest).map_err(internal)?;
        }
        self.shown(store, id)
    }

    /// What holds for a turn that starts now, and the gates that it may run: the repository's if agreed
    /// to, and the user's.
    ///
    /// # Errors
    /// Where a settings file has a fault and there is no good state of it, or two gates have one name: a
    /// turn would be without gates that the user counts on.
    pub fn for_turn(&self, store: &Store, id: &str) -> Result<(turn::Settings, Vec<Gate>), CallError> {
        let repo = self.open.get(id).ok_or_else(moved)?;
        let (own, user) =
            (repo.settings.as_ref().map_err(faulty)?, self.user_settings.as_ref().map_err(faulty)?);
        let mut gates = Vec::new();
        let agreed = if agreed(store, repo)? { Agreed::Yes } else { Agreed::No };
        if agreed == Agreed::Yes {
            gates.extend_from_slice(own.gates());
        }
        if let Some(name) = same_name(&gates, user.gates()) {
            let message = format!("{} No turn was started.", self.twice(name));
            return Err(CallError::new(ErrorKind::Settings, message));
        }
        gates.extend_from_slice(user.gates());
        Ok((Settings::for_turn(user, own, &gates, agreed), gates))
    }

    /// The model of sessions without one of their own.
    ///
    /// # Errors
    /// Where the user's settings have a fault, or name a model that there is not.
    pub fn default_model(&self, id: &str) -> Result<Option<ModelSettings>, CallError> {
        let demo = self.open.get(id).and_then(|repo| demo::model_of(&self.data, repo.user.root()));
        if demo.is_some() {
            return Ok(demo);
        }
        let model = self.user_settings.as_ref().map_err(faulty)?.model();
        model.map_err(|error| {
            let message = format!("{}: {error}. Nothing was started.", self.config.display());
            CallError::new(ErrorKind::Settings, message)
        })
    }
}

/// A faulty file would run something, and nobody knows what: nobody can have agreed to it.
fn agreed(store: &Store, repo: &Repo) -> Result<bool, CallError> {
    let Ok(settings) = &repo.settings else { return Ok(false) };
    let asks = settings.asks();
    Ok(asks.is_nothing() || store.agreed(&repo.id).map_err(internal)? == Some(asks.digest()))
}

/// Writes a file beside its place and then puts it there, so that no half of it is ever read. A snapshot
/// passes over what has such a name.
fn write_whole(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let name = OsStr::from_bytes(heph_git::STAGED);
    let mut beside = tempfile::Builder::new().prefix(name).tempfile_in(folder)?;
    std::io::Write::write_all(&mut beside, text.as_bytes())?;
    let permissions = match file.metadata() {
        Ok(found) => found.permissions(),
        Err(_) => new_file_permissions(),
    };
    beside.as_file().set_permissions(permissions)?;
    beside.as_file().sync_all()?;
    beside.persist(file)?;
    Ok(())
}

fn new_file_permissions() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::Permissions::from_mode(0o644)
}

/// The name that a gate of both lists has.
fn same_name<'a>(one: &'a [Gate], other: &[Gate]) -> Option<&'a str> {
    one.iter().map(|gate| gate.name.as_str()).find(|name| other.iter().any(|gate| gate.name == *name))
}

fn faulty(error: &SettingsError) -> CallError {
    let message = format!("{error}. No turn can start until that is mended: its gates would be left out.");
    CallError::new(ErrorKind::Settings, message)
}

fn moved() -> CallError {
    CallError::new(ErrorKind::NotFound, "The repository's folder was moved.")
}

fn open_error(error: OpenError) -> CallError {
    let kind = match error {
        OpenError::NoSuchPath(_) => ErrorKind::NoSuchPath,
        OpenError::NotARepository(_) | OpenError::Bare(_) => ErrorKind::NotARepository,
        OpenError::Unreadable { .. } => ErrorKind::NoSuchPath,
        OpenError::Git { .. } => ErrorKind::Internal,
    };
    CallError::new(kind, failed(error))
}
