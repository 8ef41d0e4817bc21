import { spawnSync } from 'node:child_process'
import { BUILD_ENV } from './fixture-env.ts'
import { stopSharedPostgres } from './postgres.ts'

/** Builds the fixture content once for a whole test run; nothing to do while it is current. */
export default function buildFixture(): () => Promise<void> {
  if (process.env.FIXTURES_ARE_BUILT !== 'yes') {
    const env = { ...process.env, ...BUILD_ENV }
    const command = ['functions/commands/build.ts']
    const build = spawnSync(process.execPath, command, { env, encoding: 'utf8' })
    if (build.status !== 0)
      throw new Error(`The fixture content was not built:\n${build.stdout}${build.stderr}`)
  }
  return stopSharedPostgres()
}
