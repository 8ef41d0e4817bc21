import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseConfig } from '../../functions/ports/config.ts'
import { readCommandLine, runMain, wrongCommand } from '../../functions/ports/run-main.ts'
import { isListingId } from '../../src/domain/listing/listing-text.ts'
import { findUrlFault, withAsciiHosts } from '../../src/domain/listing/target-url.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import {
  evidenceFileOf,
  listingFileOf,
  membersOf,
  readIfThere,
  renderJson,
  tombstoneFileOf,
  withContent,
} from '../content/content-files.ts'

const USAGE =
  'npm run move -- <former id> <new id> [--by <who>] [--said-at <page on the former domain>]'

/** Tables whose rows name listings by id; in other tables a host may look like an id. */
const TABLES = ['tables/site.yaml', 'tables/policies.yaml']

/** Files that name a listing by its former id, each with its new text. */
async function findRenamed(contentDir: string, from: string, to: string) {
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
 * Renames an id that is a whole value, in a list or after a key. The rest of the text stays as it
 * was written.
 * @example renameId('- { id: x402.a, focus: broad }\n', 'x402.a', 'x402.b') → '- { id: x402.b,
 *   focus: broad }\n'
 */
function renameId(text: string, from: string, to: string): string {
  const id = from.replaceAll('.', '\\.')
  const value = new RegExp(`(?<=(?:[:,[]|^ *-) *)(["']?)${id}\\1(?= *(?:[,\\]}#]|$))`, 'gm')
  return text.replace(value, to)
}

if (import.meta.main) await runMain(() => move(process.argv.slice(2), process.env))

/**
 * `npm run move`: gives a listing a new id. Its file and evidence move to that id, and a tombstone leads
 * from every former address to the new one. Comparisons, showcase and policies get the new id. If
 * the new id is already listed, that listing keeps its own texts.
 */
export async function move(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { from, to, by, statedAt } = readArguments(args)
  const { CONTENT_DIR: contentDir } = parseConfig(env)
  const [former, listing] = [listingFileOf(from), listingFileOf(to)]
  const read = (file: string) => readIfThere(join(contentDir, file))
  const text = await read(former)
  if (text === null) throw new OperatorError(`${former}: expected a listing that exists`)
  const isListed = (await read(listing)) !== null
  const seen = [await read(evidenceFileOf(former)), await read(evidenceFileOf(listing))]
  const [evidence, own] = seen.map((each) => membersOf(each ?? undefined))
  await withContent(contentDir, async (writer) => {
    const moved = { reason: 'moved', by, moved_to: to, ...(statedAt && { said_at: statedAt }) }
    const at = new Date().toISOString()
    if (!isListed) await writer.write(listing, text)
    if (seen[0] !== null)
      await writer.write(evidenceFileOf(listing), renderJson({ ...evidence, ...own }))
    await writer.write(
      tombstoneFileOf(former),
      renderJson({ id: from, at, ...moved, listing: text }),
    )
    for (const { file, text } of await findRenamed(contentDir, from, to))
      await writer.write(file, text)
    await writer.remove(evidenceFileOf(former))
    await writer.remove(former)
  })
  console.log(`${from} is ${to} now`)
}

function readArguments(args: readonly string[]) {
  const options = { by: { type: 'string' }, 'said-at': { type: 'string' } } as const
  const { values, words } = readCommandLine(USAGE, options, 2, args)
  const [from = '', to = ''] = words
  if (from === to || !isListingId(from) || !isListingId(to))
    throw wrongCommand(USAGE, 'expected the former and the new id of a listing')
  const statedAt = withAsciiHosts(values['said-at'])
  const fault = statedAt === undefined ? null : findUrlFault(statedAt, { allowPrivate: false })
  if (fault !== null) throw wrongCommand(USAGE, `--said-at: ${fault}`)
  return { from, to, by: values.by ?? 'an editor', statedAt }
}
