//! What journeys are told with: repositories to work on, and a client for `heph-serve`.
//!
//! A dev-dependency only. Everything here panics where a test has gone wrong, with the reason.

mod client;
mod repository;

pub use client::{Answer, Client};
pub use repository::{Fingerprint, Repository};
