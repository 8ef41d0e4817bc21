import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDirectory } from '../../functions/commands/new.ts'
import { buildData, buildHere } from '../support/data-build.ts'
import { BUILD_ENV, FIXTURE_ENV } from '../support/fixture-env.ts'
import { readCurrentFiles } from '../support/fixture-release.ts'
import { IS_LONG } from '../support/long.ts'
import { withEnv } from '../support/own-env.ts'
import { runHere } from '../support/run-here.ts'
import { type RunningService, startService } from '../support/running-service.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** A directory of somebody's own, made by `npm run new`. */
export interface OwnDirectory {
  content: string
  outDir: string
  stateDir: string
  build(): Promise<void>
  /** All of it but the pages. */
  buildData(): Promise<void>
  start(overrides?: Parameters<typeof startService>[0]): Promise<RunningService>
}

export async function createOwnDirectory(site = ''): Promise<OwnDirectory> {
  const root = tempFolder('own-directory')
  const [content, outDir, stateDir] = ['acme', 'dist', 'state'].map((name) => join(root, name))
  if (content === undefined || outDir === undefined || stateDir === undefined) throw new Error()
  const env = { CONTENT_DIR: content, OUT_DIR: outDir, STATE_DIR: stateDir }
  await runHere(() => createDirectory([content, '--name', 'Acme Services']))
  cpSync(join(content, 'examples/listings'), join(content, 'listings'), { recursive: true })
  const table = join(content, 'tables/site.yaml')
  writeFileSync(
    table,
    `${readFileSync(table, 'utf8').replace('made_with: true', 'made_with: false')}${site}`,
  )
  return {
    content,
    outDir,
    stateDir,
    // In `npm run test:long` the pages' code is bundled for it.
    build: () => withEnv(IS_LONG ? {} : BUILD_ENV, () => buildHere({ ...FIXTURE_ENV, ...env })),
    buildData: () => buildData({ ...FIXTURE_ENV, ...env }),
    start: (overrides) => startService({ ...env, ...overrides }),
  }
}

/** Fields of answers, and codes of errors: answers keep their shape, whatever a directory does without. */
const REFERENCE = /^(?:docs\/schemas|problems)(?:\/|$)/

/** Pages of the release, by path in it, the fields of the interface left out. */
export function readPages({ outDir }: OwnDirectory): Map<string, string> {
  return new Map(
    readCurrentFiles(outDir).flatMap((file) => {
      const path = file.path.replace(/^public\//, '')
      if (path === file.path || !path.endsWith('.html') || REFERENCE.test(path)) return []
      return [[path, file.bytes.toString('utf8')]]
    }),
  )
}
