import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { parseDocument } from 'yaml'
import { SourceRowSchema } from '../../src/domain/derived/source-table.ts'
import { CategoryRowSchema } from '../../src/domain/derived/tables.ts'
import { ID_PREFIXES } from '../../src/domain/wire/vocabulary.ts'
import { type ExistingListing, toExistingListing } from './listing-text.ts'
import { NO_MEMORY, parseLock } from './seed-lock.ts'

export function lockFileOf(importer: string): string {
  return `seeds/${importer}.json`
}

/** The memory a run is going to have, written before its first file and gone after its last. */
export function promiseFileOf(importer: string): string {
  return `seeds/.${importer}.next.json`
}

/** The category ids and the source rows an importer may use. */
export async function readTables(contentDir: string) {
  const read = async (name: string): Promise<unknown> => {
    const file = join(contentDir, 'tables', `${name}.yaml`)
    const text = await readFile(file, 'utf8').catch(() => {
      throw new Error(`${file}: expected a content folder with this table in it`)
    })
    return parseDocument(text, { schema: 'core' }).toJS({ maxAliasCount: 0 })
  }
  const categories = v.parse(v.array(CategoryRowSchema), await read('categories'))
  const sources = v.parse(v.array(SourceRowSchema), await read('sources'))
  return { categories: new Set(categories.map(({ id }) => id)), sources }
}

/** @returns what the importer remembers, and what a killed run was about to remember. */
export async function readMemory(contentDir: string, importer: string) {
  const read = async (name: string) => {
    const file = join(contentDir, name)
    const text = await readIfThere(file)
    return text === null ? null : parseLock(text, file)
  }
  return {
    kept: (await read(lockFileOf(importer))) ?? NO_MEMORY,
    promised: await read(promiseFileOf(importer)),
  }
}

/** Every listing, by its path from the content folder. */
export async function readExisting(contentDir: string): Promise<Map<string, ExistingListing>> {
  const existing = new Map<string, ExistingListing>()
  for (const prefix of ID_PREFIXES) {
    const folder = join(contentDir, 'listings', prefix)
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      const file = `listings/${prefix}/${entry.name}`
      // A link or a folder takes the name, but nothing is read or written through it.
      const text = entry.isFile() ? readFileSync(join(folder, entry.name), 'utf8') : null
      existing.set(file, toExistingListing(file, text))
    }
  }
  return existing
}

/** What machines keep beside the listings: evidence, tombstones, the review queue; text by its path. */
export async function readMachineFiles(contentDir: string): Promise<Map<string, string>> {
  const files = ['evidence', 'tombstones'].flatMap((folder) =>
    ID_PREFIXES.map((prefix) => readJsonFiles(contentDir, `${folder}/${prefix}`)),
  )
  const read = await Promise.all([...files, readReview(contentDir)])
  return new Map(read.flatMap((each) => [...each]))
}

/** The review queue, and what was settled in it. */
export function readReview(contentDir: string): Promise<Map<string, string>> {
  return readJsonFiles(contentDir, 'review')
}

async function readJsonFiles(contentDir: string, folder: string): Promise<Map<string, string>> {
  const names = await readdir(join(contentDir, folder)).catch(() => [])
  const files = names.filter((name) => name.endsWith('.json')).map((name) => `${folder}/${name}`)
  return new Map(files.sort().map((file) => [file, readFileSync(join(contentDir, file), 'utf8')]))
}

export async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
