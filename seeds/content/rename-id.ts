import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isNode, isScalar, isSeq, type Node, parseDocument, visit } from 'yaml'
import { readIfThere } from './content-folder.ts'

/** Tables whose rows name listings; elsewhere a host may look like an id. */
const TABLES = ['tables/site.yaml', 'tables/policies.yaml']

/** Files that editors write and that name a listing by its former id, with the new one in its place. */
export async function findRenamed(contentDir: string, from: string, to: string) {
  const pages = await readdir(join(contentDir, 'compare')).catch(() => [])
  const files = pages.filter((name) => name.endsWith('.yaml')).map((name) => `compare/${name}`)
  const renamed: { file: string; text: string }[] = []
  for (const file of [...files.sort(), ...TABLES]) {
    const before = (await readIfThere(join(contentDir, file))) ?? ''
    const text = renameId(before, from, to)
    if (text !== before) renamed.push({ file, text })
  }
  return renamed
}

/**
 * Everything else in the text stays as it was written. Where a list already has a row of the new
 * id, the row of the former one is removed.
 *
 * @example renameId('- { id: x402.a, focus: broad }\n', 'x402.a', 'x402.b') → '- { id: x402.b, focus: broad }\n'
 */
export function renameId(text: string, from: string, to: string): string {
  let renamed = text
  const document = parseDocument(text, { schema: 'core' })
  const found: { scalar: Node; row: Node | null }[] = []
  visit(document, {
    Scalar(key, scalar, path) {
      if (key === 'key' || scalar.value !== from) return
      const list = path.findLast(isSeq)
      const rows = list?.flow === true ? [] : (list?.items.filter(isNode) ?? [])
      const isKnown = rows.some((row) => names(row, to))
      found.push({ scalar, row: (isKnown && rows.find((row) => names(row, from))) || null })
    },
  })
  // From the end, so that earlier positions stay valid.
  for (const { scalar, row } of found.reverse()) {
    const [start, end] = (row ?? scalar).range ?? [0, 0]
    const lineStart = renamed.lastIndexOf('\n', start) + 1
    renamed =
      row === null
        ? `${renamed.slice(0, start)}${to}${renamed.slice(end)}`
        : `${renamed.slice(0, lineStart)}${renamed.slice(renamed.indexOf('\n', end - 1) + 1)}`
  }
  return renamed
}

function names(row: Node, id: string): boolean {
  let isNamed = false
  visit(row, (key, node) => {
    if (key !== 'key' && isScalar(node) && node.value === id) isNamed = true
  })
  return isNamed
}
