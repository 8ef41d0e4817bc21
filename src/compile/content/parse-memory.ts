import { isDeepStrictEqual } from 'node:util'
import type { ListingFacts } from '../../domain/listing/listing-facts.ts'
import { KEY, openMemory } from '../files/memory.ts'
import { digestOf } from '../files/release-writer.ts'

/**
 * What sound listing files hold, by their bytes: a build reads again only what somebody wrote. Parsing
 * is most of the cost of reading; whatever looks at more than one file is done each time.
 */
export interface ParseMemory {
  /** What a text holds that was kept in this build or an earlier one; null for any other. */
  recall(text: string): SoundText | null
  keep(text: string, parsed: SoundText): void
  /** Writes down what was asked for in this build, and forgets the rest. */
  save(): void
}

/** The parts of a listing file without faults. */
interface SoundText {
  facts: ListingFacts
  yaml: string
  description: string
}

/** Where the parts of a text are that need no parsing. */
type Kept = [facts: ListingFacts, yaml: [number, number], description: [number, number]]

/** @param path @param version see `openMemory` */
export function openParseMemory(path: string, version: string): ParseMemory {
  const memory = openMemory(path, version)
  return {
    recall(text) {
      const row = memory.recall(digestOf(text, KEY))
      return row === null ? null : toParts(text, row.toString())
    },
    keep(text, parsed) {
      const kept = toKept(text, parsed)
      const row = JSON.stringify(kept)
      // What JSON does not bring back as it was is parsed each time.
      if (kept === null || !isDeepStrictEqual(JSON.parse(row), kept)) return
      memory.keep(digestOf(text, KEY), Buffer.from(row))
    },
    save: memory.save,
  }
}

function toKept(text: string, { facts, yaml, description }: SoundText): Kept | null {
  const yamlAt = text.indexOf(yaml)
  const descriptionAt = text.lastIndexOf(description)
  if (yamlAt === -1 || descriptionAt === -1) return null
  return [
    facts,
    [yamlAt, yamlAt + yaml.length],
    [descriptionAt, descriptionAt + description.length],
  ]
}

function toParts(text: string, row: string): SoundText {
  // JSON.parse is typed `any`; the row was written from this very type, and its bytes are verified.
  const [facts, yaml, description]: Kept = JSON.parse(row)
  const cut = ([start, end]: [number, number]) => text.slice(start, end)
  return { facts, yaml: cut(yaml), description: cut(description) }
}
