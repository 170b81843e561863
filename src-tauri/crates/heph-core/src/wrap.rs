//! wrap
