import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../support/free-port.ts'
import { type Contender, spawnOn, toContender } from './relay/contenders.ts'
import { load } from './relay/raw-load.ts'

/**
 * `npm run bench:static [-- <OUT_DIR>]`: files of a release from our own server, beside nginx with the
 * rules of that release, in one run. Each has core 0 to itself and the load core 1; requests a second
 * are of the contender's own CPU time, as what else runs takes no part in it.
 */
const TARGET = 0.7
const ROUNDS = 6
const CONNECTIONS = 32
const PATHS = ['/docs', '/api/v1/stats', '/openapi.json', '/favicon.svg']
const outDir = resolve(process.argv[2] ?? 'dist')
const release = join(outDir, 'current')
const { base_url: baseUrl } = JSON.parse(readFileSync(join(release, 'data/release.json'), 'utf8'))
const temp = mkdtempSync(join(tmpdir(), 'waypost-static-'))

const own = await startServer()
const nginx = spawnSync('nginx', ['-v']).status === 0 ? await startWithRules(own.port) : null
if (nginx === null) console.log('nginx is not installed: there is nothing to compare with')
else for (const path of PATHS) await compare(path, own, nginx)
own.stop()
nginx?.stop()
rmSync(temp, { recursive: true, force: true })

async function compare(path: string, ours: Contender, theirs: Contender): Promise<void> {
  const rates: Record<string, number> = { [ours.name]: 0, [theirs.name]: 0 }
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const contender of [ours, theirs]) {
      const before = contender.cpu()
      const { answers, failures } = await load(contender.port, path, {
        connections: CONNECTIONS,
        seconds: 1,
      })
      if (failures > 0) process.exitCode = 1
      // The first round warms up.
      if (round > 0)
        rates[contender.name] = Math.max(
          rates[contender.name] ?? 0,
          answers / (contender.cpu() - before),
        )
    }
  const [mine = 0, nginxs = 1] = [rates[ours.name], rates[theirs.name]]
  const share = mine / nginxs
  if (share < TARGET) process.exitCode = 1
  console.log(
    `${share < TARGET ? 'MISS' : 'ok  '} ${path.padEnd(16)} ${Math.round(mine)}/s of one core, nginx ${Math.round(nginxs)}/s: ${share.toFixed(2)} × (target ${TARGET})`,
  )
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
  return toContender('waypost', port, child)
}

/** nginx as a release sets it up, with one worker. */
async function startWithRules(functions: number): Promise<Contender> {
  const port = await findFreePort()
  const rules = readFileSync(join(release, 'deploy/nginx.conf'), 'utf8')
    .replace('listen 80;', `listen 127.0.0.1:${port}; keepalive_requests 1000000000;`)
    .replace('/srv/waypost/current', release)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    join(temp, 'nginx.conf'),
    `${process.getuid?.() === 0 ? 'user root;' : ''} worker_processes 1; daemon off; pid ${temp}/pid; error_log ${temp}/error.log;
     events { worker_connections 4096; }
     http { access_log off; sendfile on; ${paths.map((name) => `${name}_temp_path ${temp}/${name};`).join(' ')}
       upstream waypost_functions { server 127.0.0.1:${functions}; keepalive 32; }
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
