//! Worktrees and chains of sessions that have rested for long are taken away. What was said and decided
//! stays, and a session that gets a prompt again gets a worktree anew.

use heph_wire::CallError;

use crate::{failure::internal, run::Loop};

const DAY: i64 = 24 * 60 * 60;

impl Loop {
    /// Collects what sessions of the repository `id` have left that rested for longer than its settings say.
    /// `now` is in seconds since 1970. What cannot be collected now stays for the next time.
    pub(crate) fn collect(&mut self, id: &str, now: i64) {
        if let Err(error) = self.try_collect(id, now) {
            tracing::warn!("old worktrees stay for now: {}", error.message);
        }
    }

    fn try_collect(&mut self, id: &str, now: i64) -> Result<(), CallError> {
        let before = now - i64::from(self.repos.keep_days(id)) * DAY;
        let private = self.repos.get(&self.store, id, now)?.private.clone();
        let there = private.sessions().map_err(internal)?;
        let unused = self.store.unused_since(id, before).map_err(internal)?;
        // Here and not in a task: no prompt can come to a session while it retires.
        for session in unused.iter().filter(|session| there.contains(*session)) {
            private.retire(session).map_err(internal)?;
            tracing::info!("the worktree of session {session} is collected");
        }
        self.tasks.spawn_blocking(move || {
            if let Err(error) = private.sweep() {
                tracing::warn!("what is left of old worktrees stays for now: {error}");
            }
        });
        Ok(())
    }
}
