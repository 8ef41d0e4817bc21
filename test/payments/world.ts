import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService, type Service } from '../../functions/app/service.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'
import { findFreePort } from '../support/free-port.ts'

/** The whole product over a release of its own: built, served, and built again from its ledger. */
export interface World {
  url: string
  service: Service
  log: string[]
  /** Builds again, as an operator would, and lets the server pick it up. */
  rebuild(): Promise<void>
  close(): Promise<void>
}

export interface SellerListing {
  slug: string
  url: string
  payout: string
  rails: string
}

const FIXTURE = new URL('../fixtures/content/', import.meta.url)

export async function startWorld(
  listings: readonly SellerListing[],
  rpcUrls: Record<string, string>,
): Promise<World> {
  const content = createContentFolder()
  cpSync(new URL('tables', FIXTURE), join(content.dir, 'tables'), { recursive: true })
  for (const listing of listings)
    content.write(`listings/x402/${listing.slug}.md`, toListing(listing))
  const place = mkdtempSync(join(tmpdir(), 'waypost-payments-'))
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
  const build = () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['functions/commands/build.ts'],
      {
        env: { ...process.env, ...env },
        encoding: 'utf8',
      },
    )
    if (status !== 0) throw new Error(`The build failed:\n${stdout}${stderr}`)
  }
  build()
  const log: string[] = []
  const service = await createService({
    config: parseConfig(env),
    log: createLog((line) => log.push(line), Date.now),
  })
  service.server.listen(port, '127.0.0.1')
  await once(service.server, 'listening')
  return {
    url: env.BASE_URL,
    service,
    log,
    async rebuild() {
      build()
      await service.refresh()
    },
    async close() {
      service.server.closeAllConnections()
      await service.close()
      content.remove()
      rmSync(place, { recursive: true, force: true })
    },
  }
}

function toListing({ slug, url, payout, rails }: SellerListing): string {
  return listingText({
    name: slug,
    url,
    pricing: `{ model: per_call, min_usd: 0.001, max_usd: 0.01, rails: ${rails}, networks: ["eip155:84532"] }`,
    payout: `["eip155:84532:${payout}"]`,
  })
}
