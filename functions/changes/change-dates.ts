import type { ChangeLog } from './change-log.ts'

/** Rows read at once, so that a long log lets other requests pass. */
const STEP = 1000

/** When the last change of each listing was published, by id. */
export type ChangeDates = ReadonlyMap<string, string>

const NONE: ChangeDates = new Map()

/**
 * Reads the log on from where it was left: a publication costs its own rows, once.
 *
 * @returns empty where no log is kept; a listing whose rows were dropped from the log is missing
 */
export function createChangeDates(log: ChangeLog): () => Promise<ChangeDates> {
  let known = { log: '', seq: 0, dates: new Map<string, string>() }
  let reading: Promise<unknown> = Promise.resolve()
  async function readOn(): Promise<ChangeDates> {
    const head = await log.head()
    if (head === null) return NONE
    if (head.log !== known.log) known = { log: head.log, seq: 0, dates: new Map() }
    const { dates } = known
    const dropped = (head.parts[0]?.first ?? head.seq + 1) - 1
    known.seq = Math.max(known.seq, dropped)
    while (known.seq < head.seq) {
      const rows = await log.rows(head, known.seq, head.seq, STEP)
      for (const { id, at } of rows) dates.set(id, at)
      const last = rows.at(-1)
      if (last === undefined) break
      known.seq = last.seq
    }
    return dates
  }
  return () => {
    // One reader at a time: two would count the same rows twice.
    // A build drops old parts once it has written a new head: what it took away is not missed there.
    const next = reading.then(readOn, readOn).catch(readOn)
    reading = next
    return next
  }
}
