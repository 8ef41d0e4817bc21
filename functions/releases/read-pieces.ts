import { nameBytes, type Piece } from './manifest.ts'

/** Requests to the store under way at once. */
const AT_ONCE = 16

type ReadObject = (key: string) => Promise<{ bytes: Uint8Array } | 'same' | null>

/**
 * The bytes that pieces make up.
 *
 * @throws when one is missing, or they are not what was published
 */
export async function readPieces(
  { digest, pieces }: { digest: string; pieces: readonly Piece[] },
  read: ReadObject,
): Promise<Buffer> {
  const parts: Uint8Array[] = []
  await inParallel([...pieces.entries()], async ([n, { key }]) => {
    const object = await read(key)
    if (object === null || object === 'same') throw new Error(`${key} is missing`)
    parts[n] = object.bytes
  })
  const bytes = Buffer.concat(parts)
  if (nameBytes(bytes) !== digest)
    throw new Error(`${pieces[0]?.key ?? 'an empty file'} holds other bytes than were published`)
  return bytes
}

/** Does the work for each, some at once. The first failure ends it when those under way are done. */
export async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0
  let isOver = false
  const worker = async () => {
    for (let at = next++; at < items.length && !isOver; at = next++) {
      const item = items[at]
      if (item !== undefined)
        await work(item).catch((error: unknown) => {
          isOver = true
          throw error
        })
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}
