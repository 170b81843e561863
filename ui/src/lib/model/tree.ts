/** A line of the file tree. */
export type Leaf =
  | { kind: "folder"; path: string; name: string; depth: number }
  | { kind: "file"; path: string; name: string; depth: number; index: number };

interface Folder {
  folders: Map<string, Folder>;
  files: { name: string; path: string; index: number }[];
}

/**
 * The lines of a tree of `paths`, folders first opened where they begin; a folder that holds nothing but
 * one other folder shares its line. What lies in a folder of `closed` is left out. `index` counts `paths`.
 */
export function treeOf(paths: readonly string[], closed: ReadonlySet<string>): Leaf[] {
  const root: Folder = { folders: new Map(), files: [] };
  paths.forEach((path, index) => {
    const parts = path.split("/");
    const name = parts.pop()!;
    let folder = root;
    for (const part of parts) {
      const known = folder.folders.get(part) ?? { folders: new Map(), files: [] };
      folder.folders.set(part, known);
      folder = known;
    }
    folder.files.push({ name, path, index });
  });
  const leaves: Leaf[] = [];
  addFolder(leaves, root, "", 0, closed);
  return leaves;
}

function addFolder(leaves: Leaf[], folder: Folder, path: string, depth: number, closed: ReadonlySet<string>): void {
  for (const file of folder.files) leaves.push({ kind: "file", depth, ...file });
  for (const [first, below] of folder.folders) {
    let name = first;
    let inner = below;
    while (inner.files.length === 0 && inner.folders.size === 1) {
      const [[next, only]] = inner.folders as unknown as [[string, Folder]];
      name = `${name}/${next}`;
      inner = only;
    }
    const own = `${path}${name}/`;
    leaves.push({ kind: "folder", path: own, name, depth });
    if (!closed.has(own)) addFolder(leaves, inner, own, depth + 1, closed);
  }
}
