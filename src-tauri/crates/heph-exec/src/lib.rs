//! Runs one command of the shell in a process group of its own, and leaves nothing of it behind.
//!
//! The agent's `run` tool and the gates run what nobody has read yet. So a command gets no input,
//! an environment that is listed rather than inherited, a time limit and a bound on the output that
//! is kept; and its whole group is killed when it ends, for whatever reason it ends, the caller
//! losing interest (dropping the future) included. A process that leaves its group with `setsid`
//! is not reached by that, but it holds nobody up either.
//!
//! This crate must not know what a command is for: not gates, not models, not repositories.
//!
//! Words: the *leader* is the shell that was started; its process id is the number of the *group*.

mod environment;
mod group;
mod kept;
mod leftovers;

use std::{
    ffi::OsString,
    io::{self, PipeReader, Read},
    os::{
        fd::OwnedFd,
        unix::process::{CommandExt, ExitStatusExt},
    },
    path::PathBuf,
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use tokio::{io::AsyncReadExt, process::ChildStdout};
use tokio_util::sync::CancellationToken;

pub use environment::listed_environment;
use group::Group;
use kept::Kept;
pub use leftovers::end_leftovers;

/// What is to run, and within which bounds.
#[derive(Clone, Debug)]
pub struct CommandSpec {
    /// Run by `sh -c`.
    pub shell: String,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// The whole environment; nothing else is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// After this the group is killed. `None`: it may take as long as it likes.
    pub time_limit: Option<Duration>,
    /// How many bytes of output [`Finished::output`] keeps: the first and the last half of it,
    /// around a line that says how much was left out.
    pub output_limit: usize,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself. The shell says 127 for a command that it cannot find, 126 for one that it cannot
    /// execute.
    Code(i32),
    /// By this signal, sent by someone else.
    Signal(i32),
    /// Killed at the time limit.
    TimeLimit,
    /// Killed because the caller cancelled.
    Cancelled,
    /// It could not be started, or not be followed and was killed; the reason.
    CouldNotStart(String),
}

/// A command that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How.
    pub exit: Exit,
    /// Standard output and standard error in the order in which they were written, within
    /// [`CommandSpec::output_limit`].
    pub output: Vec<u8>,
    /// From start to end.
    pub elapsed: Duration,
}

/// Runs `spec` to its end and hands every piece of output to `on_output` as it comes.
///
/// The group dies with the leader, at the time limit, when `cancel` is cancelled, and when the
/// returned future is dropped. Must be called within a tokio runtime with time and I/O enabled.
pub async fn run(
    spec: CommandSpec,
    on_output: &mut (dyn FnMut(&[u8]) + Send),
    cancel: CancellationToken,
) -> Finished {
    let started = Instant::now();
    let mut kept = Kept::new(spec.output_limit);
    let mut take = |piece: &[u8]| {
        kept.take(piece);
        on_output(piece);
    };
    let exit = match start(&spec) {
        Ok(running) => running.until_ended(spec.time_limit, &mut take, cancel).await,
        Err(error) => Err(error),
    };
    let exit = exit.unwrap_or_else(|error| Exit::CouldNotStart(error.to_string()));
    Finished { exit, output: kept.into_bytes(), elapsed: started.elapsed() }
}

/// A started command: its group, and the reading end of the pipe that is its whole output.
struct Running {
    group: Group,
    output: PipeReader,
}

fn start(spec: &CommandSpec) -> io::Result<Running> {
    // One pipe for both streams, so that their order is the order of writing. The command (and with
    // it heph's copies of the writing end) is dropped here: the pipe ends with its last writer.
    let (output, writer) = io::pipe()?;
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(&spec.shell)
        .current_dir(&spec.cwd)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0);
    Ok(Running { group: Group::of(command.spawn()?), output })
}

impl Running {
    async fn until_ended(
        self,
        time_limit: Option<Duration>,
        take: &mut (dyn FnMut(&[u8]) + Send),
        cancel: CancellationToken,
    ) -> io::Result<Exit> {
        let Running { group, mut output } = self;
        let watched = group.clone();
        let mut leader = tokio::task::spawn_blocking(move || watched.wait());
        let mut pipe = ChildStdout::from_std(OwnedFd::from(output.try_clone()?).into())?;
        let mut buffer = vec![0; 16 * 1024];
        let limit = async {
            match time_limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(limit);

        let mut open = true;
        let reason = loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => break Exit::Cancelled,
                () = &mut limit => break Exit::TimeLimit,
                status = &mut leader => {
                    drain(&mut output, &mut buffer, take)?;
                    return Ok(how_it_ended(status??));
                }
                count = pipe.read(&mut buffer), if open => match count? {
                    0 => open = false,
                    count => take(&buffer[..count]),
                },
            }
        };
        group.kill();
        // The leader is dead or dying: wait, so that nothing of it runs when the caller goes on.
        leader.await??;
        drain(&mut output, &mut buffer, take)?;
        Ok(reason)
    }
}

/// Takes what lies in the pipe now. Not to its end: a process that left the group may hold it open.
fn drain(output: &mut PipeReader, buffer: &mut [u8], take: &mut (dyn FnMut(&[u8]) + Send)) -> io::Result<()> {
    let mut left = usize::try_from(rustix::io::ioctl_fionread(&*output)?).unwrap_or(usize::MAX);
    while left > 0 {
        let room = left.min(buffer.len());
        match output.read(&mut buffer[..room])? {
            0 => break,
            count => {
                take(&buffer[..count]);
                left -= count;
            }
        }
    }
    Ok(())
}

fn how_it_ended(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::CouldNotStart(format!("its status is unknown ({status})")),
    }
}
