//! constraint
