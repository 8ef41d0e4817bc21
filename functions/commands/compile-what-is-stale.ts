import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'

/**
 * Builds a release when the current one is stale or damaged, in a process of its own: a build's
 * memory is not the server's.
 */
export async function compileWhatIsStale(): Promise<void> {
  const build = spawn(process.execPath, [fileURLToPath(new URL('build.ts', import.meta.url))], {
    stdio: 'inherit',
  })
  const [code] = await once(build, 'exit')
  if (code !== 0) throw new OperatorError('The content could not be compiled; see above.')
}
