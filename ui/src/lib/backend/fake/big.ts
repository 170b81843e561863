import type { FileView, HunkView, Row } from "$lib/bindings/wire";
import { countsOf, rowsOf } from "./rows";

/** A review of `files` files with `hunks` hunks each, whose rows are made when they are asked for. */
export function bigReview(files: number, hunks: number, rows: number): FileView[] {
  return Array.from({ length: files }, (_, file): FileView => ({
    path: `crates/part-${Math.floor(file / 20)}/src/module_${file}.rs`,
    change: "modified", editable: true,
    counts: { added: (hunks * rows) / 2, removed: (hunks * rows) / 4 },
    hunks: Array.from({ length: hunks }, (_, index): HunkView => {
      const first = 1 + index * 40;
      return {
        id: `big-${file}-${index}`,
        number: index + 1,
        what: `lines ${first}-${first + rows - 1}`,
        old: [first, first + rows - 1],
        new: [first, first + rows - 1],
        header: "",
        context: `fn step_${index}`,
        row_count: rows, split_at: [], changes_your_edit: false,
        counts: { added: rows / 2, removed: rows / 4 },
        rationale: index % 3 === 0 ? undefined : `Step ${index} of module ${file} no longer waits for the one before it.`,
        verdict: null,
        comments: [],
      };
    }),
  }));
}

/** Rows of one hunk of the big review. */
export function bigRows(hunk: string, first: number, last: number, count: number): Row[] {
  const [, file, index] = hunk.split("-").map(Number);
  const start = 1 + (index ?? 0) * 40;
  const lines = Array.from({ length: count }, (_, row) => {
    const kind = row % 4 === 1 ? "-" : row % 4 === 0 ? " " : "+";
    return `${kind}    let value_${row} = module_${file}::step(${row}, "text ${row}").await?;`;
  });
  const rows = rowsOf(lines.join("\n"), [start, start]);
  return countsOf(rows).added > 0 ? rows.slice(first, last + 1) : rows;
}
