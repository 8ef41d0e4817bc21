import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../support/free-port.ts'
import { load, percentile } from './http-load.ts'
import { type Contender, spawnOn, toContender } from './relay/contenders.ts'
import { convertContent } from './scale/convert-content.ts'
import { findSharedDir } from './shared-data.ts'

/**
 * `npm run bench:static [-- <OUT_DIR>]`: pages, JSON and badges of 2,000 listings in each coding, from
 * our own server on the release of some 15,000, beside nginx with the rules of that release where it is
 * installed. Each has core 0 to itself and the load core 1; requests a second are of the contender's
 * own CPU time, as what else runs takes no part in it. `node:http` alone answers the same listing's
 * bytes again and again from one buffer: no server on Node is faster than that.
 */
const TARGET = 0.8
const ROUNDS = 10
const CONNECTIONS = 32
/** Each is asked once a round, so that nothing is hot but what a day of many readers makes hot. */
const LISTINGS = 2000
const CODINGS = [undefined, 'gzip', 'br']
const FILES: Record<string, (id: string) => string> = {
  pages: (id) => `listing/${id}/index.html`,
  JSON: (id) => `api/v1/listings/${id}/index.json`,
  badges: (id) => `badge/${id}.svg`,
}
const KINDS = {
  pages: (id: string) => `/listing/${id}`,
  JSON: (id: string) => `/api/v1/listings/${id}`,
  badges: (id: string) => `/badge/${id}.svg`,
}

const temp = mkdtempSync(join(tmpdir(), 'waypost-static-'))
const outDir = chooseRelease()
const { base_url: baseUrl } = JSON.parse(readFileSync(join(outDir, 'current'), 'utf8'))
const ids = chooseListings()

const own = await startServer()
const nginx = spawnSync('nginx', ['-v']).status === 0 ? await startWithRules(own.port) : null
if (nginx === null) console.log('nginx is not installed: there is nothing to compare with')
for (const [kind, toPath] of Object.entries(KINDS))
  for (const coding of CODINGS) await compare(kind, ids.map(toPath), coding)
own.stop()
nginx?.stop()
rmSync(temp, { recursive: true, force: true })

/** The folder that was named, else the release of all there is, else what was built last. */
function chooseRelease(): string {
  const [named] = process.argv.slice(2)
  if (named !== undefined) return resolve(named)
  const scaleDir = join(findSharedDir() ?? '', 'data/scale')
  if (!existsSync(scaleDir)) {
    console.log('../shared/data/scale is absent (set SHARED_DIR): the release in dist is asked')
    return resolve('dist')
  }
  const [contentDir, outDir] = [join(temp, 'content'), join(temp, 'dist')]
  const { written } = convertContent(scaleDir, { contentDir, limit: null })
  console.log(`building the release of ${written} listings`)
  const build = fileURLToPath(new URL('../../functions/commands/build.ts', import.meta.url))
  const env = { CONTENT_DIR: contentDir, OUT_DIR: outDir, STATE_DIR: join(temp, 'no-state') }
  const { status, stderr } = spawnSync(process.execPath, [build], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (status !== 0) throw new Error(`the release could not be built: ${stderr}`)
  return outDir
}

/** Spread over all of them. */
function chooseListings(): string[] {
  const all = readdirSync(join(outDir, 'current/public/api/v1/listings')).sort()
  const count = Math.min(LISTINGS, all.length)
  console.log(`${count} of ${all.length} listings, each asked once a round`)
  return Array.from({ length: count }, (_, n) => all[Math.floor((n * all.length) / count)] ?? '')
}

interface Rate {
  /** Requests a second of CPU time, over all rounds. */
  ofOneCore: number
  latencies: number[]
  bytes: number
}

async function compare(kind: string, paths: string[], coding: string | undefined): Promise<void> {
  const mine = await measure(own, paths, coding)
  const theirs = nginx === null ? null : await measure(nginx, paths, coding)
  const alone = await startBare(kind, coding)
  const ceiling = await measure(alone, paths, coding)
  alone.stop()
  const share = theirs === null ? null : mine.ofOneCore / theirs.ofOneCore
  const isMissed = share !== null && share < TARGET
  if (isMissed) process.exitCode = 1
  const line = [
    `${share === null ? '' : isMissed ? 'MISS ' : 'ok   '}${kind.padEnd(6)} ${(coding ?? 'identity').padEnd(8)}`,
    `${Math.round(mine.ofOneCore).toLocaleString('en')}/s of one core`,
    `${(mine.bytes / mine.latencies.length / 1024).toFixed(1)} KiB each`,
    `p50 ${percentile(mine.latencies, 0.5).toFixed(2)} ms, p99 ${percentile(mine.latencies, 0.99).toFixed(2)} ms of ${mine.latencies.length} with ${CONNECTIONS} connections`,
    ...(share === null || theirs === null
      ? []
      : [`nginx ${Math.round(theirs.ofOneCore)}/s: ${share.toFixed(2)} × (target ${TARGET})`]),
    `node:http alone ${Math.round(ceiling.ofOneCore)}/s: we are ${(mine.ofOneCore / ceiling.ofOneCore).toFixed(2)} of it`,
  ]
  console.log(line.join(' · '))
}

async function measure(
  contender: Contender,
  paths: readonly string[],
  coding: string | undefined,
): Promise<Rate> {
  const rate: Rate = { ofOneCore: 0, latencies: [], bytes: 0 }
  const before = contender.cpu()
  for (let round = 0; round < ROUNDS; round += 1) {
    const asked = { connections: CONNECTIONS, requests: paths.length, coding }
    const { answers, failures, bytes, latencies } = await load(contender.port, paths, asked)
    if (failures > 0) {
      process.exitCode = 1
      console.log(`${failures} of ${answers} answers of ${contender.name} were not 200`)
    }
    rate.latencies = rate.latencies.concat(latencies)
    rate.bytes += bytes
  }
  rate.ofOneCore = rate.latencies.length / (contender.cpu() - before)
  rate.latencies.sort((a, b) => a - b)
  return rate
}

/** Sends one listing's file, the middle one's, whatever is asked for. */
async function startBare(kind: string, coding: string | undefined): Promise<Contender> {
  const port = await findFreePort()
  const file = FILES[kind]?.(ids[Math.floor(ids.length / 2)] ?? '') ?? ''
  const ending = coding === undefined ? '' : coding === 'gzip' ? '.gz' : '.br'
  const script = fileURLToPath(new URL('./bare-http.ts', import.meta.url))
  const path = join(outDir, 'public', `${file}${ending}`)
  const given = [script, existsSync(path) ? path : join(outDir, 'public', file), String(port)]
  const child = spawnOn(0, process.execPath, ['--max-semi-space-size=8', ...given, coding ?? ''])
  await answers(port)
  return toContender('node:http', port, child)
}

async function startServer(): Promise<Contender> {
  const port = await findFreePort()
  const script = fileURLToPath(new URL('../../functions/commands/serve.ts', import.meta.url))
  const child = spawnOn(0, process.execPath, ['--max-semi-space-size=8', script], {
    OUT_DIR: outDir,
    STATE_DIR: join(temp, 'state'),
    BASE_URL: baseUrl,
    PORT: String(port),
  })
  await answers(port)
  const own = toContender('waypost', port, child)
  await untilIdle(own)
  return own
}

/** A server that has just started looks at the length of each of its files: no request's work. */
async function untilIdle({ cpu }: Contender): Promise<void> {
  for (let before = -1; before !== cpu(); ) {
    before = cpu()
    await new Promise((later) => setTimeout(later, 1000))
  }
}

/** nginx as a release sets it up, with one worker. */
async function startWithRules(functions: number): Promise<Contender> {
  const port = await findFreePort()
  const rules = readFileSync(join(outDir, 'current/deploy/nginx.conf'), 'utf8')
    .replace('listen 80;', `listen 127.0.0.1:${port}; keepalive_requests 1000000000;`)
    .replace('/srv/directory', outDir)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    join(temp, 'nginx.conf'),
    `${process.getuid?.() === 0 ? 'user root;' : ''} worker_processes 1; daemon off; pid ${temp}/pid; error_log ${temp}/error.log;
     events { worker_connections 4096; }
     http { access_log off; sendfile on; ${paths.map((name) => `${name}_temp_path ${temp}/${name};`).join(' ')}
       upstream directory_functions { server 127.0.0.1:${functions}; keepalive 32; }
       ${rules} }`,
  )
  const master = spawnOn(0, 'nginx', ['-c', join(temp, 'nginx.conf'), '-p', temp])
  await answers(port)
  const worker = spawnSync('pgrep', ['-P', String(master.pid)], { encoding: 'utf8' }).stdout.trim()
  return toContender('nginx', port, master, Number(worker))
}

async function answers(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/favicon.svg`).catch(() => null)
    if (answer?.ok === true) return
    await new Promise((later) => setTimeout(later, 100))
  }
  throw new Error(`nothing answers on port ${port}`)
}
