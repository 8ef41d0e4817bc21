import { join } from 'node:path'
import * as v from 'valibot'
import { parseDocument } from 'yaml'
import { sampleAddress } from '../../src/domain/listing/invoke.ts'
import type { Seed } from '../facts/seed-facts.ts'
import { readIfThere } from './content-folder.ts'
import { parseAs } from './machine-files.ts'

/**
 * People's orders to the importers. `never_list` keeps a server out (its owner asked);
 * `leave_as_is` keeps an importer away from a listing that somebody else now maintains.
 */
const HANDS_OFF = 'sources/hands-off.yaml'
const HandsOffSchema = v.array(
  v.strictObject({
    /** A name at the source, `namespace/*`, or the host of a remote. */
    match: v.pipe(v.string(), v.minLength(3)),
    rule: v.picklist(['never_list', 'leave_as_is'], 'expected never_list or leave_as_is'),
    reason: v.pipe(v.string(), v.minLength(1, 'expected a reason')),
  }),
)

export type HandsOff = v.InferOutput<typeof HandsOffSchema>

/** @throws Error that names the row and what would be right. */
export async function readHandsOff(contentDir: string): Promise<HandsOff> {
  const file = join(contentDir, HANDS_OFF)
  const text = await readIfThere(file)
  if (text === null) return []
  const document = parseDocument(text, { schema: 'core', merge: false, prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) throw new Error(`${file}: expected valid YAML: ${error.message}`)
  return parseAs(HandsOffSchema, document.toJS({ maxAliasCount: 0 }) ?? [], file)
}

export function findHandsOff(rules: HandsOff, seed: Seed): HandsOff[number] | undefined {
  return rules.find(({ match }) => isMatch(match.toLowerCase(), seed))
}

function isMatch(match: string, { key, facts }: Seed): boolean {
  const name = key.toLowerCase()
  if (match.endsWith('/*')) return name.startsWith(match.slice(0, -1))
  if (match.includes('/')) return name === match
  return [
    facts.url,
    ...(facts.invoke ?? []).map((entry) => (entry.kind === 'mcp' ? sampleAddress(entry) : '')),
  ].some((url) => URL.parse(url)?.hostname === match)
}
