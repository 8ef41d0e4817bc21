import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'waypost-outbound-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What a program of its own says of a try, and what stands in the log afterwards. */
async function tryOut(attempt: string) {
  const log = join(folder, `${Math.random()}`)
  const preload = new URL('./support/loopback-only.mjs', import.meta.url)
  preload.searchParams.set('log', log)
  const head = "import net from 'node:net'; import dns from 'node:dns/promises'\n"
  const tail =
    '.then(() => console.log("done"), (error) => console.log(error.cause?.message ?? error.message))'
  const { stdout } = await run(process.execPath, [
    `--import=${preload}`,
    '--input-type=module',
    '--eval',
    `${head}${attempt}${tail}`,
  ])
  return { stated: stdout.trim(), log: readLog(log) }
}

function readLog(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

test.each([
  ['fetch("http://harbour.example/")', 'resolved harbour.example (lookup)'],
  ['fetch("http://192.0.2.1/")', 'dialled 192.0.2.1:80'],
  ['fetch("http://[2001:db8::1]:81/")', 'dialled 2001:db8::1:81'],
  ['new dns.Resolver().resolveTxt("harbour.example")', 'resolved harbour.example (resolveTxt)'],
  ['dns.lookup("harbour.example")', 'resolved harbour.example (lookup)'],
  [
    'new Promise((fine, failed) => net.connect(80, "192.0.2.1").once("connect", fine).once("error", failed))',
    'dialled 192.0.2.1:80',
  ],
])(
  'a program that tries to leave this machine is refused and written down: %s',
  async (attempt, what) => {
    const { stated, log } = await tryOut(attempt)
    expect(stated).toBe(`tests stay on this machine: ${what}`)
    expect(log).toContain(what)
  },
)

test('what stays on this machine is let through', async () => {
  const attempt = `new Promise((fine, failed) => {
    const server = net.createServer((socket) => socket.end()).listen(0, 'localhost', () =>
      net.connect(server.address().port, 'localhost').once('error', failed).resume().once('end', () => server.close(fine)))
  }).then(() => dns.lookup('localhost'))`
  expect(await tryOut(attempt)).toEqual({ stated: 'done', log: null })
})
