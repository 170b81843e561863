//! What journeys are told with: repositories to work on, a client for `heph-serve`, and scenarios.
//!
//! A dev-dependency only. Everything here panics where a test has gone wrong, with the reason.

mod client;
mod repository;
mod scenario;

pub use client::{Answer, Client};
pub use repository::{Fingerprint, Repository};
pub use scenario::play;
