import { afterAll, beforeAll, describe, test } from 'vitest'
import { createLog } from '../../functions/ports/log.ts'
import { openStore } from '../../functions/store/open-store.ts'
import type { Store } from '../../functions/store/store.ts'
import { IS_LONG } from './long.ts'
import { sharePostgres } from './postgres.ts'
import { tempFolder } from './temp-folder.ts'

export interface StorePlace {
  dialect: Store['dialect']
  config: { STATE_DIR: string; DATABASE_URL: string | undefined }
}

export interface StoreWorld {
  /** A row that PostgreSQL has in `npm run test:long` alone, beside rows of what is raced. */
  plainTest: ReturnType<typeof test.runIf>
  /** A place nobody has used, for tests that open it themselves, more than once or elsewhere. */
  newPlace(): Promise<StorePlace>
  /** An open, migrated store; closed and removed when the suite ends. */
  newStore(): Promise<Store>
}

export const silentLog = createLog(
  () => {},
  () => 0,
)

type Suite = (world: StoreWorld) => void

/** Runs the same suite over both implementations of the store: its contract, and what must hold between servers. */
export function describeBothStores(name: string, suite: Suite): void {
  for (const dialect of ['sqlite', 'postgres'] as const)
    describe(`${name} (${dialect})`, () => suite(createWorld(dialect)))
}

/** Over SQLite, and over PostgreSQL in `npm run test:long`: the queries are built by one library. */
export const describeStores = IS_LONG
  ? describeBothStores
  : (name: string, suite: Suite) => describe(`${name} (sqlite)`, () => suite(createWorld('sqlite')))

function createWorld(dialect: Store['dialect']): StoreWorld {
  const cleanups: (() => Promise<unknown>)[] = []
  let postgres: Awaited<ReturnType<typeof sharePostgres>> | undefined
  beforeAll(async () => {
    if (dialect === 'postgres') postgres = await sharePostgres()
  })
  afterAll(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup()
  })
  const newPlace = async () => {
    const STATE_DIR = tempFolder('state')
    const DATABASE_URL = await postgres?.createDatabase()
    return { dialect, config: { STATE_DIR, DATABASE_URL } }
  }
  const newStore = async () => {
    const store = await openStore((await newPlace()).config, silentLog)
    cleanups.push(() => store.close())
    return store
  }
  return { newPlace, newStore, plainTest: test.runIf(IS_LONG || dialect === 'sqlite') }
}
