import { checkListing, toKnownIds } from '../../src/compile/content/check-listing.ts'
import type { Fault } from '../../src/compile/content/fault.ts'
import { findDuplicates } from '../../src/compile/content/listing-warnings.ts'
import { createListingParser, readListings } from '../../src/compile/content/read-listings.ts'
import { readTables } from '../../src/compile/content/read-tables.ts'
import { isListingId } from '../../src/domain/listing/listing-id.ts'
import type { UrlRules } from '../../src/domain/listing/target-url.ts'

/**
 * What `npm run check` would say of one listing file that is not in the content yet: its own faults,
 * and listings of the same thing that are.
 *
 * @param file path from the content folder, such as `listings/mcp/foo.md`
 */
export function checkText(
  contentDir: string,
  file: string,
  text: string,
  rules: UrlRules,
): Fault[] {
  const [, prefix = '', slug = ''] = /^listings\/([a-z0-9]+)\/([^/]+)\.md$/.exec(file) ?? []
  const id = `${prefix}.${slug}`
  if (!isListingId(id))
    return [fault(file, 'expected listings/<prefix>/<slug>.md, such as listings/mcp/foo.md')]
  const { listing, partial, faults } = createListingParser(rules)({ id, file }, text)
  const read = listing ?? partial
  if (read === null) return faults
  const known = toKnownIds(readTables(contentDir).partial)
  const others = readListings(contentDir, rules).listings.filter((other) => other.file !== file)
  const duplicates = findDuplicates([...others, read]).filter((each) => each.file === file)
  return [...faults, ...checkListing(read, known), ...duplicates]
}

function fault(file: string, message: string): Fault {
  return { file, line: null, field: '', message, severity: 'error' }
}
