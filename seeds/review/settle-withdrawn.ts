import { join } from 'node:path'
import { isListingId } from '../../src/domain/listing/listing-id.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { lockFileOf, readIfThere, readMemory } from '../content/content-folder.ts'
import type { ContentWriter } from '../content/content-writer.ts'
import { evidenceFileOf, membersOf, renderJson, tombstoneFileOf } from '../content/machine-files.ts'
import type { ReviewItem } from '../content/review-item.ts'
import { renderLock } from '../content/seed-lock.ts'

/**
 * Takes out a listing that people edited and its source withdrew, as the importer would have done
 * with one that nobody had edited: its tombstone keeps the file, and a return restores it.
 */
export async function buryWithdrawn(
  contentDir: string,
  writer: ContentWriter,
  item: ReviewItem,
  now: string,
): Promise<string[]> {
  if (!isListingId(item.listing))
    throw new OperatorError(`${item.id} names no listing: ${JSON.stringify(item.listing)}`)
  const [prefix, ...rest] = item.listing.split('.')
  const file = `listings/${prefix}/${rest.join('.')}.md`
  const { kept, promised } = await readMemory(contentDir, item.from)
  if (promised !== null)
    throw new OperatorError(
      `a run of ${item.from} was killed: run npm run seed -- ${item.from} once more, then decide`,
    )
  const listing = await readIfThere(join(contentDir, file))
  if (listing === null) return [`${file} is gone already`]
  const evidence = await readIfThere(join(contentDir, evidenceFileOf(file)))
  await writer.write(
    tombstoneFileOf(file),
    renderJson({
      id: item.listing,
      at: now,
      reason: 'withdrawn',
      by: item.from,
      listing,
      ...(evidence === null ? {} : { evidence: membersOf(evidence) }),
    }),
  )
  const listings = [...kept.listings].map(
    ([key, { missing_since: _, ...entry }]) =>
      [key, entry.file === file ? { ...entry, withdrawn: true as const } : entry] as const,
  )
  await writer.write(lockFileOf(item.from), renderLock({ ...kept, listings: new Map(listings) }))
  await writer.remove(evidenceFileOf(file))
  await writer.remove(file)
  return [`${file} is withdrawn; ${tombstoneFileOf(file)} keeps it`]
}
