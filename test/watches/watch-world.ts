import { createHmac } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Parts } from '../../functions/parts/parts.ts'
import type { Release } from '../../functions/release/release.ts'
import { startNotifier } from '../../functions/watches/notify-watchers.ts'
import { recordChanges } from '../../src/compile/release/record-changes.ts'
import { kitPath } from '../../src/domain/wire/links.ts'
import { buildSearchIndex } from '../../src/search/index/build-search-index.ts'
import { loadSearchIndex } from '../../src/search/index/load-search-index.ts'
import { sampleDocument } from '../search/search-samples.ts'
import { liveListing } from '../support/live-listing.ts'
import { putSmallRelease } from '../support/small-release.ts'
import type { StorePlace } from '../support/stores.ts'
import { ALL_LIMITS_OFF, openWorld, type World, type WorldOptions } from '../support/world.ts'

/** What of a listing a release says that watchers are told of. */
export type Facts = Record<string, string>

/** A world whose releases are written by hand, with one server that tells watchers of them. */
export async function openWatchWorld(
  { config }: StorePlace,
  {
    listings,
    ...options
  }: Partial<Omit<WorldOptions, 'listings'>> & { listings: readonly string[] },
) {
  const outDir = mkdtempSync(join(tmpdir(), 'waypost-watches-'))
  const world = await openWorld({
    ...options,
    listings: listings.map((id) => liveListing(id, `https://${id}.example/`)),
    env: {
      ...config,
      OUT_DIR: outDir,
      RATE_LIMITS: JSON.stringify({ ...JSON.parse(ALL_LIMITS_OFF), watch: 'off' }),
      UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
      ...options.env,
    },
  })
  const server = createTeller(world, outDir)
  return { world, outDir, ...server }
}

/** One server of a ledger, with releases and a log of its own. */
export function createTeller(world: World, outDir: string) {
  let name = ''
  let payees: Record<string, string> = {}
  let search: Release['search'] | undefined
  const read = async (path: string) => {
    const [id = ''] = Object.keys(payees).filter((each) => path === kitPath(each))
    return Buffer.from(JSON.stringify({ payees: payees[id]?.split(' ') ?? [] }))
  }
  const release = () => {
    const rest: Partial<Release> = {
      ...{ name, files: { read } as Release['files'] },
      ...(search !== undefined && { search }),
    }
    return { ...world.parts.release(), ...rest } as Release
  }
  const parts: Parts = {
    ...world.parts,
    release,
    config: { ...world.parts.config, OUT_DIR: outDir },
  }
  const telling = startNotifier(parts)
  return {
    parts,
    /** Publishes and serves a release, and tells of it. */
    async publish(folder: string, facts: Record<string, Facts>): Promise<void> {
      const rows = Object.entries(facts).map(([id, own]) =>
        JSON.stringify({ id, hash: JSON.stringify(own), fields: {}, facts: own }),
      )
      const index = buildSearchIndex(
        Object.keys(facts).map((id) => sampleDocument({ id, name: id })),
      )
      putSmallRelease(outDir, folder, {
        'data/content-hashes.ndjson': rows.map((row) => `${row}\n`).join(''),
        'data/search.index': index,
      })
      search = loadSearchIndex(index)
      recordChanges(outDir, folder, new Date(world.clock.now()))
      payees = Object.fromEntries(Object.entries(facts).map(([id, own]) => [id, own.payees ?? '']))
      name = folder
      await telling.look()
      await world.parts.ledger.deliveries.deliver()
    },
    close: () => telling.close(),
  }
}

export interface Received {
  id: string
  body: { type: string; timestamp: string; data: Record<string, never> & { challenge?: string } }
  /** The signature is of this secret. */
  isSignedBy(secret: string): boolean
}

/** A receiver of webhooks on loopback that answers as it is told. */
export async function startReceiver() {
  const received: Received[] = []
  const urls: string[] = []
  let answer: (req: IncomingMessage, res: ServerResponse, text: string) => void = answerWell
  const server: Server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const id = String(req.headers['webhook-id'])
      const signed = `${id}.${req.headers['webhook-timestamp']}.${text}`
      const isSignedBy = (secret: string) => {
        const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
        const own = createHmac('sha256', key).update(signed).digest('base64')
        return req.headers['webhook-signature'] === `v1,${own}`
      }
      urls.push(req.url ?? '')
      received.push({ id, body: JSON.parse(text), isSignedBy })
      answer(req, res, text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    /** Paths that were asked, in order. */
    urls,
    news: () => received.filter(({ body }) => body.type === 'watch.news'),
    answers: (how: typeof answer) => {
      answer = how
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Takes everything, and answers a question with what it is to answer. */
export function answerWell(_req: IncomingMessage, res: ServerResponse, text: string): void {
  res.end(JSON.stringify({ challenge: JSON.parse(text).data.challenge }))
}
