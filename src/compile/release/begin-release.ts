import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { ReleaseFileSchema } from '../../domain/derived/release-file.ts'
import type { SiteNames } from '../../domain/derived/tables.ts'
import { parseJson } from '../../domain/wire/parse-json.ts'
import { type CarriedFile, carryOver } from '../files/carry-over.ts'
import { digestCode } from '../files/code-digest.ts'
import { COMPRESSION } from '../files/compress-files.ts'
import { digestOf } from '../files/release-writer.ts'
import { type PageBundle, preparePageBundle } from '../pages/page-bundle.ts'
import { MadeIndexSchema } from '../pages/page-indexes.ts'
import { sparePath } from './publish-release.ts'

/** `data/made-from.json`: what the parts of a release hang on, so that the next one makes less. */
const MadeFromSchema = v.strictObject({
  /** Of the code that made it (`digestCode`): another one makes everything anew. */
  code: v.string(),
  /** Keys of pages by their path below `public/`; a page without one is made each time. */
  pages: v.record(v.string(), v.string()),
  /** The indexes of the search in the browser, by their place. */
  search: v.array(MadeIndexSchema),
  /** What the search for a function host hangs on. */
  search_function: v.string(),
})
export type MadeFrom = v.InferOutput<typeof MadeFromSchema>

export const MADE_FROM = 'data/made-from.json'

/** The search for a function host. */
export const SEARCH_CODE = 'functions/search/search.js'

/** What a build does beside deriving the catalogue. */
export interface BegunRelease {
  /** Of the code this release is made with. */
  code: string
  /** Folder of what builds leave to later ones. */
  cacheDir: string
  /** What the release before was made from; null where nothing of it can be used. */
  before: MadeFrom | null
  /** The code of its search for a function host; null where nothing of it can be used. */
  searchCode: Uint8Array | null
  /** Files of the release before that are linked into this one, sound to the last byte. */
  carried: Promise<CarriedFile[]>
  bundle: Promise<PageBundle>
}

/**
 * Begins a release in `work`: a thread carries over what the one before publishes, and Astro bundles
 * the pages, unless an earlier build did.
 *
 * @param before folder of the release being served; null without one
 */
export function beginRelease(
  work: string,
  {
    outDir,
    baseUrl,
    before,
    site,
  }: { outDir: string; baseUrl: string; before: string | null; site: SiteNames },
): BegunRelease {
  // Badges carry the short name: under another one nothing is as it was.
  const code = digestOf(`${digestCode()} ${site.short_name}`)
  const earlier = before === null ? null : readEarlier(before, code)
  const cacheDir = join(outDir, 'cache')
  const bundle = preparePageBundle(cacheDir, baseUrl)
  // Told by who waits for it.
  bundle.catch(() => undefined)
  const from = earlier === null ? null : before
  const to = join(work, 'public')
  return {
    code,
    cacheDir,
    before: earlier?.madeFrom ?? null,
    searchCode: earlier?.searchCode ?? null,
    carried: carryOver({ from, spare: sparePath(outDir), to, compression: COMPRESSION }),
    bundle,
  }
}

type Earlier = { madeFrom: MadeFrom; searchCode: Uint8Array }

/** Null where it is damaged, of other code, or of another version. */
function readEarlier(releaseDir: string, code: string): Earlier | null {
  try {
    const read = (file: string) => readFileSync(join(releaseDir, file))
    const { files } = v.parse(ReleaseFileSchema, parseJson(`${read('data/release.json')}`))
    const isSound = (file: string, bytes: Uint8Array) => files[file]?.digest === digestOf(bytes)
    const text = read(MADE_FROM)
    if (!isSound(MADE_FROM, text)) return null
    const madeFrom = v.parse(MadeFromSchema, parseJson(`${text}`))
    if (madeFrom.code !== code) return null
    const searchCode = read(SEARCH_CODE)
    return isSound(SEARCH_CODE, searchCode) ? { madeFrom, searchCode } : null
  } catch {
    return null
  }
}
