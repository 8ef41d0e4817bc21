import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readChains } from '../../functions/commands/evidence/measure.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { createService, type Service } from '../../functions/service/service.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'
import { buildData } from '../support/data-build.ts'
import { findFreePort } from '../support/free-port.ts'
import { IS_LONG } from '../support/long.ts'
import { runHere } from '../support/run-here.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** The whole product over a release of its own: built, served, and built again from its ledger. */
export interface World {
  url: string
  /** The server of this moment: another one after `whileDown`. */
  service(): Service
  log: string[]
  /** What `npm run measure` prints. */
  measure(args?: readonly string[]): Promise<string>
  /** Ends the server, lets something be done to its state, and starts it again. */
  whileDown<T>(act: () => Promise<T>): Promise<T>
  /** Builds again, and lets the server pick it up. */
  rebuild(): Promise<void>
  close(): Promise<void>
}

export interface SellerListing {
  slug: string
  url: string
  /** None is published where it is left out. */
  payout?: string
  /** Payouts of others, which its page names as its own. */
  copied?: readonly string[]
  rails: string
  /** What one call costs at most, US dollars. */
  maxUsd?: number
  /** Its operations, in YAML. */
  http?: string
}

/** What the content holds: x402 listings, and any other file by its place. */
export interface WorldContent {
  listings: readonly SellerListing[]
  files?: Readonly<Record<string, string>>
}

const FIXTURE = new URL('../fixtures/content/', import.meta.url)

export async function startWorld(
  { listings, files = {} }: WorldContent,
  rpcUrls: Record<string, string>,
): Promise<World> {
  const content = createContentFolder()
  for (const table of readdirSync(new URL('tables', FIXTURE)))
    content.write(`tables/${table}`, readFileSync(new URL(`tables/${table}`, FIXTURE)))
  for (const listing of listings)
    content.write(`listings/x402/${listing.slug}.md`, toListing(listing))
  for (const [file, text] of Object.entries(files)) content.write(file, text)
  const place = tempFolder('payments')
  const port = await findFreePort()
  const env = {
    CONTENT_DIR: content.dir,
    OUT_DIR: join(place, 'dist'),
    STATE_DIR: join(place, 'state'),
    BASE_URL: `http://127.0.0.1:${port}`,
    PORT: String(port),
    UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
    RATE_LIMITS: '{"call":"off"}',
    RPC_URLS: JSON.stringify(rpcUrls),
    DATABASE_URL: '',
    SMTP_URL: '',
  }
  const log: string[] = []
  const start = () => startService(env, log)
  await build(env)
  let service = await start()
  return {
    url: env.BASE_URL,
    service: () => service,
    log,
    measure: (args = []) => measure(args, env),
    async whileDown(act) {
      await end(service)
      try {
        return await act()
      } finally {
        service = await start()
      }
    },
    async rebuild() {
      await build(env)
      await service.refresh()
    },
    async close() {
      await end(service)
    },
  }
}

type Environment = Record<string, string>

async function startService(env: Environment, log: string[]): Promise<Service> {
  const service = await createService({
    config: parseConfig(env),
    log: createLog((line) => log.push(line), Date.now),
  })
  service.server.listen(Number(env.PORT), '127.0.0.1')
  await once(service.server, 'listening')
  return service
}

async function end(service: Service): Promise<void> {
  service.server.closeAllConnections()
  await service.close()
}

/** With pages, as an operator would, in `npm run test:long`: they are a third of all that this takes. */
async function build(env: Environment): Promise<void> {
  if (!IS_LONG) return buildData(env)
  await promisify(execFile)(process.execPath, ['functions/commands/build.ts'], {
    env: { ...process.env, ...env },
  })
}

async function measure(args: readonly string[], env: Environment): Promise<string> {
  const { status, stdout, stderr } = await runHere(() => readChains(args), env)
  if (status !== 0) throw new Error(`measure ended with ${status}:\n${stdout}${stderr}`)
  return stdout
}

function toListing(listing: SellerListing) {
  const { slug, url, payout, copied = [], rails, maxUsd = 0.01, http } = listing
  const payouts = [...(payout === undefined ? [] : [payout]), ...copied]
  return listingText({
    name: slug,
    url,
    pricing: `{ model: per_call, min_usd: 0.001, max_usd: ${maxUsd}, rails: ${rails}, networks: ["eip155:84532"] }`,
    http: http ?? null,
    payout:
      payouts.length === 0
        ? null
        : JSON.stringify(payouts.map((address) => `eip155:84532:${address}`)),
  })
}
