import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { kindCardPath } from '../../src/domain/wire/links.ts'
import { DATA_HEADERS, SHORT_CACHE } from '../../src/domain/wire/site-headers.ts'
import { renderCardSvg } from '../../src/site/cards/card-svg.ts'
import { createDrawer } from '../../src/site/cards/create-drawer.ts'
import { toDrawingKey } from '../../src/site/cards/drawing-key.ts'
import { toListingCard } from '../../src/site/cards/link-card.ts'
import { createFailureReport } from '../http/failure.ts'
import { nodeClientOf } from '../limits/client-key.ts'
import { createFairQueue } from '../limits/fair-queue.ts'
import type { Parts } from '../parts/parts.ts'
import { readListing } from '../release/release.ts'

/** About 60 KB each; beyond the limit the oldest are deleted. */
const MOST_KEPT = 4096
const TO_FORGET = 512

export type ListingCards = ReturnType<typeof createListingCards>
type CardParts = Pick<Parts, 'config' | 'release' | 'limits' | 'log' | 'problem'>

/** Waiting drawings, per client and in total. Beyond that, clients get the card of the kind. */
const MOST_WAITING = { perClient: 8, inAll: 64 }
/** An idle thread is ended after this time to free its memory (milliseconds). */
const REST_AFTER = 60_000

/** `/og/<id>.png`: the card of a listing, drawn when somebody first links to it, then kept. */
export function createListingCards(parts: CardParts) {
  const { release } = parts
  const idOf = (path: string) => {
    const id = /^\/og\/([^/]+)\.png$/.exec(path)?.[1] ?? ''
    return release().listings.has(id) ? id : null
  }
  const { draw, close } = createDrawing(parts)
  async function answer(req: IncomingMessage, res: ServerResponse, id: string) {
    const view = await readListing(release(), id)
    const { name, switches } = release().site
    const svg = renderCardSvg(toListingCard(view, name, switches))
    const key = toDrawingKey(svg)
    const headers = {
      ...DATA_HEADERS,
      'content-type': 'image/png',
      'cache-control': SHORT_CACHE,
      etag: `"${key}"`,
    }
    if (req.headers['if-none-match']?.includes(`"${key}"`) === true)
      return void res.writeHead(304, headers).end()
    const png = await draw(req, key, svg)
    if (png === null)
      return void res
        .writeHead(302, { location: kindCardPath(view.kind), 'cache-control': 'no-store' })
        .end()
    res.writeHead(200, { ...headers, 'content-length': png.length })
    res.end(req.method === 'HEAD' ? undefined : png)
  }
  const report = createFailureReport(parts)
  return {
    has: (path: string) => idOf(path) !== null,
    /** Answers GET and HEAD of a listing's card; false leaves the request to the next layer. */
    serve(req: IncomingMessage, res: ServerResponse, path: string): boolean {
      const id = req.method === 'GET' || req.method === 'HEAD' ? idOf(path) : null
      if (id === null) return false
      answer(req, res, id).catch((error: unknown) => {
        report('card.failed', error, { listing: id })
        if (!res.headersSent) res.writeHead(503, { 'cache-control': 'no-store' })
        res.end()
      })
      return true
    },
    close,
  }
}

/** From disk, else drawn: one at a time, in turns between clients, each picture once. */
function createDrawing({ config, limits, log }: CardParts) {
  const kept = createKeptCards(join(config.STATE_DIR, 'cards'))
  const drawer = createDrawer()
  const queue = createFairQueue(MOST_WAITING)
  const underWay = new Map<string, Promise<Uint8Array | null>>()
  let resting: ReturnType<typeof setTimeout> | undefined
  const drawInTurn = async (client: string, key: string, svg: string) => {
    // Cards are drawn even when the store is down: requests are then counted in memory.
    if (!(await limits.take('search', client)).allowed) return null
    let png: Uint8Array | null = null
    await queue.run(client, async () => {
      clearTimeout(resting)
      png = await drawer.draw(svg).catch((error: unknown) => {
        log.error('card.not_drawn', { reason: String(error) })
        return null
      })
      resting = setTimeout(drawer.rest, REST_AFTER)
      resting.unref()
    })
    if (png !== null)
      await kept.keep(key, png).catch((error: unknown) => {
        log.error('card.not_kept', { reason: String(error) })
      })
    return png
  }
  return {
    async draw(req: IncomingMessage, key: string, svg: string): Promise<Uint8Array | null> {
      const known = await kept.read(key)
      if (known !== null) return known
      const drawing = underWay.get(key) ?? drawInTurn(nodeClientOf(req, config), key, svg)
      underWay.set(key, drawing)
      return drawing.finally(() => underWay.delete(key))
    },
    close() {
      clearTimeout(resting)
      drawer.rest()
    },
  }
}

/** Drawn cards on disk, by key. A full or read-only disk costs drawings, never answers. */
export function createKeptCards(folder: string, mostKept = MOST_KEPT) {
  const pathOf = (key: string) => join(folder, `${key}.png`)
  let count: number | undefined
  return {
    read: (key: string): Promise<Uint8Array | null> => readFile(pathOf(key)).catch(() => null),
    async keep(key: string, png: Uint8Array): Promise<void> {
      await mkdir(folder, { recursive: true })
      // A picture's name never has half a picture, however a process ends.
      const unfinished = `${pathOf(key)}.${process.pid}`
      await writeFile(unfinished, png)
      await rename(unfinished, pathOf(key))
      count = count === undefined ? (await readdir(folder)).length : count + 1
      if (count <= mostKept) return
      await forgetOldest(folder, Math.min(TO_FORGET, Math.ceil(mostKept / 8)))
      count = undefined
    },
  }
}

async function forgetOldest(folder: string, many: number): Promise<void> {
  const files = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const path = join(folder, name)
      return { path, at: (await stat(path).catch(() => null))?.mtimeMs ?? 0 }
    }),
  )
  const oldest = files.sort((a, b) => a.at - b.at).slice(0, many)
  await Promise.all(oldest.map(({ path }) => rm(path, { force: true })))
}
