import { readFile, rename, writeFile } from 'node:fs/promises'
import * as v from 'valibot'
import {
  LogHeadSchema,
  ReceiptEntriesSchema,
  ReceiptKeysSchema,
  ReceiptLogViewSchema,
  ReceiptSchema,
} from '../../../src/domain/receipts/receipt.ts'
import { isHeadSigned, rootOfLog } from '../../../src/domain/receipts/verify-receipt.ts'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'
import { WaypostError } from '../src/waypost-error.ts'
import { UsageFault } from './command-line.ts'
import { getJson } from './get-json.ts'

/**
 * A copy of a directory's log of receipts: all that a check needs, without the directory. Nothing
 * is ever fetched twice, so that a log which was changed later is noticed.
 */
const LogCopySchema = v.object({
  keys: ReceiptKeysSchema,
  head: LogHeadSchema,
  receipts: v.array(ReceiptSchema),
})
export type LogCopy = v.InferOutput<typeof LogCopySchema>

/** @returns null before the first copy. @throws UsageFault where the file is something else */
export async function readLogCopy(file: string): Promise<LogCopy | null> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (Object(error).code === 'ENOENT') return null
    throw new UsageFault(`${file}: ${error instanceof Error ? error.message : error}`)
  })
  if (text === null) return null
  const read = v.safeParse(LogCopySchema, parseJson(text))
  if (!read.success) throw new UsageFault(`${file}: expected a copy of a log of receipts`)
  return read.output
}

export async function writeLogCopy(file: string, copy: LogCopy): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(copy))
  await rename(`${file}.new`, file)
}

/**
 * Fetches the log's newer receipts, and checks all of them against the newest head.
 *
 * @throws WaypostError `log-forked` where the log no longer has what the copy has, or a key changed
 */
export async function growLogCopy(baseUrl: string, copy: LogCopy | null): Promise<LogCopy> {
  const published = await getJson(`${baseUrl}/.well-known/receipt-keys.json`, ReceiptKeysSchema)
  const keys = mergeKeys(published, copy)
  const { head } = await getJson(`${baseUrl}/api/v1/receipts/log`, ReceiptLogViewSchema)
  if (head === null) throw new WaypostError('no-log', 'The log of receipts has no signed head yet.')
  let receipts = copy?.receipts ?? []
  if (head.size < receipts.length)
    throw forked(`it has ${head.size} receipts; the copy has ${receipts.length}`)
  while (receipts.length < head.size) {
    const url = `${baseUrl}/api/v1/receipts/log/entries?from=${receipts.length}`
    const { receipts: more } = await getJson(url, ReceiptEntriesSchema)
    if (more.length === 0) throw forked(`its entries end at ${receipts.length} of ${head.size}`)
    receipts = receipts.concat(more).slice(0, head.size)
  }
  const grown = { keys, head, receipts }
  if (!isSound(grown)) throw forked('its newest head does not match the receipts of the copy')
  return grown
}

/** Whether the head is signed and covers exactly these receipts, in this order. */
export function isSound({ keys, head, receipts }: LogCopy): boolean {
  return (
    isHeadSigned(head, keys) && head.size === receipts.length && rootOfLog(receipts) === head.root
  )
}

/** A key in the copy must not change: a directory that changes one could sign another past. */
function mergeKeys(published: LogCopy['keys'], copy: LogCopy | null): LogCopy['keys'] {
  const known = copy?.keys ?? published
  if (known.log !== published.log)
    throw forked(`it is at ${published.log}; the copy has ${known.log}`)
  for (const { id, public_key } of known.keys)
    if (published.keys.find((each) => each.id === id)?.public_key !== public_key)
      throw forked(`it no longer publishes the key ${id}`)
  return published
}

function forked(detail: string): WaypostError {
  return new WaypostError('log-forked', `The log is not the one that was copied: ${detail}.`)
}
