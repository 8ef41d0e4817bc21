import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { parse, stringify } from 'yaml'
import type { Refusal } from '../../../seeds/facts/refusal.ts'
import { createRandom } from '../seeded-random.ts'
import { convertRow } from './convert-row.ts'
import { type ScaleRow, ScaleRowSchema } from './scale-row.ts'
import { varyRow } from './vary-row.ts'

const FILES = ['merged_mcp.jsonl', 'merged_paid.jsonl', 'merged_a2a.jsonl']

const WordsSchema = v.optional(v.nullable(v.string()))
/** Of a description, which is cut to a summary. */
const MOST_WORDS = 40

export interface Conversion {
  rows: number
  written: number
  refused: Refusal[]
}

/**
 * Writes a content folder of the project's tables and kits with a listing for every row.
 *
 * @param limit rows at most, spread evenly over the three files so that a tenth of the rows is a
 *   tenth of each kind; null for all.
 */
export function convertContent(
  scaleDir: string,
  { contentDir, limit }: { contentDir: string; limit: number | null },
): Conversion {
  copyOwnContent(contentDir)
  const lines = FILES.flatMap((file) =>
    readFileSync(join(scaleDir, file), 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== ''),
  )
  const count = limit ?? lines.length
  const step = Math.max(1, lines.length / count)
  const vary = createVariety(lines)
  const categories = new Set(readIds(contentDir, 'categories'))
  const sources = new Set(readIds(contentDir, 'sources'))
  const conversion: Conversion = { rows: count, written: 0, refused: [] }
  const seen = new Set<string>()
  const unknown = new Set<string>()
  for (let i = 0; i < count; i++) {
    const place = Math.floor(i * step)
    const read: unknown = JSON.parse(lines[place % lines.length] ?? 'null')
    const round = Math.floor(place / lines.length)
    const row = convertRow(round === 0 ? read : vary(read, round), categories)
    if (!row.ok) conversion.refused.push(row.refusal)
    else if (seen.has(row.file))
      conversion.refused.push({
        reason: 'duplicate_name',
        name: row.file,
        detail: 'the same row twice',
      })
    else {
      seen.add(row.file)
      for (const source of row.sources) if (!sources.has(source)) unknown.add(source)
      writeFileSync(join(contentDir, row.file), row.text)
      conversion.written++
    }
  }
  addSources(contentDir, [...unknown].sort())
  return conversion
}

function createVariety(lines: readonly string[]) {
  const random = createRandom(8006)
  const words = lines.flatMap((line) => {
    const { description } = v.parse(v.object({ description: WordsSchema }), JSON.parse(line))
    return description?.split(/\s+/).slice(0, MOST_WORDS) ?? []
  })
  return (row: unknown, round: number): ScaleRow =>
    varyRow(v.parse(ScaleRowSchema, row), { round, words, random })
}

function copyOwnContent(contentDir: string): void {
  const own = new URL('../../../content/', import.meta.url).pathname
  for (const folder of ['mcp', 'x402', 'a2a', 'api', 'kit'])
    mkdirSync(join(contentDir, 'listings', folder), { recursive: true })
  for (const folder of ['tables', 'listings/kit', 'prose', 'schema'])
    if (existsSync(join(own, folder)))
      cpSync(join(own, folder), join(contentDir, folder), { recursive: true })
}

function readIds(contentDir: string, table: string): string[] {
  const rows: { id: string }[] = parse(
    readFileSync(join(contentDir, 'tables', `${table}.yaml`), 'utf8'),
  )
  return rows.map(({ id }) => id)
}

/** Lists that only the benchmark reads have no row in the project's own table. */
function addSources(contentDir: string, ids: readonly string[]): void {
  const file = join(contentDir, 'tables/sources.yaml')
  const rows = ids.map((id) => ({
    id,
    name: id,
    url: 'https://github.com/',
    license: 'see the benchmark data',
    decision: 'facts_only',
    reason: 'Only the scale benchmark reads it.',
  }))
  if (rows.length > 0) writeFileSync(file, `${readFileSync(file, 'utf8')}\n${stringify(rows)}`)
}
