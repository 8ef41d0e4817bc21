import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkListing, findDuplicates } from '../../src/content/check.ts'
import { type Fault, faultOf, formatFault } from '../../src/content/faults.ts'
import { createListingParser } from '../../src/content/listing-file.ts'
import { readTables } from '../../src/content/tables.ts'
import { isListingId } from '../../src/domain/listing/listing-id.ts'
import type { PrivateTargets, UrlRules } from '../../src/domain/listing/target-url.ts'
import type { NamedRow } from '../../src/domain/sources/source-row.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { readIfThere, readReview } from '../content/content-folder.ts'
import type { ContentWriter } from '../content/content-writer.ts'
import { readListed } from '../content/listed.ts'
import { renderJson } from '../content/machine-files.ts'
import {
  type Decision,
  parseSettled,
  type ReviewFile,
  type ReviewItem,
  SETTLED_FILE,
} from '../content/review-item.ts'

/** Where decisions are carried out. */
export interface ReviewPlace {
  contentDir: string
  /** `UNSAFE_ALLOW_PRIVATE_TARGETS`. */
  allowPrivate: PrivateTargets
}

/**
 * Puts a waiting file into the content after all checks of `npm run check`. The same file again is
 * not an error: a run may have been killed after writing it.
 *
 * @returns warnings, one line each
 * @throws OperatorError with every fault
 */
export async function acceptFile(
  place: ReviewPlace,
  writer: ContentWriter,
  file: ReviewFile,
  check = (each: ReviewFile) => checkFile(place, each),
): Promise<string[]> {
  const warnings = check(file)
  const there = await readIfThere(join(place.contentDir, file.path))
  if (there !== null && there !== file.text)
    throw new OperatorError(
      `${file.path} is in the content already, with other words; accept under another name with --path, or refuse`,
    )
  if (there === null) await writer.write(file.path, file.text)
  return [`${file.path} is in the content; the next build lists it`, ...warnings]
}

/** Records a decision by id: two branches that settle different questions merge. */
export async function noteSettled(
  { contentDir }: ReviewPlace,
  writer: ContentWriter,
  items: readonly Pick<ReviewItem, 'id' | 'listing'>[],
  { decision: { decision, reason }, now }: { decision: Decision; now: string },
): Promise<void> {
  const settled = parseSettled((await readReview(contentDir)).get(SETTLED_FILE))
  const decided = items.map(({ id, listing }) => [id, { decision, reason, at: now, listing }])
  const all = Object.entries({ ...settled, ...Object.fromEntries(decided) })
  const sorted = all.sort(([a], [b]) => (a < b ? -1 : 1))
  await writer.write(SETTLED_FILE, renderJson(Object.fromEntries(sorted)))
}

/** @throws OperatorError with every error. @returns warnings, one line each */
export function checkFile(place: ReviewPlace, file: ReviewFile): string[] {
  return createFileCheck(place)(file)
}

/** For many files: the rest of the content is read once, when the first is checked. */
export function createFileCheck({ contentDir, allowPrivate }: ReviewPlace) {
  let known: Known | undefined
  /** @param rows the sources' rows for it; by default those of a listing of that name */
  return ({ path, text }: ReviewFile, rows?: readonly NamedRow[]): string[] => {
    known ??= readKnown(contentDir, { allowPrivate })
    const faults = checkText(known, { path, text }, rows)
    const lines = (severity: string) =>
      faults
        .filter((each) => each.severity === severity)
        .map((each) => formatFault(each, contentDir))
    const errors = lines('error')
    if (errors.length > 0)
      throw new OperatorError(`the file is not a listing yet:\n  ${errors.join('\n  ')}`)
    return lines('warning')
  }
}

type Known = ReturnType<typeof readKnown>

function readKnown(contentDir: string, rules: UrlRules) {
  const listed = readListed(contentDir, rules)
  return {
    parse: createListingParser(rules),
    tables: readTables(contentDir).partial,
    listings: listed.join().listings,
    taken: listed.place(undefined, true).taken,
  }
}

/** @throws OperatorError naming a file that can't be read */
export async function readEdited(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(({ message }: Error) => {
    throw new OperatorError(`--file ${path}: ${message}`)
  })
}

/**
 * What `npm run check` would report for a listing file not in the content yet: its own errors, and
 * existing listings of the same service.
 *
 * @param file path from the content folder, such as `listings/mcp/foo.md`
 */
function checkText(
  { parse, tables, listings, taken }: Known,
  { path: file, text }: ReviewFile,
  rows: readonly NamedRow[] | undefined,
): Fault[] {
  const [, prefix = '', slug = ''] = /^listings\/([a-z0-9]+)\/([^/]+)\.md$/.exec(file) ?? []
  const id = `${prefix}.${slug}`
  if (!isListingId(id))
    return [faultOf(file, 'expected listings/<prefix>/<slug>.md, such as listings/mcp/foo.md')]
  const { listing, partial, faults } = parse({ id, file }, text, rows ?? taken.get(id) ?? [])
  const read = listing ?? partial
  if (read === null) return faults
  // Anything a source's row shares with a listing would have matched it before.
  const others = rows === undefined ? listings.filter((other) => other.file !== file) : []
  const duplicates = findDuplicates([...others, read]).filter((each) => each.file === file)
  return [...faults, ...checkListing(read, tables), ...duplicates]
}
