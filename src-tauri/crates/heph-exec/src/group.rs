//! A process group and its end.

use std::{
    io,
    process::{Child, ExitStatus},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// A running group, known by its leader. Dropping a [`Group`] kills it; the clone that waits for
/// the leader collects it.
#[derive(Clone)]
pub(crate) struct Group {
    /// Empty once the leader is collected: until then its number cannot have gone to a stranger,
    /// and the group may be killed by it.
    leader: Arc<Mutex<Option<Child>>>,
}

impl Group {
    pub(crate) fn of(leader: Child) -> Group {
        Group { leader: Arc::new(Mutex::new(Some(leader))) }
    }

    /// Blocks until the leader has ended, kills what it left behind in its group, and collects it.
    pub(crate) fn wait(self) -> io::Result<ExitStatus> {
        let Some(pid) = self.lock().as_ref().map(Pid::from_child) else {
            return Err(io::Error::other("the process was waited for already"));
        };
        // `NOWAIT` leaves the leader uncollected, so that the kill below still means its group.
        loop {
            match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Err(rustix::io::Errno::INTR) => {}
                other => break other.map(drop)?,
            }
        }
        let mut leader = self.lock();
        kill(leader.as_ref());
        let status = leader.as_mut().map(Child::wait);
        *leader = None;
        status.unwrap_or_else(|| Err(io::Error::other("the process was waited for already")))
    }

    /// Kills every process of the group, if it is there still.
    pub(crate) fn kill(&self) {
        kill(self.lock().as_ref());
    }

    fn lock(&self) -> MutexGuard<'_, Option<Child>> {
        self.leader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

fn kill(leader: Option<&Child>) {
    if let Some(leader) = leader {
        // The only failures are that nobody is left or that nobody left may be signalled (a
        // set-user-id program): there is nothing more to be done about either.
        let _ = kill_process_group(Pid::from_child(leader), Signal::KILL);
    }
}
