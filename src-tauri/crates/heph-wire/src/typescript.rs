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
        out.push_str(&format!("\n{}", laid_out(declaration)));
    }
    let members = method::members(&cfg).join("\n");
    out.push_str(&format!("\n{}", laid_out(&format!("export interface Methods {{\n{members}\n}}"))));
    out
}

/// Indents a declaration as ts-rs gives it, and puts a comment of one line on one line.
fn laid_out(declaration: &str) -> String {
    let declaration = declaration.replace("/**\n * ", "/** ");
    let mut out = String::new();
    let mut depth = 0;
    let mut put = |line: &str| {
        let line = line.trim();
        let closing = line.split(' ').take_while(|word| word.starts_with('}')).count();
        let indent = if line == "*/" { 0 } else { 2 * (depth - closing) };
        match line {
            "" => {}
            "*/" => out.insert_str(out.trim_end().len(), " */"),
            _ => out.push_str(&format!("{:indent$}{line}\n", "")),
        }
        if !line.starts_with("/**") && !line.starts_with('*') {
            depth = depth + line.matches('{').count() - line.matches('}').count();
        }
    };
    for line in declaration.lines() {
        match first_unopened(line) {
            Some(at) => {
                put(&line[..at]);
                put(&line[at..]);
            }
            None => put(line),
        }
    }
    out
}

/// Where a line closes the first brace that it did not open itself.
fn first_unopened(line: &str) -> Option<usize> {
    let mut open = 0;
    for (at, letter) in line.char_indices() {
        match letter {
            '{' => open += 1,
            '}' if open == 0 => return Some(at),
            '}' => open -= 1,
            _ => {}
        }
    }
    None
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
        let docs = T::docs().unwrap_or_default();
        self.found.push((name, format!("{docs}export {}", T::decl(self.cfg))));
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
