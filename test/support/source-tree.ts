import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'

/** The repository's root: tests run from it. */
export const ROOT = process.cwd()

export const SOURCE_FOLDERS = ['src', 'functions', 'seeds', 'packages', 'test'] as const

const SOURCE = /\.(?:ts|mts|mjs|js|astro)$/
const IGNORED = new Set(['node_modules', 'dist'])

/** One file of ours, as the rules about the house see it. */
export interface SourceFile {
  /** From the root, with forward slashes. */
  path: string
  text: string
  lines: number
  /** Every specifier: value, type, `export … from` and dynamic imports, as written. */
  specifiers: string[]
}

/** Every source file below the folders that exist, sorted by path. */
export function readSourceTree(
  folders: readonly string[] = SOURCE_FOLDERS,
  source = SOURCE,
): SourceFile[] {
  return folders
    .flatMap((folder) => listFiles(join(ROOT, folder), source))
    .map((file) =>
      toSourceFile(relative(ROOT, file).replaceAll('\\', '/'), readFileSync(file, 'utf8')),
    )
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

export function toSourceFile(path: string, text: string): SourceFile {
  const { importedFiles } = ts.preProcessFile(toScript(path, text), true, true)
  return {
    path,
    text,
    lines: text.trimEnd().split('\n').length,
    specifiers: [...importedFiles.map((file) => file.fileName), ...findScriptFiles(path, text)],
  }
}

/** The TypeScript tree of a file; for `.astro`, of its front matter and its scripts. */
export function parseSource({ path, text }: SourceFile): ts.SourceFile {
  return ts.createSourceFile(path, toScript(path, text), ts.ScriptTarget.Latest, true)
}

/** Every node below, parents before children. */
export function walk(node: ts.Node): ts.Node[] {
  const nodes = [node]
  for (const each of nodes) ts.forEachChild(each, (child) => void nodes.push(child))
  return nodes
}

function listFiles(folder: string, source: RegExp): string[] {
  let entries: ReturnType<typeof readEntries>
  try {
    entries = readEntries(folder)
  } catch {
    return []
  }
  return entries.flatMap((entry) => {
    if (IGNORED.has(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return listFiles(path, source)
    return source.test(entry.name) ? [path] : []
  })
}

function readEntries(folder: string) {
  return readdirSync(folder, { withFileTypes: true })
}

/** `<script src="../scripts/site.ts">` of an Astro file is an import too. */
function findScriptFiles(path: string, text: string): string[] {
  if (!path.endsWith('.astro')) return []
  return [...text.matchAll(/<script[^>]*\bsrc="(\.[^"]+)"/g)].map(([, file]) => file ?? '')
}

/** Astro's front matter and `<script>` blocks are TypeScript; its markup imports nothing. */
function toScript(path: string, text: string): string {
  if (!path.endsWith('.astro')) return text
  const frontMatter = /^---\n([\s\S]*?)\n---/.exec(text)?.[1] ?? ''
  const scripts = [...text.matchAll(/<script(?![^>]*\bsrc=)[^>]*(?<!\/)>([\s\S]*?)<\/script>/g)]
  return [frontMatter, ...scripts.map(([, script]) => script ?? '')].join('\n')
}
