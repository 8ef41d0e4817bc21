import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { load } from './http-load.ts'
import { type Contender, startNginx, startScript, startService } from './relay/contenders.ts'

/**
 * `npm run bench:static -- [<OUT_DIR>]`: pages, JSON and badges of 2,000 listings in each coding, beside
 * nginx with the rules of that release, sirv over the same folder, and `node:http` with one page alone.
 * One after the other has core 0 to itself, and the load core 1. Each is started anew for every row:
 * the first round is of files that no request asked for before, later ones repeat it. Requests a second are
 * of the contender's own CPU time, as what else runs takes no part in it.
 */
const ROUNDS_AGAIN = 5
const CONNECTIONS = 32
const LISTINGS = 2000
/** Of Debian's `libnginx-mod-http-brotli-static`. */
const BROTLI = '/usr/lib/nginx/modules/ngx_http_brotli_static_module.so'
const STATIC = '../static-contender.ts'
const CODINGS = [undefined, 'gzip', 'br']
const KINDS = {
  pages: (id: string) => `/listing/${id}`,
  JSON: (id: string) => `/api/v1/listings/${id}`,
  badges: (id: string) => `/badge/${id}.svg`,
}

const outDir = resolve(process.argv[2] ?? 'dist')
const ids = chooseListings()
const starts: Record<string, () => Promise<Contender | null>> = {
  waypost: () => startService(outDir),
  nginx: startReleaseNginx,
  sirv: () => startScript('sirv', STATIC, join(outDir, 'current/public'), 0),
  'node:http': () =>
    startScript(
      'node:http',
      STATIC,
      join(outDir, `current/public/listing/${ids[0]}/index.html.br`),
      0,
    ),
}
for (const [kind, toPath] of Object.entries(KINDS))
  for (const coding of CODINGS) await compare(kind, ids.map(toPath), coding)

/** Spread over all of them. */
function chooseListings(): string[] {
  const all = readdirSync(join(outDir, 'current/public/api/v1/listings')).sort()
  const count = Math.min(LISTINGS, all.length)
  console.log(`${count} of ${all.length} listings; requests a second of one core, first and again`)
  return Array.from({ length: count }, (_, n) => all[Math.floor((n * all.length) / count)] ?? '')
}

interface Rates {
  first: number
  again: number
}

async function compare(kind: string, paths: string[], coding: string | undefined): Promise<void> {
  const rates: [string, Rates][] = []
  for (const [name, start] of Object.entries(starts)) {
    const contender = await start()
    if (contender !== null) rates.push([name, await measure(contender, paths, coding)])
  }
  const own = rates[0]?.[1] ?? { first: 0, again: 0 }
  const columns = rates.map(([name, { first, again }]) =>
    name === 'waypost'
      ? `${name} ${Math.round(first)} / ${Math.round(again)}`
      : `${name} ${Math.round(first)} / ${Math.round(again)} (ours ${(own.first / first).toFixed(2)} × / ${(own.again / again).toFixed(2)} ×)`,
  )
  console.log([kind.padEnd(6), (coding ?? 'identity').padEnd(8), ...columns].join(' · '))
}

async function measure(
  contender: Contender,
  paths: readonly string[],
  coding: string | undefined,
): Promise<Rates> {
  await untilIdle(contender)
  // So that its code is compiled and its connections stand: with an address that is none of the files'.
  await round(contender, ['/favicon.svg'], coding)
  const first = await round(contender, paths, coding)
  const again = await round(contender, paths, coding, ROUNDS_AGAIN)
  contender.stop()
  return { first, again }
}

/** @returns requests a second of CPU time */
async function round(
  contender: Contender,
  paths: readonly string[],
  coding: string | undefined,
  times = 1,
): Promise<number> {
  const before = contender.cpu()
  const requests = LISTINGS * times
  const options = { connections: CONNECTIONS, requests, coding }
  const { answers, failures } = await load(contender.port, paths, options)
  if (failures > 0) {
    process.exitCode = 1
    console.log(`${failures} of ${answers} answers of ${contender.name} were not 200`)
  }
  return answers / (contender.cpu() - before)
}

/** A server that has just started may still be at work of its own: no request's. */
async function untilIdle({ cpu }: Contender): Promise<void> {
  for (let before = -1; before !== cpu(); ) {
    before = cpu()
    await new Promise((later) => setTimeout(later, 500))
  }
}

/** nginx as a release sets it up. */
function startReleaseNginx(): Promise<Contender | null> {
  const hasBrotli = existsSync(BROTLI)
  const rules = readFileSync(join(outDir, 'current/deploy/nginx.conf'), 'utf8')
  return startNginx('nginx', {
    head: `${hasBrotli ? `load_module ${BROTLI};` : ''} ${process.getuid?.() === 0 ? 'user root;' : ''}`,
    toRules: (port) =>
      `sendfile on; ${hasBrotli ? 'brotli_static on;' : ''}
       upstream directory_functions { server 127.0.0.1:1; }
       ${rules
         .replace('listen 80;', `listen 127.0.0.1:${port}; keepalive_requests 1000000000;`)
         .replace('/srv/directory', outDir)}`,
  })
}
