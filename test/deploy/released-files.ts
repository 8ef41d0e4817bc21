import { statSync } from 'node:fs'
import { join } from 'node:path'
import { listFiles } from '../../src/build/folder.ts'
import { findContentType, isDumpCopy } from '../../src/domain/wire/published-files.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { readFixtureName } from '../support/fixture-release.ts'

/** Where the fixture release lies. */
export const RELEASE_DIR = join(FIXTURE_ENV.OUT_DIR, 'releases', readFixtureName())

/** Its public files, without compressed copies. */
export const FILES = listFiles(join(RELEASE_DIR, 'public'))
  .filter((file) => !isDumpCopy(file) && !/\.(?:br|gz)$/.test(file))
  .map((file) => ({
    file,
    type: findContentType(file),
    size: statSync(join(RELEASE_DIR, 'public', file)).size,
  }))
