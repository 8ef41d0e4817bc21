import { readMoves } from '../../src/content/check.ts'
import { formatFault } from '../../src/content/faults.ts'
import { joinContent, rowsOf } from '../../src/content/join.ts'
import { readWritten } from '../../src/content/listing-file.ts'
import { readEvidence, readSources, readTombstones } from '../../src/content/read.ts'
import type { UrlRules } from '../../src/domain/listing/target-url.ts'
import { placeRows } from '../../src/domain/sources/place-rows.ts'
import { orderRows, type SourceFile } from '../../src/domain/sources/source-row.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { readTables } from './content-files.ts'

/** The listings of a content folder and the sources' facts on them, for importers and reviews. */
export type Listed = ReturnType<typeof readListed>

/** @throws OperatorError for a damaged source file: a run would lose its facts. */
export function readListed(contentDir: string, rules: UrlRules) {
  const { written, broken } = readWritten(contentDir, rules)
  const { files: sources, faults } = readSources(contentDir, rules)
  const [fault] = faults
  if (fault !== undefined)
    throw new OperatorError(
      `${formatFault(fault, contentDir)}; restore it from version control, or delete it`,
    )
  const { values: tombstones } = readTombstones(contentDir, new Set())
  const order = readTables(contentDir).sources.map(({ id }) => id)
  const files = [...written, ...broken].sort((a, b) => (a.id < b.id ? -1 : 1))
  const place = (of: ReadonlyMap<string, SourceFile>, opens: boolean) =>
    placeRows(files, orderRows(rowsOf(of), order), { moves: readMoves(tombstones), opens })
  return {
    written: new Map(written.map((file) => [file.id, file])),
    sources,
    /** @param opens rows without a listing create one */
    place: (changed: ReadonlyMap<string, SourceFile> = sources, opens = false) =>
      place(changed, opens),
    /** Valid listings, and the valid parts of others. */
    join() {
      const { values: measured } = readEvidence(contentDir, new Set(files.map(({ id }) => id)))
      return joinContent({ written, broken, sources, order, measured, tombstones })
    },
  }
}
