import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { IS_LONG } from '../support/long.ts'

/** Pages of the content that is served, as a build makes them: half a minute, so `npm test` has the fixture's. */
export interface RealPages {
  /** Ids, the most to print first. */
  ids: readonly string[]
  /** HTML of a listing's page. */
  read(id: string): Buffer
  /** A style sheet, script or face of the pages. */
  readAsset(path: string): Buffer
}

const OUT_DIR = IS_LONG ? '.cache/real-release' : FIXTURE_ENV.OUT_DIR

/** A release that is there already stays as it is. */
export function readRealPages(): RealPages {
  if (IS_LONG) buildReal()
  const read = (path: string) => readFileSync(join(OUT_DIR, 'current/public', path))
  const sizes = readdirSync(join(OUT_DIR, 'current/public/api/v1/listings'), {
    withFileTypes: true,
  })
    .filter((entry) => entry.isDirectory())
    .map(({ name: id }) => ({
      id,
      size: read(`api/v1/listings/${id}/kit.json`).length + read(`listing/${id}/index.html`).length,
    }))
  return {
    ids: sizes.sort((a, b) => b.size - a.size).map(({ id }) => id),
    read: (id) => read(`listing/${id}/index.html`),
    readAsset: read,
  }
}

function buildReal(): void {
  const env = { ...process.env, ...FIXTURE_ENV, CONTENT_DIR: 'content', OUT_DIR }
  const built = spawnSync(process.execPath, ['functions/commands/build.ts'], {
    env,
    encoding: 'utf8',
  })
  if (built.status !== 0) throw new Error(`${built.stdout}${built.stderr}`)
}
