//! Commands as the gates and the `run` tool start them.
#![allow(clippy::unwrap_used)]

use std::{ffi::OsString, path::Path, process::Command, time::Duration};

use heph_exec::{CommandSpec, Exit, Finished, listed_environment, run};
use tokio_util::sync::CancellationToken;

fn spec(folder: &Path, shell: &str) -> CommandSpec {
    CommandSpec {
        shell: shell.into(),
        cwd: folder.into(),
        env: listed_environment(folder),
        time_limit: None,
        output_limit: 64 * 1024,
    }
}

async fn finished(shell: &str) -> Finished {
    let folder = tempfile::tempdir().unwrap();
    run(spec(folder.path(), shell), &mut |_| {}, CancellationToken::new()).await
}

fn text(finished: &Finished) -> String {
    String::from_utf8(finished.output.clone()).unwrap()
}

/// A lock file. The shell that runs [`HOLD`] holds it, and what it starts does, until all of them
/// are dead.
struct Lifeline {
    folder: tempfile::TempDir,
}

const HOLD: &str = "exec 9>line; flock 9; echo ready";

impl Lifeline {
    fn new() -> Lifeline {
        Lifeline { folder: tempfile::tempdir().unwrap() }
    }

    fn spec(&self, shell: &str) -> CommandSpec {
        spec(self.folder.path(), shell)
    }

    /// Returns when no process holds the lock; hangs on a survivor.
    fn wait_until_all_are_dead(&self) {
        std::fs::File::create(self.folder.path().join("line")).unwrap().lock().unwrap();
    }
}

#[tokio::test]
async fn the_exit_code_and_the_signal_are_told_apart() {
    assert_eq!(finished("exit 0").await.exit, Exit::Code(0));
    assert_eq!(finished("exit 3").await.exit, Exit::Code(3));
    assert_eq!(finished("kill -TERM $$").await.exit, Exit::Signal(15));
}

#[tokio::test]
async fn a_command_that_is_missing_or_not_executable_is_what_the_shell_says() {
    assert_eq!(finished("no-such-command-here").await.exit, Exit::Code(127));
    assert_eq!(finished(": >plain; chmod 644 plain; ./plain").await.exit, Exit::Code(126));
}

#[tokio::test]
async fn a_missing_folder_is_a_command_that_could_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(&folder.path().join("gone"), "true");
    let finished = run(spec, &mut |_| {}, CancellationToken::new()).await;
    assert!(matches!(finished.exit, Exit::CouldNotStart(_)), "{:?}", finished.exit);
}

#[tokio::test]
async fn output_and_errors_keep_the_order_in_which_they_were_written() {
    let mut seen = Vec::new();
    let folder = tempfile::tempdir().unwrap();
    let shell = "for i in 1 2 3; do echo out $i; echo err $i >&2; done";
    let finished =
        run(spec(folder.path(), shell), &mut |piece| seen.extend_from_slice(piece), CancellationToken::new())
            .await;
    assert_eq!(text(&finished), "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
    assert_eq!(seen, finished.output);
}

#[tokio::test]
async fn a_command_reads_nothing() {
    assert_eq!(text(&finished("cat; echo end").await), "end\n");
}

#[tokio::test]
async fn the_time_limit_kills_the_children_of_children_too() {
    let line = Lifeline::new();
    let mut spec = line.spec(&format!("(sh -c '{HOLD}; sleep 1000; true'; true) & wait"));
    spec.time_limit = Some(Duration::from_millis(500));
    let finished = run(spec, &mut |_| {}, CancellationToken::new()).await;
    assert_eq!(finished.exit, Exit::TimeLimit);
    line.wait_until_all_are_dead();
}

#[tokio::test]
async fn cancelling_kills_the_whole_group_and_keeps_the_output_so_far() {
    let line = Lifeline::new();
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let spec = line.spec(&format!("sh -c '{HOLD}; sleep 1000; true' & wait"));
    let finished = run(spec, &mut |_| stop.cancel(), cancel).await;
    assert_eq!((&finished.exit, text(&finished).as_str()), (&Exit::Cancelled, "ready\n"));
    line.wait_until_all_are_dead();
}

#[tokio::test]
async fn a_command_that_is_cancelled_before_it_starts_ends_as_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let finished = run(spec(folder.path(), "sleep 1000"), &mut |_| {}, cancel).await;
    assert_eq!(finished.exit, Exit::Cancelled);
}

#[tokio::test]
async fn dropping_the_future_kills_the_group() {
    let line = Lifeline::new();
    let (sender, mut ready) = tokio::sync::mpsc::unbounded_channel();
    let spec = line.spec(&format!("sh -c '{HOLD}; sleep 1000; true' & wait"));
    let mut on_output = move |_: &[u8]| sender.send(()).unwrap();
    tokio::select! {
        _ = run(spec, &mut on_output, CancellationToken::new()) => panic!("it sleeps"),
        _ = ready.recv() => {}
    }
    line.wait_until_all_are_dead();
}

#[tokio::test]
async fn a_background_process_left_behind_dies_with_the_command() {
    let line = Lifeline::new();
    let spec = line.spec(&format!(
        "({HOLD}; : >started; sleep 1000; true) & until [ -e started ]; do :; done; echo done"
    ));
    let finished = run(spec, &mut |_| {}, CancellationToken::new()).await;
    assert_eq!((&finished.exit, text(&finished).as_str()), (&Exit::Code(0), "ready\ndone\n"));
    line.wait_until_all_are_dead();
}

#[tokio::test]
async fn a_daemon_that_left_the_group_and_holds_the_output_open_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = "setsid sh -c 'echo $$ >pid.new; mv pid.new pid; sleep 1000; true' &
        until [ -e pid ]; do :; done; echo done";
    let finished = run(spec(folder.path(), daemon), &mut |_| {}, CancellationToken::new()).await;
    assert_eq!((&finished.exit, text(&finished).as_str()), (&Exit::Code(0), "done\n"));
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    let alive = Command::new("kill").args(["-KILL", "--", &format!("-{}", pid.trim())]).status().unwrap();
    assert!(alive.success(), "the daemon was there until now");
}

#[tokio::test]
async fn all_output_written_before_the_end_arrives() {
    let finished = finished("head -c 60000 /dev/zero | tr '\\0' x").await;
    assert_eq!(finished.output.len(), 60000);
}

#[tokio::test]
async fn a_long_output_keeps_its_first_and_last_lines() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = spec(folder.path(), "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done");
    spec.output_limit = 100;
    let finished = run(spec, &mut |_| {}, CancellationToken::new()).await;
    let text = text(&finished);
    assert!(text.starts_with("line 0\nline 1\n") && text.ends_with("line 1998\nline 1999\n"), "{text}");
    assert!(text.contains(" bytes left out ...]\n") && text.len() < 140, "{text}");
}

#[tokio::test]
async fn the_environment_is_the_given_one_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = spec(folder.path(), "env");
    spec.env = vec![(OsString::from("ONLY"), OsString::from("this"))];
    let finished = run(spec, &mut |_| {}, CancellationToken::new()).await;
    // The shell itself adds these.
    let shells = ["PWD=", "SHLVL=", "_=", "OLDPWD="];
    let text = text(&finished);
    let given: Vec<_> = text.lines().filter(|line| !shells.iter().any(|own| line.starts_with(own))).collect();
    assert_eq!(given, ["ONLY=this"]);
}

/// Runs itself again with a key in its environment, since a test cannot change its own.
#[test]
fn a_key_in_the_environment_of_heph_does_not_reach_a_command() {
    if std::env::var_os("EXAMPLE_API_KEY").is_none() {
        let this = std::env::current_exe().unwrap();
        let name = "a_key_in_the_environment_of_heph_does_not_reach_a_command";
        let again =
            Command::new(this).args(["--exact", name]).env("EXAMPLE_API_KEY", "secret").output().unwrap();
        assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
        return;
    }
    let names: Vec<_> = listed_environment(Path::new("/tmp/own")).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"PATH".into()) && names.contains(&"TMPDIR".into()));
    assert!(!names.contains(&"EXAMPLE_API_KEY".into()));
}
