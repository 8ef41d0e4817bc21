import { HTTPResponse } from 'h3'
import { CLICK_SOURCES } from '../../src/domain/wire/vocabulary.ts'
import type { ClickTally, ClickWriter, Handler, Parts } from '../features/feature.ts'
import type { Log } from '../ports/log.ts'
import { toUnknownText } from '../release/release.ts'
import { splitTarget } from '../server/node-answers.ts'
import { clientOf } from '../server/rate-limits.ts'
import { type Click, type Store, toHour } from '../store/store.ts'

/** `GET /go/<listing_id>`: counts a click, then redirects (302) to the listing's URL, never elsewhere. */
export function createGo(parts: Parts): Handler {
  const { problem, config } = parts
  return async function go(event) {
    const { req } = event
    const id = event.context.params?.listing_id ?? ''
    const listing = parts.release().listings.get(id)
    if (listing === undefined) {
      return problem('listing-not-found', { detail: toUnknownText(parts.release(), id) })
    }
    const { allowed: isCounted } = await parts.limits.take('go', clientOf(req, config))
    // A client over its limit is still redirected, but its clicks are not counted.
    if (isCounted) await parts.ledger.clicks.write(toClick(req, listing.id, parts.clock.now()))
    // An HTTPResponse is cheaper than a Response, and this route is the busiest of all.
    return new HTTPResponse(null, {
      status: 302,
      statusText: 'Found',
      headers: {
        'Content-Length': '0',
        Location: listing.url,
        'Cache-Control': 'no-store',
        'Referrer-Policy': 'no-referrer',
      },
    })
  }
}

/** A position above this cannot come from a result list, so it becomes null. */
const MAX_POSITION = 10_000

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const POSITION = /^[1-9]\d{0,4}$/

/** Names of crawlers and link previews. Plain HTTP clients may be agents, so their clicks are counted. */
const BOT =
  /bot\b|bot[/;)]|crawl|spider|slurp|facebookexternalhit|mediapartners|bingpreview|yandeximages|headlesschrome|lighthouse|pingdom|uptimerobot|archiver|whatsapp|skypeuripreview|google-(?:read-aloud|inspectiontool|safety)|feedfetcher|bytespider/i

/**
 * The facts of a click; header values are inspected here and not kept. A bad `sid`, `pos` or `src`
 * becomes null, so that no text of the request reaches the store; the click still redirects.
 */
function toClick(req: Request, listing_id: string, now: number): Click {
  const { sid = '', pos = '', src } = readFields(splitTarget(req.url).query)
  return {
    hour: toHour(now),
    listing_id,
    sid: UUID.test(sid) ? sid : null,
    pos: POSITION.test(pos) && Number(pos) <= MAX_POSITION ? Number(pos) : null,
    src: CLICK_SOURCES.find((source) => source === src) ?? null,
    bot: isBot(req),
  }
}

interface Fields {
  sid?: string
  pos?: string
  src?: string
}

/** If a name is repeated, its first value is used. No valid value contains an escape, so nothing is decoded. */
function readFields(query: string): Fields {
  const fields: Fields = {}
  if (query === '') return fields
  for (const pair of query.split('&', 16)) {
    if (pair.startsWith('sid=')) fields.sid ??= pair.slice(4)
    else if (pair.startsWith('pos=')) fields.pos ??= pair.slice(4)
    else if (pair.startsWith('src=')) fields.src ??= pair.slice(4)
  }
  return fields
}

function isBot({ method, headers }: Request): boolean {
  // Older browsers send `Purpose`.
  const purpose = headers.get('sec-purpose') ?? headers.get('purpose') ?? ''
  if (method === 'HEAD' || /prefetch|prerender|preview/i.test(purpose)) return true
  return BOT.test(headers.get('user-agent') ?? '')
}

/** How long clicks that arrive close together are gathered; a lone click is written at once. */
const GATHER_MS = 3
const PATIENCE_MS = 1_000
const MAX_GROUP = 5_000
const MAX_WAITING = 50_000
const LOG_EVERY_MS = 10_000

interface Group {
  clicks: Click[]
  settled: Promise<void>
  settle: () => void
}

/**
 * Group commit for clicks: clicks that arrive together share one fsync, and each redirect waits for
 * it, so the click of a redirected visitor is in the store. If the store fails or hangs, the
 * visitor is redirected after `PATIENCE_MS` anyway, and lost clicks are counted.
 *
 * @param patienceMs how long a redirect waits for its click (milliseconds)
 */
export function createClickWriter(
  store: Pick<Store, 'appendClicks'>,
  log: Log,
  patienceMs: number = PATIENCE_MS,
): ClickWriter & { close(): Promise<void> } {
  const groups: Group[] = []
  const tally: ClickTally = { written: 0, lost: 0, waiting: 0 }
  let lastGroupSize = 0
  let isRunning = false
  let isStuck = false
  let running: Promise<void> = Promise.resolve()
  const reportLoss = createLossReport(log, tally)

  return {
    write(click: Click): Promise<void> {
      if (tally.waiting >= MAX_WAITING) {
        tally.lost += 1
        reportLoss('too many clicks wait for the store')
        return Promise.resolve()
      }
      const group = openGroup(groups)
      group.clicks.push(click)
      tally.waiting += 1
      if (!isRunning) running = run()
      return isStuck ? Promise.resolve() : group.settled
    },
    tally: (): ClickTally => ({ ...tally }),
    close: async () => {
      while (groups.length > 0 || isRunning) await running
    },
  }

  async function run(): Promise<void> {
    isRunning = true
    await gather(lastGroupSize)
    for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
      lastGroupSize = group.clicks.length
      await append(group)
      if (groups.length > 0 && lastGroupSize > 1) await gather(lastGroupSize)
    }
    isRunning = false
  }

  async function append(group: Group): Promise<void> {
    const size = group.clicks.length
    const patience = setTimeout(() => {
      isStuck = true
      for (const late of [group, ...groups]) late.settle()
    }, patienceMs)
    try {
      await store.appendClicks(group.clicks)
      tally.written += size
    } catch (error) {
      tally.lost += size
      reportLoss(error instanceof Error ? error.message : String(error))
    }
    clearTimeout(patience)
    isStuck = false
    tally.waiting -= size
    group.settle()
  }
}

function openGroup(groups: Group[]): Group {
  const last = groups.at(-1)
  if (last !== undefined && last.clicks.length < MAX_GROUP) return last
  const { promise, resolve } = Promise.withResolvers<void>()
  const group = { clicks: [], settled: promise, settle: resolve }
  groups.push(group)
  return group
}

function gather(lastGroupSize: number): Promise<unknown> {
  return new Promise((resolve) =>
    lastGroupSize > 1 ? setTimeout(resolve, GATHER_MS) : setImmediate(resolve),
  )
}

function createLossReport(log: Log, tally: ClickTally): (reason: string) => void {
  let reportedAt = Number.NEGATIVE_INFINITY
  return (reason) => {
    if (performance.now() - reportedAt < LOG_EVERY_MS) return
    reportedAt = performance.now()
    log.error('go.clicks_lost', { lost: tally.lost, reason })
  }
}
