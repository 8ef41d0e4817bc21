import type { IncomingMessage } from 'node:http'

type Socket = IncomingMessage['socket']

export interface ReadLimits {
  /** Grace period for a reader that takes nothing, or too little (milliseconds). */
  graceMs: number
  /** Average rate a reader must keep after that. */
  bytesPerSecond: number
  /** How often it is checked (milliseconds). */
  everyMs: number
}

export const READ_LIMITS: ReadLimits = {
  graceMs: 60_000,
  bytesPerSecond: 8 * 1024,
  everyMs: 1000,
}

export type SlowReaders = ReturnType<typeof createSlowReaders>

interface Reader {
  socket: Socket
  /** Bytes the system had taken from us when the answer began, and now. */
  before: number
  taken: number
  /** Time we waited for the reader: in this answer, and since it last took something. */
  waitedMs: number
  stillMs: number
}

/**
 * Closes connections whose answers are not read, or too slowly. Only time in which bytes of ours
 * wait for the reader counts, so an answer may be as long and as slow as its source likes. A
 * reader's progress shows in steps, one write at a time.
 */
export function createSlowReaders(limits: ReadLimits = READ_LIMITS) {
  const readers = new Set<Reader>()
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    for (const reader of readers)
      if (isTooSlow(reader, limits)) {
        readers.delete(reader)
        reader.socket.destroy()
      }
    if (readers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  return {
    /** @returns a function that ends the watch */
    watch(socket: Socket): () => void {
      const before = takenFrom(socket)
      const reader: Reader = { socket, before, taken: before, waitedMs: 0, stillMs: 0 }
      readers.add(reader)
      timer ??= setInterval(look, limits.everyMs).unref()
      return () => void readers.delete(reader)
    },
  }
}

function isTooSlow(reader: Reader, { graceMs, bytesPerSecond, everyMs }: ReadLimits): boolean {
  const pending = reader.socket.writableLength
  const taken = takenFrom(reader.socket)
  if (taken !== reader.taken || pending === 0) reader.stillMs = 0
  reader.taken = taken
  if (pending === 0) return false
  reader.waitedMs += everyMs
  reader.stillMs += everyMs
  const allowedFor = (bytes: number) => graceMs + (bytes / bytesPerSecond) * 1000
  return (
    reader.stillMs > allowedFor(pending) ||
    reader.waitedMs > allowedFor(taken - reader.before + pending)
  )
}

/** `bytesWritten` includes what is still queued. */
function takenFrom(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength
}
