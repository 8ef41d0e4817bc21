import { findContentType, isDumpCopy, type StaticFile } from '../../src/domain/wire/static-file.ts'
import { readReleaseList } from '../../src/store/release-list.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { readFixtureName } from '../support/fixture-release.ts'

/** Where the plain folders of the fixture release lie. */
export const RELEASE_DIR = FIXTURE_ENV.OUT_DIR

/** The public files of the fixture release. */
export const FILES: readonly StaticFile[] = readReleaseList(RELEASE_DIR, readFixtureName())
  .filter(({ path }) => path.startsWith('public/') && !isDumpCopy(path))
  .map(({ path, size, digest }) => {
    const file = path.slice('public/'.length)
    return { file, type: findContentType(file), size, digest }
  })
