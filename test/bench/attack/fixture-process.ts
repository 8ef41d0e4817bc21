import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import buildFixture from '../../support/build-fixture.ts'

const AddressSchema = v.object({ address: v.object({ port: v.number() }) })
const MemorySchema = v.object({ rss: v.number() })

export interface FixtureProcess {
  port: number
  /** Resident bytes of the service. */
  rss(): Promise<number>
  close(): Promise<void>
}

/** The service in a process of its own, so that attackers do not share its event loop. */
export async function startFixture(env: Record<string, string> = {}): Promise<FixtureProcess> {
  buildFixture()
  const stateDir = mkdtempSync(join(tmpdir(), 'waypost-attack-'))
  const child = fork(join(import.meta.dirname, 'served-fixture.ts'), {
    env: { ...process.env, STATE_DIR: stateDir, ...env },
    execArgv: ['--max-semi-space-size=8'],
  })
  const { address } = v.parse(AddressSchema, await nextMessage(child))
  let asking: Promise<number> | null = null
  return {
    port: address.port,
    rss() {
      asking ??= ask(child).finally(() => {
        asking = null
      })
      return asking
    },
    async close() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
      rmSync(stateDir, { recursive: true, force: true })
    },
  }
}

async function ask(child: ChildProcess): Promise<number> {
  const answer = nextMessage(child)
  child.send('rss')
  return v.parse(MemorySchema, await answer).rss
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const [message] = await once(child, 'message')
  return message
}
