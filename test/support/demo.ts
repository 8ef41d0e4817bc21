import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FIXTURE_ENV } from './fixture-env.ts'
import { findFreePort } from './free-port.ts'
import { tempFolder } from './temp-folder.ts'

export interface Demo {
  url: string
  /** Where mails are kept instead of sent. */
  outbox: string
  close(): Promise<void>
}

/**
 * Starts what `npm run demo` starts, from a state of its own; its release is built once for all runs.
 *
 * @param isOwnAddress whether its pages name the address they are served at, which each run has anew: all of
 *   them are built for it. Without it they name that of the fixture.
 */
export async function startDemo({ isOwnAddress = false } = {}): Promise<Demo> {
  const stateDir = tempFolder('demo')
  const port = await findFreePort()
  const url = `http://localhost:${port}`
  const env = {
    ...process.env,
    PORT: String(port),
    BASE_URL: isOwnAddress ? url : FIXTURE_ENV.BASE_URL,
    OUT_DIR: isOwnAddress ? '.cache/lighthouse-demo' : '.cache/test-demo',
    ...{ STATE_DIR: stateDir, DNS_SERVERS: FIXTURE_ENV.DNS_SERVERS },
    RATE_LIMITS: '{"search":"off","check":"off"}',
  }
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  const child = spawn(process.execPath, ['test/demo/demo.ts'], { env, stdio: [...stdio] })
  let printed = ''
  child.stderr.on('data', (text) => {
    printed += text
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text) => {
      printed += text
      if (printed.includes('Waypost is ready')) resolve()
    })
    child.once('exit', (code) => reject(new Error(`the demonstration ended (${code}): ${printed}`)))
  })
  return {
    url,
    outbox: join(stateDir, 'outbox'),
    async close() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Path and token of the newest sign-in link mailed to an address; the link's host may be another. */
export async function readSignInPath(outbox: string, address: string): Promise<string> {
  for (let tries = 0; tries < 300; tries++) {
    const mails = listFiles(outbox).map((name) => readFileSync(join(outbox, name), 'utf8'))
    const text = mails.find((mail) => mail.includes(address)) ?? ''
    // Quoted-printable breaks long lines with "=" and writes "=" as "=3D".
    const plain = text.replace(/=\r?\n/g, '').replaceAll('=3D', '=')
    const link = /\/sellers\/sign-in\?token=[\w-]+/.exec(plain)
    if (link !== null) return link[0]
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`no sign-in mail in ${outbox}`)
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}
