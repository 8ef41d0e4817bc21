import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import buildFixture from '../../support/build-fixture.ts'

const AddressSchema = v.object({ address: v.object({ port: v.number() }) })
const StateSchema = v.object({ rss: v.number(), held: v.number(), loaded: v.number() })

type State = v.InferOutput<typeof StateSchema>

export interface FixtureProcess {
  port: number
  /** Resident bytes of the service. */
  rss(): Promise<number>
  /** Longest turn of its event loop since this was asked last, in CPU time (milliseconds). */
  held(): Promise<number>
  /** Modules that were loaded since it is ready. */
  loaded(): Promise<number>
  close(): Promise<void>
}

/** The service in a process of its own, so that attackers do not share its event loop. */
export function startFixture(env: Record<string, string> = {}): Promise<FixtureProcess> {
  buildFixture()
  return startProcess('served-fixture.ts', env)
}

/** A bare server of Node's, to compare with. */
export function startBareServer(): Promise<FixtureProcess> {
  return startProcess('bare-server.ts', {})
}

async function startProcess(script: string, env: Record<string, string>): Promise<FixtureProcess> {
  const stateDir = mkdtempSync(join(tmpdir(), 'waypost-attack-'))
  const child = fork(join(import.meta.dirname, script), {
    env: { ...process.env, STATE_DIR: stateDir, ...env },
    execArgv: ['--max-semi-space-size=8'],
  })
  const { address } = v.parse(AddressSchema, await nextMessage(child))
  let asking: Promise<State> | null = null
  const look = () => {
    asking ??= ask(child).finally(() => {
      asking = null
    })
    return asking
  }
  return {
    port: address.port,
    rss: async () => (await look()).rss,
    held: async () => (await look()).held,
    loaded: async () => (await look()).loaded,
    async close() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
      rmSync(stateDir, { recursive: true, force: true })
    },
  }
}

async function ask(child: ChildProcess): Promise<State> {
  const answer = nextMessage(child)
  child.send('state')
  return v.parse(StateSchema, await answer)
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const [message] = await once(child, 'message')
  return message
}
