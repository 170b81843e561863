//! `run {command}`: a command of the shell, in the worktree.

use std::time::Duration;

use heph_exec::{CommandSpec, Exit, listed_environment};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{Done, ToolError, Worktree};

/// No command of the model's runs longer.
const TIME_LIMIT: Duration = Duration::from_secs(10 * 60);

/// Bytes of output that the model gets, the first and the last half of it.
const OUTPUT: usize = 32 * 1024;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(super) command: String,
}

impl Run {
    pub(super) async fn carry_out(
        self,
        worktree: &Worktree,
        cancel: &CancellationToken,
    ) -> Result<Done, ToolError> {
        let temp = tempfile::Builder::new()
            .prefix("heph-run-")
            .tempdir()
            .map_err(|source| ToolError::Io { path: "a temporary folder".into(), source })?;
        let mut env = listed_environment(temp.path());
        // Git must never take a repository above the worktree for this one.
        if let Some(above) = worktree.root().parent() {
            env.push(("GIT_CEILING_DIRECTORIES".into(), above.into()));
        }
        let spec = CommandSpec {
            shell: self.command,
            cwd: worktree.root().into(),
            env,
            time_limit: Some(TIME_LIMIT),
            output_limit: OUTPUT,
        };
        let finished = heph_exec::run(spec, &mut |_| {}, cancel.clone()).await;
        let outcome = match finished.exit {
            Exit::Code(code) => format!("exit {code}"),
            Exit::Signal(signal) => format!("killed by signal {signal}"),
            Exit::TimeLimit => format!("killed after {} minutes", TIME_LIMIT.as_secs() / 60),
            Exit::Cancelled => "stopped by the user".to_owned(),
            Exit::CouldNotStart(ref reason) => format!("could not start: {reason}"),
        };
        let output = String::from_utf8_lossy(&finished.output);
        let content = if output.is_empty() { outcome.clone() } else { format!("{outcome}\n{output}") };
        Ok(Done { failed: finished.exit != Exit::Code(0), ..Done::looked(outcome, content) })
    }
}
