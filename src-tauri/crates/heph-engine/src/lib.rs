//! One loop: takes events, asks the core, carries out effects.
//!
//! A front end reaches the engine through one function, [`Engine::call`], and hears of everything else
//! through notifications. All state is the loop's own; work that takes time (git, gates, the model)
//! runs in tasks, which report back as events. What an input changes is in the database before anyone
//! is shown it, so a killed process loses nothing that was seen.
//!
//! The engine must not know how it is reached (a webview, standard input) nor decide what the core
//! decides. Words: a *call* asks for a method of `heph-wire`; an *event* reaches the loop; a
//! *workplace* is where one session's work is done.

mod calls;
mod collect;
mod colours;
mod demo;
mod failure;
mod model;
mod offers;
mod outside;
mod repos;
mod reviewing;
mod rows;
mod run;
mod session;
mod settings;
mod setup;
mod store;
mod undo;
mod view;
mod work;

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use heph_wire::{CallError, ErrorKind, Notification};
use serde_json::Value;
use tokio::{
    runtime::Runtime,
    sync::{mpsc, oneshot},
};

use run::{Event, Loop};

/// How long a shutdown waits for running commands to die.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(5);

/// How long the data folder's lock is waited for.
const LOCK_LIMIT: Duration = Duration::from_secs(2);

/// Where the engine keeps what it keeps.
#[derive(Clone, Debug)]
pub struct Places {
    /// The folder for the database, private repositories and worktrees. Made if missing, for the user
    /// alone.
    pub data: PathBuf,
    /// The user's settings file; it need not exist.
    pub config: PathBuf,
}

/// The engine. Clones are the same one; when the last is gone, it stops as if killed.
#[derive(Clone)]
pub struct Engine(Arc<Running>);

struct Running {
    events: mpsc::UnboundedSender<Event>,
    runtime: Mutex<Option<Runtime>>,
}

impl Engine {
    /// Starts the engine with what is kept in `places`; `notify` hears every notification.
    ///
    /// # Errors
    /// Where the data folder cannot be used: it cannot be written, another Heph has it open, or a
    /// newer version has written it.
    pub fn start(
        places: Places,
        notify: impl Fn(Notification) + Send + Sync + 'static,
    ) -> Result<Engine, CallError> {
        let in_data = |error: std::io::Error| {
            let folder = places.data.display();
            CallError::new(ErrorKind::Internal, format!("The data folder {folder} cannot be used: {error}."))
        };
        make_private_folder(&places.data).map_err(in_data)?;
        let lock = lock(&places.data)?;
        end_leftovers(&places.data);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("heph-engine")
            .enable_all()
            .build()
            .map_err(in_data)?;
        let (events, received) = mpsc::unbounded_channel();
        let the_loop = Loop::new(places, lock, events.clone(), Arc::new(notify))?;
        runtime.spawn(the_loop.run(received));
        runtime.spawn_blocking(colours::prepare);
        Ok(Engine(Arc::new(Running { events, runtime: Mutex::new(Some(runtime)) })))
    }

    /// Asks for `method` with `params`, as [`heph_wire::Method`] defines them.
    ///
    /// # Errors
    /// [`CallError`], in words for the user; nothing of theirs has changed then.
    pub async fn call(&self, method: &str, params: Value) -> Result<Value, CallError> {
        let (reply, answer) = oneshot::channel();
        let stopped =
            || CallError::new(ErrorKind::Internal, "Heph is shutting down; what was decided is kept.");
        let call = Event::Call { method: method.to_owned(), params, reply };
        self.0.events.send(call).map_err(|_| stopped())?;
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Stops as if killed, but cleanly: running commands die, and nothing is written any more. A model
    /// at work is cut off, and can be continued after the next start.
    pub async fn shutdown(&self) {
        let (done, stopped) = oneshot::channel();
        if self.0.events.send(Event::Shutdown(done)).is_ok() {
            let _ = tokio::time::timeout(SHUTDOWN_LIMIT, stopped).await;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(runtime) = runtime {
            // Not `drop`: the last clone may go inside another runtime, where blocking is not allowed.
            runtime.shutdown_background();
        }
    }
}

fn make_private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// What a killed engine had started goes on writing into worktrees. Every command of Heph's, and none of
/// the user's own, has this variable with a folder inside the data folder.
fn end_leftovers(data: &Path) {
    let Ok(data) = data.canonicalize() else { return };
    let ended = heph_exec::end_leftovers("GIT_CEILING_DIRECTORIES", &data);
    if ended > 0 {
        tracing::warn!("{ended} processes of an earlier run were still there, and were ended");
    }
}

/// Two engines on one folder would each hold half of the truth. A command that a killed engine was just
/// starting may hold its lock for a moment longer: so it is tried again for a while.
fn lock(data: &Path) -> Result<File, CallError> {
    let path = data.join("lock");
    let file = File::create(&path).map_err(|error| {
        CallError::new(ErrorKind::Internal, format!("{} cannot be written: {error}.", path.display()))
    })?;
    let started = Instant::now();
    while file.try_lock().is_err() {
        if started.elapsed() > LOCK_LIMIT {
            let folder = data.display();
            let message = format!("Another Heph already works with the data folder {folder}.");
            return Err(CallError::new(ErrorKind::Refused, message));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(file)
}
