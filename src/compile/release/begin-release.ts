import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { ReleaseFileSchema } from '../../domain/derived/release-file.ts'
import { parseJson } from '../../domain/wire/parse-json.ts'
import { type CarriedFile, carryOver } from '../files/carry-over.ts'
import { digestCode } from '../files/code-digest.ts'
import { COMPRESSION } from '../files/compress-file.ts'
import { digestOf } from '../files/release-writer.ts'
import { type PageBundle, preparePageBundle } from '../pages/page-bundle.ts'

/** `data/made-from.json`: what the parts of a release hang on, so that the next one makes less. */
const MadeFromSchema = v.strictObject({
  /** Of the code that made it (`digestCode`): another one makes everything anew. */
  code: v.string(),
  /** Keys of pages by their path below `public/`; a page without one is made each time. */
  pages: v.record(v.string(), v.string()),
  /** The search in the browser: of which texts, in how many files. */
  search: v.strictObject({ digest: v.string(), files: v.number() }),
})
export type MadeFrom = v.InferOutput<typeof MadeFromSchema>

export const MADE_FROM = 'data/made-from.json'

/** What a build does while it still reads the content. */
export interface BegunRelease {
  /** Of the code this release is made with. */
  code: string
  /** What the release before was made from; null where nothing of it can be used. */
  before: MadeFrom | null
  /** Files of the release before that are linked into this one, sound to the last byte. */
  carried: Promise<CarriedFile[]>
  bundle: Promise<PageBundle>
}

/**
 * Begins a release in `work`: a thread carries over what the one before publishes, and Astro bundles
 * the pages, unless an earlier build did.
 *
 * @param before folder of the release being served; null where there is none
 */
export function beginRelease(
  work: string,
  { outDir, baseUrl, before }: { outDir: string; baseUrl: string; before: string | null },
): BegunRelease {
  const code = digestCode()
  const madeFrom = before === null ? null : readMadeFrom(before, code)
  const bundle = preparePageBundle(join(outDir, 'cache'), baseUrl)
  // Told by who waits for it; content with errors is told first.
  bundle.catch(() => undefined)
  const from = madeFrom === null ? null : before
  const to = join(work, 'public')
  return {
    code,
    before: madeFrom,
    carried: carryOver({ from, to, compression: COMPRESSION }),
    bundle,
  }
}

/** Null where it is damaged, of other code, or of another version of Waypost. */
function readMadeFrom(releaseDir: string, code: string): MadeFrom | null {
  try {
    const read = (file: string) => readFileSync(join(releaseDir, file), 'utf8')
    const { files } = v.parse(ReleaseFileSchema, parseJson(read('data/release.json')))
    const text = read(MADE_FROM)
    if (files[MADE_FROM]?.digest !== digestOf(text)) return null
    const madeFrom = v.parse(MadeFromSchema, parseJson(text))
    return madeFrom.code === code ? madeFrom : null
  } catch {
    return null
  }
}
