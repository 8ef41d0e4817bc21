import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'

/**
 * Builds a release when the current one is stale or damaged, in a process of its own: a build's
 * memory is not the server's. A file with other bytes of the same length is found when it is served.
 */
export async function compileWhatIsStale(): Promise<void> {
  const command = fileURLToPath(new URL('build.ts', import.meta.url))
  const build = spawn(process.execPath, [command, '--lengths'], { stdio: 'inherit' })
  const [code] = await once(build, 'exit')
  if (code !== 0) throw new OperatorError('The content could not be compiled; see above.')
}
