import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { listingIdOf } from '../../domain/listing/listing-id.ts'
import { PricingSchema } from '../../domain/listing/pricing.ts'
import type { Said } from '../../domain/views/listing-view.ts'
import { parseJson } from '../../domain/wire/parse-json.ts'

const SaidSchema = v.object({
  pricing: v.optional(PricingSchema),
  http: v.optional(v.array(v.object({ url: v.string() }))),
  payees: v.optional(v.array(v.string())),
  tools: v.optional(v.array(v.string())),
  sources: v.optional(v.array(v.object({ source: v.string() }))),
})

/** As far as it matters here; importers check the whole file before they write to it. */
const LockSchema = v.object({
  listings: v.record(
    v.string(),
    v.object({
      file: v.string(),
      said: v.optional(SaidSchema),
      told: v.optional(SaidSchema),
    }),
  ),
})

/**
 * What each source said of listings that others or people tell of too, by id: importers remember it in
 * `seeds/<importer>.json`. A memory that can't be read says nothing.
 */
export function readSaid(contentDir: string): Map<string, Said[]> {
  const folder = join(contentDir, 'seeds')
  const files = existsSync(folder) ? readdirSync(folder).sort() : []
  const said = new Map<string, Said[]>()
  for (const name of files.filter((each) => /^[a-z0-9-]+\.json$/.test(each))) {
    const lock = v.safeParse(LockSchema, parseJson(readFileSync(join(folder, name), 'utf8')))
    for (const { file, ...entry } of lock.success ? Object.values(lock.output.listings) : []) {
      const id = listingIdOf(file)
      const { sources = [], ...facts } = { ...entry.said, ...entry.told }
      const rows = sources.map(({ source }) => ({ source, ...facts }))
      if (rows.length > 0) said.set(id, [...(said.get(id) ?? []), ...rows])
    }
  }
  return said
}
