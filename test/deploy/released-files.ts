import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { type StaticFile, StaticFileSchema } from '../../src/domain/wire/static-file.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'

export const RELEASE_DIR = join(FIXTURE_ENV.OUT_DIR, 'current')

/** The files of the fixture release, as its manifest lists them. */
export const FILES: readonly StaticFile[] = readFileSync(
  join(RELEASE_DIR, 'data/files.ndjson'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => v.parse(StaticFileSchema, JSON.parse(line)))
