import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { parseDocument } from 'yaml'
import { type SourceRow, SourceRowSchema } from '../../src/domain/derived/source-table.ts'
import { CategoryRowSchema } from '../../src/domain/derived/tables.ts'
import { ID_PREFIXES } from '../../src/domain/wire/vocabulary.ts'
import { type ExistingListing, toExistingListing } from './existing-listing.ts'
import { type HandsOff, parseHandsOff } from './hands-off.ts'
import { parseLock, type SeedLock } from './seed-lock.ts'

const HANDS_OFF = 'seeds/hands-off.yaml'

export function lockFileOf(importer: string): string {
  return `seeds/${importer}.json`
}

export interface SeedTables {
  categories: ReadonlySet<string>
  sources: readonly SourceRow[]
}

/** The category ids and the source rows an importer may use. */
export async function readTables(contentDir: string): Promise<SeedTables> {
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

export async function readLock(contentDir: string, importer: string): Promise<SeedLock> {
  const file = join(contentDir, lockFileOf(importer))
  const text = await readIfThere(file)
  return text === null ? new Map() : parseLock(text, file)
}

export async function readHandsOff(contentDir: string): Promise<HandsOff> {
  const file = join(contentDir, HANDS_OFF)
  const text = await readIfThere(file)
  return text === null ? [] : parseHandsOff(text, file)
}

/** Every listing there is, whoever wrote it, by its path from the content folder. */
export async function readExisting(contentDir: string): Promise<Map<string, ExistingListing>> {
  const existing = new Map<string, ExistingListing>()
  for (const prefix of ID_PREFIXES) {
    const folder = join(contentDir, 'listings', prefix)
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      const file = `listings/${prefix}/${entry.name}`
      // A link or a folder takes the name, but nothing is read or written through it.
      const text = entry.isFile() ? await readFile(join(folder, entry.name), 'utf8') : null
      existing.set(file, toExistingListing(file, text))
    }
  }
  return existing
}

/**
 * Whole files only: written beside the lock, then renamed into place, so that a run that is killed
 * leaves neither half a file nor a stray one among the listings.
 */
export async function writeContentFile(
  contentDir: string,
  file: string,
  text: string,
): Promise<void> {
  const target = join(contentDir, file)
  const temporary = join(contentDir, 'seeds', `.${process.pid}.tmp`)
  await refuseLink(dirname(target))
  await mkdir(dirname(target), { recursive: true })
  await mkdir(dirname(temporary), { recursive: true })
  try {
    await writeFile(temporary, text)
    await rename(temporary, target)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** A folder that is a link would carry the write out of the content. */
async function refuseLink(folder: string): Promise<void> {
  const info = await lstat(folder).catch(() => null)
  if (info?.isSymbolicLink()) throw new Error(`${folder}: expected a folder, got a link`)
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
