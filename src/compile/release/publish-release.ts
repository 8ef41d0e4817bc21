import type { ReleaseFile } from '../../domain/derived/release-file.ts'
import type { Objects } from '../../store/objects.ts'
import type { ListedFile } from '../../store/release-list.ts'
import { collectGarbage, putRelease, readCurrent, switchTo } from '../../store/releases.ts'
import { recordChanges } from './record-changes.ts'

/**
 * Puts a release in place, switches to it and logs what changed. Expired releases are deleted last:
 * by then the new one is live.
 */
export function publishRelease(
  outDir: string,
  objects: Objects,
  release: Omit<ReleaseFile, 'list'>,
  files: readonly ListedFile[],
): void {
  const before = readCurrent(outDir)
  putRelease(outDir, objects, release, files)
  switchTo(outDir, release.name)
  recordChanges(outDir, release.name, new Date())
  collectGarbage(outDir, [release.name, before])
}
