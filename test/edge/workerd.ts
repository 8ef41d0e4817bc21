import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import * as v from 'valibot'
import { findFreePort } from '../support/free-port.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** The platform's own program: what stands in its place without an install script cannot be stopped. */
const { default: WORKERD } = v.parse(
  v.object({ default: v.string() }),
  createRequire(import.meta.url)('workerd'),
)

/**
 * A runtime without anything of Node, with the function's folder as its asset binding.
 *
 * @param worker a program around the function, and the server that it may ask
 */
export async function startWorkerd(
  functionDir: string,
  worker?: { program: string; functions: string },
): Promise<{ url: string; stop(): Promise<void> }> {
  const dir = tempFolder('workerd')
  const port = await findFreePort()
  cpSync(join(functionDir, 'search.js'), join(dir, 'search.js'))
  if (worker !== undefined) cpSync(worker.program, join(dir, 'worker.js'))
  const names = [...(worker === undefined ? [] : ['worker.js']), 'search.js']
  const modules = names.map((name) => `(name = "${name}", esModule = embed "${name}")`)
  writeFileSync(
    join(dir, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .search), (name = "files", disk = (path = "${resolve(functionDir)}")),
    (name = "internet", network = (allow = ["private"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const search :Workerd.Worker = (
  modules = [${modules.join(', ')}],
  compatibilityDate = "2026-10-01",
  bindings = [(name = "ASSETS", service = "files"), (name = "FUNCTIONS", text = "${worker?.functions ?? ''}")],
);
`,
  )
  const child = spawn(WORKERD, ['serve', join(dir, 'config.capnp')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stated = ''
  child.stderr.on('data', (chunk) => {
    stated += chunk
  })
  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    const ended = once(child, 'exit')
    // On SIGTERM it would wait for connections that clients keep.
    if (child.exitCode === null && child.kill('SIGKILL')) await ended
  }
  for (let tries = 0; tries < 900; tries += 1) {
    // Another path than the search's: the index is read with the first search.
    const answered = await fetch(`${url}/`).catch(() => null)
    if (answered !== null) return { url, stop }
    await new Promise((later) => setTimeout(later, 50))
  }
  await stop()
  throw new Error(`workerd does not answer: ${stated}`)
}
