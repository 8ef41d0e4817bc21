import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { createOutboxMailer } from '../../functions/feeds/mail.ts'
import { openStore } from '../../functions/store/open-store.ts'
import {
  backupState,
  lockState,
  restoreState,
  SQLITE_FILE,
  StateError,
} from '../../functions/store/sqlite.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { IS_LONG } from '../support/long.ts'
import { silentLog } from '../support/stores.ts'
import { tempFolder } from '../support/temp-folder.ts'

const TORN = Number(process.env.TORN ?? (IS_LONG ? 150 : 30))
const LOCKER = fileURLToPath(new URL('../support/lock-holder.ts', import.meta.url))

describe('the state of one machine', () => {
  let root: string
  beforeAll(async () => {
    root = tempFolder('state')
  })
  const folder = (name: string) => join(root, name)
  const open = (STATE_DIR: string) => openStore({ STATE_DIR, DATABASE_URL: undefined }, silentLog)
  const click = (pos: number) =>
    ({ hour: 490_000, listing_id: 'x402.a', sid: null, pos, src: 'api', bot: false }) as const
  const positions = async (dir: string) => {
    const store = await open(dir)
    const rows = await store.db.selectFrom('click').select('pos').orderBy('pos').execute()
    await store.close()
    return rows.map(({ pos }) => pos)
  }

  test('a second process on the same state is refused, with what to do', async () => {
    const child = spawn(process.execPath, [LOCKER, folder('locked')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    const refusal = await lockState(folder('locked')).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(StateError)
    expect(String(refusal)).toMatch(/in use by another Waypost process.*STATE_DIR.*DATABASE_URL/)
    await expect(restoreState(folder('locked'), join(root, 'none'), 0)).rejects.toThrow('no backup')
    child.kill('SIGKILL')
    await once(child, 'exit')
    const lock = await lockState(folder('locked'))
    await expect(lockState(folder('locked'))).rejects.toBeInstanceOf(StateError)
    lock.release()
    ;(await lockState(folder('locked'))).release()
  })

  test('is read by its owner alone, also where a folder and files were open to all before', async () => {
    const dir = folder('open-to-all')
    const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
    await (await open(dir)).close()
    for (const name of ['', SQLITE_FILE, 'waypost.lock']) {
      if (name === 'waypost.lock') await writeFile(join(dir, name), '')
      await chmod(join(dir, name), name === '' ? 0o755 : 0o644)
    }
    const outbox = join(dir, 'outbox')
    await mkdir(outbox)
    await chmod(outbox, 0o755)
    const lock = await lockState(dir)
    const store = await open(dir)
    await store.appendClicks([click(1)])
    await createOutboxMailer(outbox, 'a@b.example', () => {}).send({
      to: 'c@d.example',
      sender: 'Waypost',
      subject: 'x',
      text: 'x',
    })
    await backupState(dir, join(dir, 'backups', 'one.sqlite'))
    const files = ['', '-wal', '-shm'].map((suffix) => SQLITE_FILE + suffix)
    const mails = (await readdir(outbox)).map((name) => join('outbox', name))
    for (const name of ['', 'outbox', 'backups']) expect(await modeOf(join(dir, name))).toBe('700')
    for (const name of [...files, 'waypost.lock', 'backups/one.sqlite', ...mails])
      expect(await modeOf(join(dir, name)), name).toBe('600')
    await store.close()
    lock.release()
    await chmod(join(dir, 'backups', 'one.sqlite'), 0o644)
    await restoreState(dir, join(dir, 'backups', 'one.sqlite'), 0)
    expect(await modeOf(join(dir, SQLITE_FILE))).toBe('600')
  })

  test('a backup taken while clicks are written is whole, and restoring it brings its state back', async () => {
    const dir = folder('live')
    const store = await open(dir)
    await store.appendClicks([click(1), click(2)])
    let isWriting = true
    const writer = (async () => {
      for (let pos = 3; isWriting; pos += 1) await store.appendClicks([click(pos)])
    })()
    await backupState(dir, folder('backup.sqlite'))
    isWriting = false
    await writer
    await store.appendClicks([click(9999)])
    await expect(backupState(dir, folder('backup.sqlite'))).rejects.toThrow('already exists')
    await store.close()
    const now = Date.UTC(2026, 0, 2)
    const kept = await restoreState(dir, folder('backup.sqlite'), now)
    const restored = await positions(dir)
    expect(restored.slice(0, 2)).toEqual([1, 2])
    expect(restored).not.toContain(9999)
    expect(kept).toContain('before-2026-01-02')
    const old = new DatabaseSync(kept ?? '', { readOnly: true })
    expect(old.prepare('SELECT 1 FROM click WHERE pos = 9999').all()).toHaveLength(1)
    old.close()
  })

  test('a damaged backup, or a file that is none, is refused before anything is touched', async () => {
    const dir = folder('kept')
    const store = await open(dir)
    await store.appendClicks([click(7)])
    await store.close()
    await backupState(dir, folder('good.sqlite'))
    const bytes = await readFile(folder('good.sqlite'))
    bytes.fill(0xff, 4096, 20_000)
    await writeFile(folder('damaged.sqlite'), bytes)
    await expect(restoreState(dir, folder('damaged.sqlite'), 0)).rejects.toThrow()
    await writeFile(folder('text.sqlite'), 'not a database at all, only text '.repeat(200))
    await expect(restoreState(dir, folder('text.sqlite'), 0)).rejects.toThrow()
    const empty = new DatabaseSync(folder('empty.sqlite'))
    empty.exec('CREATE TABLE other (x)')
    empty.close()
    await expect(restoreState(dir, folder('empty.sqlite'), 0)).rejects.toThrow(
      'not a Waypost state',
    )
    expect(await positions(dir)).toEqual([7])
  })

  test('a ledger that is damaged, or was emptied, says how to restore it and stays as it is', async () => {
    const dir = folder('broken')
    const store = await open(dir)
    await store.appendClicks([click(7)])
    await store.close()
    const file = join(dir, SQLITE_FILE)
    await backupState(dir, folder('whole.sqlite'))
    for (const bytes of ['not a database at all, only text '.repeat(200), '']) {
      await writeFile(file, bytes)
      const refusal = await open(dir).catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(OperatorError)
      expect(String(refusal)).toMatch(/waypost\.sqlite .*npm run restore -- <backup>/)
      expect(await readFile(file, 'utf8')).toBe(bytes)
    }
    await restoreState(dir, folder('whole.sqlite'), 0)
    expect(await positions(dir)).toEqual([7])
  })

  test('a torn or flipped log opens again, with every click before the damage', async () => {
    const dir = folder('torn')
    const store = await open(dir)
    for (let pos = 1; pos <= 60; pos += 1) await store.appendClicks([click(pos)])
    const file = join(dir, SQLITE_FILE)
    const { size } = await stat(`${file}-wal`)
    for (const suffix of ['', '-wal']) await copyFile(file + suffix, folder(`origin${suffix}`))
    await store.close()
    let shortest = 60
    for (let round = 0; round < TORN; round += 1) {
      const copy = folder(`torn-copy-${round}`)
      for (const suffix of ['', '-wal']) await copyFile(folder(`origin${suffix}`), copy + suffix)
      const at = Math.floor((size * (round + 1)) / (TORN + 1))
      if (round % 2 === 0) await truncate(`${copy}-wal`, at)
      else await flip(`${copy}-wal`, at)
      const found = readRaw(copy)
      expect(found.integrity).toBe('ok')
      expect(found.positions).toEqual(
        Array.from({ length: found.positions.length }, (_, n) => n + 1),
      )
      shortest = Math.min(shortest, found.positions.length)
      for (const suffix of ['', '-wal', '-shm']) await rm(copy + suffix, { force: true })
    }
    expect(shortest).toBeLessThan(60)
  }, 60_000)

  function readRaw(file: string) {
    const database = new DatabaseSync(file)
    const integrity = database.prepare('PRAGMA integrity_check').get()?.integrity_check
    const hasTable = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'click'").all()
    const rows = hasTable.length === 0 ? [] : database.prepare('SELECT pos FROM click').all()
    database.close()
    return { integrity, positions: rows.map(({ pos }) => Number(pos)) }
  }

  async function flip(path: string, at: number): Promise<void> {
    const bytes = await readFile(path)
    bytes[at] = (bytes[at] ?? 0) ^ 0x55
    await writeFile(path, bytes)
  }
})
