import { dirname, join } from 'node:path'
import type { SourceFile } from './source-tree.ts'

/** One import, resolved: a file of ours, or a package. */
export interface Import {
  from: string
  /** Path from the root, or the package's name with `node:` and `astro:` kept. */
  to: string
  isOurs: boolean
}

export function toImports(files: readonly SourceFile[]): Import[] {
  return files.flatMap(({ path, specifiers }) =>
    specifiers.map((specifier) =>
      specifier.startsWith('.')
        ? { from: path, to: join(dirname(path), specifier).replaceAll('\\', '/'), isOurs: true }
        : { from: path, to: toPackage(specifier), isOurs: false },
    ),
  )
}

/**
 * One way round for each knot of files that import each other.
 *
 * @example findCycles([{ from: 'a', to: 'b' }, { from: 'b', to: 'a' }]) → ['a → b → a']
 */
export function findCycles(imports: readonly Pick<Import, 'from' | 'to'>[]): string[] {
  const edges = new Map<string, string[]>()
  for (const { from, to } of imports) edges.set(from, [...(edges.get(from) ?? []), to])
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (file: string, trail: readonly string[]) => {
    const start = trail.indexOf(file)
    if (start >= 0) cycles.push([...trail.slice(start), file].join(' → '))
    if (start >= 0 || done.has(file)) return
    for (const next of edges.get(file) ?? []) visit(next, [...trail, file])
    done.add(file)
  }
  for (const file of edges.keys()) visit(file, [])
  return cycles
}

/** @example toPackage('@orama/orama/trees') → '@orama/orama'; toPackage('node:fs/promises') → 'node:fs' */
function toPackage(specifier: string): string {
  const parts = specifier.split('/')
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier)
}
