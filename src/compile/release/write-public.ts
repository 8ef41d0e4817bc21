import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { type CompiledListing, type CompiledSite, handOver } from '../../compiled.ts'
import type { CarriedFile } from '../files/carry-over.ts'
import { compressFiles } from '../files/compress-files.ts'
import { createPublicFiles, type PublicFiles } from '../files/public-files.ts'
import { digestOf } from '../files/release-writer.ts'
import type { Timed } from '../files/stages.ts'
import { createOpenApi } from '../openapi/create-openapi.ts'
import { indexPages } from '../pages/index-pages.ts'
import { toSearchPages } from '../pages/page-search.ts'
import { listPages } from '../pages/render-pages.ts'
import type { BegunRelease, MadeFrom } from './begin-release.ts'
import { type Dump, writeDump } from './create-dump.ts'
import { drawCards } from './draw-cards.ts'
import { type PageCode, placePageCode } from './page-code.ts'
import { writeStatic } from './write-static.ts'

/** Hosts of files answer `/search` with `search.html`; where functions stand, they do. */
const PLACES: Readonly<Record<string, string>> = { 'search/file/index.html': 'search.html' }

/** Folder of the search in the browser. */
const SEARCH = 'pagefind'

export interface PublicInput {
  begun: BegunRelease
  site: CompiledSite
  listings: CompiledListing[]
  dump: Dump
  timed: Timed
}

export interface WrittenPublic {
  /** Sorted by path. */
  files: CarriedFile[]
  madeFrom: MadeFrom
  pageCode: PageCode
}

/**
 * Writes `public/`: pages, their search in the browser, JSON and badges, compressed copies. What the
 * release before has is left as it was carried over, by what it is made from or by its bytes.
 */
export async function writePublic(work: string, input: PublicInput): Promise<WrittenPublic> {
  const { begun, site, listings, dump, timed } = input
  const { code, before } = begun
  const root = join(work, 'public')
  const carried = await timed('carry over', () => begun.carried)
  const files = createPublicFiles(root, carried)
  // In a thread with a clock of its own, so while this one still listens.
  const cards = await timed('cards', () => drawCards(site))
  const texts = timed('page search texts', () => toSearchPages(listings))
  const digest = digestOf(JSON.stringify(texts))
  const unchanged = findUnchanged(digest, before, carried)
  // Into a folder of its own: what was there before may be linked in `public/`.
  const outputPath = join(work, 'page-search')
  const indexed =
    unchanged === null
      ? timed('page search', () => indexPages(outputPath, texts))
      : Promise.resolve()
  // Thrown below; what fails before it must not leave it unheard.
  indexed.catch(() => undefined)
  timed('json and badges', () => {
    writeStatic(files, site, listings)
    writeDump(files, dump)
  })
  const bundle = await timed('page bundle', () => begun.bundle)
  files.writeFolder(join(bundle.dir, 'client'))
  cpSync(join(bundle.dir, 'server'), join(work, 'server.next'), { recursive: true })
  const pageCode = placePageCode(join(work, 'server.next'), work)
  handOver({ site, listings, byId: toById(listings) }, createOpenApi(site.base_url))
  const pages = await timed('pages', () => writePages(files, bundle, before))
  for (const [file, png] of cards) files.write(file, png)
  await indexed
  for (const file of unchanged ?? []) files.keep(file)
  const count = unchanged?.length ?? files.writeFolder(outputPath, SEARCH)
  files.finish()
  const compressed = await timed('compress', () => compressFiles(root, files.fresh()))
  return {
    files: [...files.kept(), ...compressed].sort((a, b) => (a.entry.file < b.entry.file ? -1 : 1)),
    madeFrom: { code, pages, search: { digest, files: count } },
    pageCode,
  }
}

/** Writes pages that are not as they were, and returns the keys of those that have one. */
async function writePages(
  files: PublicFiles,
  bundle: Parameters<typeof listPages>[0],
  before: MadeFrom | null,
): Promise<Record<string, string>> {
  const keys: [string, string][] = []
  for (const { file: rendered, key, render } of await listPages(bundle)) {
    const file = PLACES[rendered] ?? rendered
    if (key !== null) keys.push([file, key])
    const isSame = key !== null && before?.pages[file] === key
    if (!(isSame && files.keep(file))) files.write(file, await render())
  }
  return Object.fromEntries(keys.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Files of the page search that stay as they were carried over: all there were, of the same texts. */
function findUnchanged(
  digest: string,
  before: MadeFrom | null,
  carried: readonly CarriedFile[],
): string[] | null {
  if (before?.search.digest !== digest) return null
  const files = carried
    .map(({ entry }) => entry.file)
    .filter((file) => file.startsWith(`${SEARCH}/`))
  return files.length === before.search.files ? files : null
}

function toById(listings: readonly CompiledListing[]): Map<string, CompiledListing> {
  return new Map(listings.map((listing) => [listing.view.id, listing]))
}
