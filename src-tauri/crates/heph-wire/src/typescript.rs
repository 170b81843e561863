use ts_rs::{Config, TS, TypeVisitor};

use crate::{CallError, Notification, method, path::PathForm};

/// The protocol as one TypeScript module: every type, and `Methods`, which maps each method's name
/// to its params and result.
pub fn typescript() -> String {
    let cfg = Config::new().with_large_int("number");
    let mut out = String::from("// Generated from heph-wire by `cargo xtask bindings`; do not edit.\n");
    let mut declarations = Declarations { cfg: &cfg, found: Vec::new() };
    declarations.visit::<PathForm>();
    declarations.visit::<CallError>();
    declarations.visit::<Notification>();
    method::visit_types(&mut declarations);
    declarations.found.sort();
    declarations.found.dedup();
    for (_, declaration) in &declarations.found {
        out.push_str(&format!("\nexport {declaration}\n"));
    }
    out.push_str("\nexport interface Methods {\n");
    for (name, params, result) in method::signatures(&cfg) {
        out.push_str(&format!("  \"{name}\": {{ params: {params}; result: {result} }};\n"));
    }
    out.push_str("}\n");
    out
}

struct Declarations<'a> {
    cfg: &'a Config,
    found: Vec<(String, String)>,
}

impl TypeVisitor for Declarations<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        let Some(_) = T::output_path() else {
            T::visit_generics(self);
            T::visit_dependencies(self);
            return;
        };
        let name = T::ident(self.cfg);
        if self.found.iter().any(|(known, _)| *known == name) {
            return;
        }
        self.found.push((name, T::decl(self.cfg)));
        T::visit_dependencies(self);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn committed_bindings_are_those_of_the_wire_types() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../ui/src/lib/bindings/wire.ts");
        let committed = std::fs::read_to_string(file).unwrap_or_default();
        assert!(committed == super::typescript(), "run `cargo xtask bindings` and commit the result");
    }
}
