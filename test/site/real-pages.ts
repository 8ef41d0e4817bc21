import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { catalogue } from '../support/own-catalogue.ts'

/** Pages of the content that is served, as a build makes them. */
export interface RealPages {
  /** Ids, the most to print first. */
  ids: readonly string[]
  /** HTML of a listing's page. */
  read(id: string): Buffer
  /** A style sheet, script or face of the pages. */
  readAsset(path: string): Buffer
}

const OUT_DIR = '.cache/real-release'

/** A release that is there already stays as it is. */
export function readRealPages(): RealPages {
  const env = { ...process.env, ...FIXTURE_ENV, CONTENT_DIR: 'content', OUT_DIR }
  const built = spawnSync(process.execPath, ['functions/commands/build.ts'], {
    env,
    encoding: 'utf8',
  })
  if (built.status !== 0) throw new Error(`${built.stdout}${built.stderr}`)
  const read = (path: string) => readFileSync(join(OUT_DIR, 'current/public', path))
  const sizes = catalogue.listings.map(({ id }) => ({
    id,
    size: read(`api/v1/listings/${id}/kit.json`).length + read(`listing/${id}/index.html`).length,
  }))
  return {
    ids: sizes.sort((a, b) => b.size - a.size).map(({ id }) => id),
    read: (id) => read(`listing/${id}/index.html`),
    readAsset: read,
  }
}
