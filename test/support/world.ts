import { createServer } from 'node:http'
import { toNodeHandler } from 'h3'
import type { Parts, WriteLetter } from '../../functions/features/feature.ts'
import type { Mail, Mailer } from '../../functions/feeds/mail.ts'
import { createProblems } from '../../functions/http/answers.ts'
import { createResolver, type Resolver } from '../../functions/net/resolver.ts'
import { type Config, parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import type { Release } from '../../functions/release/release.ts'
import { createRateLimits } from '../../functions/server/rate-limits.ts'
import { createApp, openPaths } from '../../functions/service/app.ts'
import { createLedgerFeatures } from '../../functions/service/features.ts'
import { addLetters, openLedger } from '../../functions/service/service.ts'
import { createSharedCounters } from '../../functions/store/store.ts'
import type { LiveListing, OptedOutListing } from '../../src/domain/listing/listing-states.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'
import { closeServer, listen } from './listen.ts'
import { SHARED_HOSTS } from './shared-hosts.ts'
import { NO_DAYS } from './small-release.ts'

/** A server with every ledger route over a real store, on a real socket; time, mail and DNS are ports. */
export interface World {
  /** Scheme, host and port: also `BASE_URL`. */
  url: string
  parts: Parts
  clock: MovableClock
  mails: Mail[]
  /** What the release holds now; a test that changes them publishes another release. */
  listings: Map<string, LiveListing>
  optedOut: Map<string, OptedOutListing>
  logLines: string[]
  close(): Promise<void>
}

export interface MovableClock {
  now(): number
  move(milliseconds: number): void
}

export interface WorldOptions {
  env: Record<string, string | undefined>
  listings?: readonly LiveListing[]
  mailer?: Mailer
  resolver?: Resolver
  /** Use what the environment asks for instead of keeping mails in `mails`. */
  realMailer?: boolean
}

export const ALL_LIMITS_OFF = JSON.stringify({
  go: 'off',
  login: 'off',
  session: 'off',
  claim: 'off',
  check: 'off',
  payout: 'off',
  dispute: 'off',
})

/** Here a slow store is waited for: how busy the machine is must decide nothing. */
const STORE_PATIENCE_MS = 60_000

export async function openWorld(options: WorldOptions): Promise<World> {
  const { env, listings = [] } = options
  const server = createServer((req, res) => void handle(req, res))
  const port = await listen(server)
  const url = env.BASE_URL ?? `http://127.0.0.1:${port}`
  const config: Config = parseConfig({ ...env, BASE_URL: url })
  const clock = createMovableClock()
  const mails: Mail[] = []
  const logLines: string[] = []
  const log = createLog((line) => logLines.push(line), Date.now)
  const mailer = options.mailer ?? { send: async (mail) => void mails.push(mail), close: () => {} }
  const letters = new Map<string, WriteLetter>()
  const ledger = await openLedger({
    config,
    log,
    clock,
    siteName: () => 'Waypost',
    letters,
    clickPatienceMs: STORE_PATIENCE_MS,
    ...(options.realMailer !== true && { mailer }),
  })
  const byId = new Map(listings.map((listing) => [listing.id, listing]))
  const optedOut: World['optedOut'] = new Map()
  const parts: Parts = {
    config,
    clock,
    log,
    ledger,
    problem: createProblems(url),
    resolver: options.resolver ?? createResolver(config.DNS_SERVERS),
    limits: createRateLimits(config, createSharedCounters(ledger.store, clock, STORE_PATIENCE_MS)),
    publishedAt: clock.now,
    // The ledger's routes look at nothing of a release but its listings, switches and who shares hosts.
    release: () =>
      ({
        listings: byId,
        optedOut,
        sharedHosts: SHARED_HOSTS,
        gone: new Map(),
        site: SITE_TEXTS,
        searchChoices: {
          ...{ kinds: {}, rails: {}, categories: [], sources: [] },
          ages: { newest: NO_DAYS, median: NO_DAYS },
        },
      }) as Partial<Release> as Release,
  }
  const features = createLedgerFeatures(parts)
  addLetters(letters, features)
  const handle = toNodeHandler(createApp(parts, openPaths(parts, features)))
  return {
    url: `http://127.0.0.1:${port}`,
    parts,
    clock,
    mails,
    listings: byId,
    optedOut,
    logLines,
    close: async () => {
      await closeServer(server)
      await ledger.close()
    },
  }
}

function createMovableClock(): MovableClock {
  let offset = 0
  return {
    now: () => Date.now() + offset,
    move: (milliseconds) => {
      offset += milliseconds
    },
  }
}
