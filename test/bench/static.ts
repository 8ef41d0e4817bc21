import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../support/free-port.ts'
import { load } from './http-load.ts'
import { type Contender, spawnOn, toContender } from './relay/contenders.ts'

/**
 * `npm run bench:static -- [<OUT_DIR> [<another version of the project> <its OUT_DIR>]]`: pages, JSON
 * and badges of 2,000 listings in each coding, beside nginx with the rules of that release, sirv over
 * the same folder, `node:http` with one page alone and, where it is named, another version of the
 * project over its own release of the same content.
 * One after the other has core 0 to itself, and the load core 1. Each is started anew for every row:
 * the first round is of files that no request asked for before, later ones repeat it. Requests a second are
 * of the contender's own CPU time, as what else runs takes no part in it.
 */
const ROUNDS_AGAIN = 5
const CONNECTIONS = 32
const LISTINGS = 2000
/** Of Debian's `libnginx-mod-http-brotli-static`. */
const BROTLI = '/usr/lib/nginx/modules/ngx_http_brotli_static_module.so'
const CODINGS = [undefined, 'gzip', 'br']
const KINDS = {
  pages: (id: string) => `/listing/${id}`,
  JSON: (id: string) => `/api/v1/listings/${id}`,
  badges: (id: string) => `/badge/${id}.svg`,
}

const [outDir = 'dist', otherProject, otherDir] = process.argv.slice(2).map((path) => resolve(path))
const temp = mkdtempSync(join(tmpdir(), 'waypost-static-'))
const ids = chooseListings()
const starts: Record<string, () => Promise<Contender>> = {
  waypost: () => startServer(fileURLToPath(new URL('../..', import.meta.url)), resolve(outDir)),
  ...(spawnSync('nginx', ['-v']).status === 0 && { nginx: startNginx }),
  sirv: () => startContender(join(outDir, 'current/public')),
  'node:http': () => startContender(join(outDir, `current/public/listing/${ids[0]}/index.html.br`)),
  ...(otherProject !== undefined &&
    otherDir !== undefined && { other: () => startServer(otherProject, otherDir) }),
}
for (const [kind, toPath] of Object.entries(KINDS))
  for (const coding of CODINGS) await compare(kind, ids.map(toPath), coding)
rmSync(temp, { recursive: true, force: true })

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
  for (const [name, start] of Object.entries(starts))
    rates.push([name, await measure(await start(), paths, coding)])
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

async function startServer(project: string, releases: string): Promise<Contender> {
  const port = await findFreePort()
  const script = join(project, 'functions/commands/serve.ts')
  const child = spawnOn(0, process.execPath, ['--max-semi-space-size=8', script], {
    OUT_DIR: releases,
    STATE_DIR: join(temp, `state-${port}`),
    BASE_URL: readBaseUrl(releases),
    PORT: String(port),
  })
  await answers(port)
  return toContender('waypost', port, child)
}

/** `current` is a link to the release, or in former versions its own file of facts. */
function readBaseUrl(releases: string): string {
  const current = join(releases, 'current')
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')).base_url
  try {
    return read(join(current, 'release.json'))
  } catch {
    return read(current)
  }
}

async function startContender(place: string): Promise<Contender> {
  const port = await findFreePort()
  const script = fileURLToPath(new URL('static-contender.ts', import.meta.url))
  const child = spawnOn(0, process.execPath, [script, place, String(port)])
  await answers(port)
  return toContender('contender', port, child)
}

/** A server that has just started may still be at work of its own: no request's. */
async function untilIdle({ cpu }: Contender): Promise<void> {
  for (let before = -1; before !== cpu(); ) {
    before = cpu()
    await new Promise((later) => setTimeout(later, 500))
  }
}

/** nginx as a release sets it up, with one worker. */
async function startNginx(): Promise<Contender> {
  const port = await findFreePort()
  const rules = readFileSync(join(outDir, 'current/deploy/nginx.conf'), 'utf8')
    .replace('listen 80;', `listen 127.0.0.1:${port}; keepalive_requests 1000000000;`)
    .replace('/srv/directory', resolve(outDir))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const hasBrotli = existsSync(BROTLI)
  writeFileSync(
    join(temp, 'nginx.conf'),
    `${hasBrotli ? `load_module ${BROTLI};` : ''} ${process.getuid?.() === 0 ? 'user root;' : ''}
     worker_processes 1; daemon off; pid ${temp}/pid; error_log ${temp}/error.log;
     events { worker_connections 4096; }
     http { access_log off; sendfile on; ${hasBrotli ? 'brotli_static on;' : ''} ${paths.map((name) => `${name}_temp_path ${temp}/${name};`).join(' ')}
       upstream directory_functions { server 127.0.0.1:1; }
       ${rules} }`,
  )
  const master = spawnOn(0, 'nginx', ['-c', join(temp, 'nginx.conf'), '-p', temp])
  await answers(port)
  const worker = spawnSync('pgrep', ['-P', String(master.pid)], { encoding: 'utf8' }).stdout.trim()
  return toContender('nginx', port, master, Number(worker))
}

async function answers(port: number): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/favicon.svg`).catch(() => null)
    if (answer?.ok === true) return
    await new Promise((later) => setTimeout(later, 100))
  }
  throw new Error(`nothing answers on port ${port}`)
}
