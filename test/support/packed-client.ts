import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { takeFileLock } from '../../functions/store/sqlite.ts'

const run = promisify(execFile)
const NAME = 'packed-client.tgz'

/**
 * The client as it would be published: the path of its archive, which is packed once for all files of a
 * test run, whose temporary folder it lies in.
 */
export async function packClient(): Promise<string> {
  const folder = tmpdir()
  for (;;) {
    using lock = takeFileLock(join(folder, 'packed-client.lock'))
    if (lock === null) {
      await sleep(100)
      continue
    }
    if (!readdirSync(folder).includes(NAME)) await pack(folder)
    return join(folder, NAME)
  }
}

async function pack(folder: string): Promise<void> {
  const own = mkdtempSync(join(folder, 'packing-'))
  await run('npm', ['pack', '--pack-destination', own], { cwd: resolve('packages/client') })
  const [archive = ''] = readdirSync(own)
  renameSync(join(own, archive), join(folder, NAME))
}
