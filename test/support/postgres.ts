import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { takeFileLock } from '../../functions/store/sqlite.ts'
import { findFreePort } from './free-port.ts'
import { findPostgresPrograms, POSTGRES_ACCOUNT } from './postgres-files.ts'
import { sharedTmp } from './shared-tmp.ts'

/** A real PostgreSQL, started in under a second. */
export interface Postgres {
  /** A fresh, empty database; the answer is its URL. */
  createDatabase(): Promise<string>
  port: number
  stop(): Promise<void>
}

/** A server that says nothing for this long will not start (milliseconds). */
const START_DEADLINE = 60_000

type SharedPostgres = Pick<Postgres, 'createDatabase'>
let shared: Promise<SharedPostgres> | undefined

/** The one that all files of a run share; `stopSharedPostgres` ends it. */
export function sharePostgres(): Promise<SharedPostgres> {
  const { SHARED_POSTGRES } = process.env
  shared ??= SHARED_POSTGRES === undefined ? startPostgres() : joinPostgres(SHARED_POSTGRES)
  return shared
}

/** The first worker starts it, and the others wait for that. */
async function joinPostgres(folder: string): Promise<SharedPostgres> {
  const known = join(folder, 'port')
  for (;;) {
    using lock = takeFileLock(join(folder, 'starting.lock'))
    if (lock === null) {
      await pause(100)
      continue
    }
    if (!existsSync(known)) writeFileSync(known, String((await startPostgres(folder)).port))
    const port = Number(readFileSync(known, 'utf8'))
    return { createDatabase: () => createDatabase(port) }
  }
}

/** To be called before the workers start. @returns what ends the server that one of them has started */
export function stopSharedPostgres(): () => Promise<void> {
  const folder = mkdtempSync(join(sharedTmp(), 'waypost-pgs-'))
  chmodSync(folder, 0o711)
  process.env.SHARED_POSTGRES = folder
  return async () => {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name, 'postmaster.pid')
      if (!existsSync(file)) continue
      const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
      process.kill(pid, 'SIGQUIT')
      // It takes the file away at its end.
      for (let wait = 0; wait < 100 && existsSync(file); wait += 1) await pause(20)
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 20 })
  }
}

/** @param parent folder for its data */
export async function startPostgres(parent = sharedTmp()): Promise<Postgres> {
  const programs = findPostgresPrograms()
  const dir = mkdtempSync(join(parent, 'waypost-pg-'))
  const { uid, gid } = POSTGRES_ACCOUNT
  if (uid !== undefined && gid !== undefined) chownSync(dir, uid, gid)
  initialise(join(programs, 'initdb'), dir)
  const port = await findFreePort()
  const server = spawn(
    join(programs, 'postgres'),
    [
      '-D',
      dir,
      '-p',
      String(port),
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
      '-c',
      'fsync=off',
      '-c',
      'max_connections=300',
    ],
    { ...POSTGRES_ACCOUNT, cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  await untilReady(server)
  return {
    port,
    createDatabase: () => createDatabase(port),
    async stop() {
      if (server.exitCode === null && server.signalCode === null) {
        const exited = once(server, 'exit')
        // Fast shutdown: open connections are cut, what was committed is kept.
        server.kill('SIGINT')
        await exited
      }
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function createDatabase(port: number): Promise<string> {
  const urlOf = (database: string) =>
    `postgres://waypost:for-tests-only@127.0.0.1:${port}/${database}`
  const name = `t_${randomBytes(6).toString('hex')}`
  await run(urlOf('postgres'), `CREATE DATABASE ${name}`)
  return urlOf(name)
}

function initialise(initdb: string, dir: string): void {
  const flags = ['-D', dir, '-U', 'waypost', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  const made = spawnSync(initdb, flags, { ...POSTGRES_ACCOUNT, cwd: dir, encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error?.message}`)
}

async function untilReady(server: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let stated = ''
  const timer = setTimeout(
    () => reject(new Error(`PostgreSQL did not start: ${stated}`)),
    START_DEADLINE,
  )
  server.stderr?.on('data', (chunk) => {
    stated += chunk
    if (stated.includes('ready to accept connections')) resolve()
  })
  server.on('error', reject)
  server.on('exit', () => reject(new Error(`PostgreSQL stopped: ${stated}`)))
  await promise.finally(() => clearTimeout(timer))
}

async function run(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
