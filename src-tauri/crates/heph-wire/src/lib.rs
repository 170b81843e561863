//! What crosses between Heph and a front end: methods, notifications and views.
//!
//! Both front ends, the webview and `heph-serve`, speak this one protocol. The crate holds types
//! and names, no logic: it knows neither git nor the turn. [`typescript`] renders everything here
//! as TypeScript for the user interface.
//!
//! Words: a *method* is asked for by a front end and answered once; a *notification* is sent by the
//! engine at any time; a *view* is what a front end shows, always of one revision.

mod error;
mod method;
mod notification;
mod path;
mod typescript;
mod view;

pub use error::*;
pub use method::*;
pub use notification::*;
pub use path::*;
pub use typescript::typescript;
pub use view::*;
