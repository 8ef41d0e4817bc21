import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { createLog } from '../../functions/ports/log.ts'
import { openStore } from '../../functions/store/open-store.ts'
import type { Store } from '../../functions/store/store.ts'
import { type Postgres, sharePostgres } from './postgres.ts'

export interface StorePlace {
  dialect: Store['dialect']
  config: { STATE_DIR: string; DATABASE_URL: string | undefined }
}

export interface StoreWorld {
  /** A place nobody has used, for tests that open it themselves, more than once or elsewhere. */
  newPlace(): Promise<StorePlace>
  /** An open, migrated store; closed and removed when the suite ends. */
  newStore(): Promise<Store>
}

export const silentLog = createLog(
  () => {},
  () => 0,
)

/** Runs the same suite over both implementations of the store. */
export function describeStores(name: string, suite: (world: StoreWorld) => void): void {
  for (const dialect of ['sqlite', 'postgres'] as const) {
    describe(`${name} (${dialect})`, () => suite(createWorld(dialect)))
  }
}

function createWorld(dialect: Store['dialect']): StoreWorld {
  const cleanups: (() => Promise<unknown>)[] = []
  let postgres: Postgres | undefined
  beforeAll(async () => {
    if (dialect === 'postgres') postgres = await sharePostgres()
  })
  afterAll(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup()
  })
  const newPlace = async () => {
    const STATE_DIR = await mkdtemp(join(tmpdir(), 'waypost-state-'))
    cleanups.push(() => rm(STATE_DIR, { recursive: true, force: true }))
    const DATABASE_URL = await postgres?.createDatabase()
    return { dialect, config: { STATE_DIR, DATABASE_URL } }
  }
  const newStore = async () => {
    const store = await openStore((await newPlace()).config, silentLog)
    cleanups.push(() => store.close())
    return store
  }
  return { newPlace, newStore }
}
