import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, vi } from 'vitest'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { findFreePort } from '../support/free-port.ts'
import { tempFolder } from '../support/temp-folder.ts'

export const hasNginx = spawnSync('nginx', ['-v']).status === 0

/** Of Debian's `libnginx-mod-http-brotli-static`. */
const BROTLI = '/usr/lib/nginx/modules/ngx_http_brotli_static_module.so'
export const hasBrotli = hasNginx && existsSync(BROTLI)

/** What a person writes around the rules of a release, as its first lines say. */
const AROUND = `worker_processes 1; events {} http {
upstream directory_functions { server 127.0.0.1:4321; keepalive 32; }
include /srv/directory/current/deploy/nginx.conf; }`

/**
 * nginx with the rules of the fixture release, on a free port of loopback.
 *
 * @param around the configuration that includes the rules; the functions and the rules are where
 *   this machine has them
 */
export async function startNginx(
  functionsPort: number,
  around = AROUND,
  outDir = resolve(FIXTURE_ENV.OUT_DIR),
): Promise<{ url: string; stop(): Promise<void> }> {
  const dir = tempFolder('nginx')
  chmodSync(dir, 0o755)
  const port = await findFreePort()
  const rules = readFileSync(join(outDir, 'current/deploy/nginx.conf'), 'utf8')
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
    .replace('/srv/directory', outDir)
  writeFileSync(join(dir, 'rules.conf'), rules)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${dir}/${name};`)
    .join(' ')
  const here = around
    .replace(/server [\w.]+:4321;/, `server 127.0.0.1:${functionsPort};`)
    .replace('/srv/directory/current/deploy/nginx.conf', join(dir, 'rules.conf'))
    .replace(
      'http {',
      `http { access_log off; ${hasBrotli ? 'brotli_static on;' : ''} ${temporary}`,
    )
  writeFileSync(
    join(dir, 'nginx.conf'),
    `${hasBrotli ? `load_module ${BROTLI};` : ''} ${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; pid ${dir}/pid; error_log ${dir}/error.log;
${here}`,
  )
  const child = spawn('nginx', ['-c', join(dir, 'nginx.conf'), '-p', dir], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    const ended = once(child, 'exit')
    if (child.exitCode === null && child.kill('SIGTERM')) await ended
  }
  try {
    await vi.waitFor(async () => expect((await fetch(`${url}/healthz`)).status).toBe(200), 60_000)
  } catch {
    const stated = readFileSync(join(dir, 'error.log'), 'utf8')
    await stop()
    throw new Error(`nginx does not answer: ${stated}`)
  }
  return { url, stop }
}
