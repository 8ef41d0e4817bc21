import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createOpenApi } from '../../build/openapi/create-openapi.ts'
import {
  type CompiledListing,
  type CompiledSite,
  freezeCompiled,
  provideCompiled,
} from '../../compiled.ts'
import { isSwitchedOff } from '../../domain/derived/switches.ts'
import { drawCard, toDrawingKey } from '../../site/cards/draw-card.ts'
import { toLinkCards } from '../../site/cards/link-cards.ts'
import type { ReleaseFiles } from '../files/release-files.ts'
import { digestOf, listFiles } from '../files/release-writer.ts'
import type { Timed } from '../files/stages.ts'
import type { PageBundle } from '../pages/page-bundle.ts'
import { beginPageIndexes, type ShownPage } from '../pages/page-indexes.ts'
import type { LazyListing } from '../pages/write-compiled.ts'
import { groupRows } from './listing-parts.ts'
import { writeStatic } from './write-static.ts'

/** Cards drawn by earlier builds: nothing in them changes from day to day. */
const KEPT = fileURLToPath(new URL('../../../.cache/cards', import.meta.url))

/** Static hosts answer `/search` with `search.html`; where there are functions, they do. */
const PLACES: Readonly<Record<string, string>> = { 'search-file/index.html': 'search.html' }

export interface PublicInput {
  bundle: Promise<PageBundle>
  site: CompiledSite
  listings: LazyListing[]
  searched: readonly ShownPage[]
  timed: Timed
}

/**
 * Writes `public/`: pages, their search in the browser, JSON and badges. Output of an earlier build
 * for the same input is reused.
 */
export async function writePublic(files: ReleaseFiles, input: PublicInput): Promise<void> {
  const { site, listings, searched, timed } = input
  // Begins once the pages are bundled.
  const listed = timed('page list', () =>
    input.bundle.then((bundle) => {
      provideCompiled(
        { site, listings, byId: toById(listings) },
        createOpenApi(site.base_url, site.texts),
      )
      return listPages(bundle)
    }),
  )
  listed.catch(() => undefined)
  const cards = await timed('cards', () => drawCards(site))
  const indexes = timed('page search texts', () => beginPageIndexes(searched, files))
  void timed('page search', () => indexes.indexed).catch(() => undefined)
  timed('json', () => writeStatic(files, site, listings))
  const bundle = await timed('page bundle', () => input.bundle)
  files.writeFolder(join(bundle.dir, 'client'))
  const pages = await listed
  const shown = pages.filter(({ file }) => !isSwitchedOff(`/${file}`, site.texts.switches))
  await timed('pages', () => writePages(files, shown))
  for (const [file, png] of cards) files.write(file, png)
  await indexes.write()
}

/**
 * Adds the code of the pages rendered on demand, in a folder named by its content: a server imports
 * it once, however many releases it swaps in.
 *
 * @returns the folder
 */
export function writePageCode(files: ReleaseFiles, { dir }: PageBundle): string {
  const code = listFiles(join(dir, 'server')).map(
    (name) => [name, readFileSync(join(dir, 'server', name))] as const,
  )
  const folder = digestOf(JSON.stringify(code.map(([name, bytes]) => [name, digestOf(bytes)])))
  for (const [name, bytes] of code) files.write(`${folder}/${name}`, bytes)
  return `server/${folder}`
}

/** Pages that are remembered together, on average: a changed one has the others rendered too. */
const A_GROUP = 8

/** Writes pages that changed. */
async function writePages(files: ReleaseFiles, pages: readonly Page[]): Promise<void> {
  for (const group of groupRows(pages, A_GROUP, ({ file }) => file)) {
    const keyed = group.filter(({ key }) => key !== null)
    const key = keyed.map(({ file, key }) => `${file} ${key}`).join('\n')
    const isKnown = keyed.length > 0 && files.reuse(key)
    const rendered: [string, Uint8Array][] = []
    for (const page of group) {
      const file = PLACES[page.file] ?? page.file
      if (page.key === null) files.write(file, await page.render())
      else if (!isKnown) rendered.push([file, await page.render()])
    }
    if (rendered.length > 0) files.writeMade(key, rendered)
  }
}

function toById(listings: readonly CompiledListing[]): Map<string, CompiledListing> {
  return new Map(listings.map((listing) => [listing.id, listing]))
}

/** A page of this release, not rendered yet. */
export interface Page {
  /** Path below the public folder. */
  file: string
  /** Digest of all its inputs; null where the page reads the whole catalogue. */
  key: string | null
  /** @throws the page's own errors */
  render(): Promise<Uint8Array>
}

/** Pages show the address of the directory, never that of the request they are rendered for. */
const ANY_ORIGIN = 'http://localhost'

/** Exports of `prerender-entry.ts`. */
type Bundled = typeof import('../pages/prerender-entry.ts')

/**
 * Every page of the provided catalogue (`provideCompiled`), with its renderer.
 *
 * @throws Error when the bundle is not one
 */
export async function listPages({ dir, digest }: PageBundle): Promise<Page[]> {
  const bundled = await loadBundle(dir)
  const paths = await bundled.readPaths()
  return paths.map(({ pathname, route, cacheKey }) => ({
    file: toFile(pathname, route.type),
    key: cacheKey === undefined ? null : digestOf(`${digest} ${cacheKey}`),
    async render() {
      const path = route.type === 'page' ? pathname.replace(/\/?$/, '/') : pathname
      const request = new Request(new URL(path, ANY_ORIGIN))
      freezeCompiled(cacheKey !== undefined)
      try {
        const response = await bundled.render(request, route)
        const expected = route.route === '/404' ? 404 : 200
        if (response.status !== expected) throw new Error(`it answered ${response.status}`)
        return new Uint8Array(await response.arrayBuffer())
      } catch (error) {
        throw new Error(`${pathname} could not be rendered`, { cause: error })
      } finally {
        freezeCompiled(false)
      }
    },
  }))
}

async function loadBundle(dir: string): Promise<Bundled> {
  const folder = join(dir, 'prerender')
  const entry = readdirSync(folder).find((file) => file.startsWith('prerender-entry'))
  if (entry === undefined) throw new Error(`${folder} has no entry`)
  const bundled: Bundled = await import(pathToFileURL(join(folder, entry)).href)
  return bundled
}

/** @example toFile('/listing/x402.foo', 'page') → 'listing/x402.foo/index.html' */
function toFile(pathname: string, type: string): string {
  const path = pathname.replace(/^\/|\/$/g, '')
  if (type === 'endpoint') return path
  if (path === '404') return '404.html'
  return path === '' ? 'index.html' : `${path}/index.html`
}

/** Draws the cards of links, by path in `public/`. */
async function drawCards({ categories, texts }: CompiledSite): Promise<Map<string, Uint8Array>> {
  const drawn = new Map<string, Uint8Array>()
  for (const { path, svg } of toLinkCards(categories.categories, texts, texts.switches)) {
    const file = join(KEPT, `${toDrawingKey(svg)}.png`)
    drawn.set(path.slice(1), readKept(file) ?? keep(file, await drawCard(svg)))
  }
  return drawn
}

function readKept(file: string): Uint8Array | null {
  try {
    return readFileSync(file)
  } catch {
    return null
  }
}

/** Where nothing can be stored, the next build draws again. */
function keep(file: string, png: Uint8Array): Uint8Array {
  try {
    mkdirSync(KEPT, { recursive: true })
    const unfinished = `${file}.${process.pid}`
    writeFileSync(unfinished, png)
    renameSync(unfinished, file)
  } catch {}
  return png
}
