/** Bytes of files kept in memory; the least recently used leave first. */
const MAX_CACHED_BYTES = 256 * 1024 * 1024

export interface FileCache<Wanted> {
  read(wanted: Wanted): Promise<Buffer>
}

/** Reads each file once while it fits; requests for one file at the same time share the read. */
export function createFileCache<Wanted>(
  nameOf: (wanted: Wanted) => string,
  readFile: (wanted: Wanted) => Promise<Buffer>,
  maxBytes = MAX_CACHED_BYTES,
): FileCache<Wanted> {
  const cached = new Map<string, Promise<Buffer>>()
  let bytes = 0
  const keep = (name: string, size: number) => {
    bytes += size
    for (const [oldest, reading] of cached) {
      if (bytes <= maxBytes || oldest === name) break
      cached.delete(oldest)
      void reading.then((old) => {
        bytes -= old.length
      })
    }
  }
  return {
    read(wanted) {
      const name = nameOf(wanted)
      const hit = cached.get(name)
      if (hit !== undefined) {
        cached.delete(name)
        cached.set(name, hit)
        return hit
      }
      const reading = readFile(wanted)
      cached.set(name, reading)
      reading.then(
        (content) => keep(name, content.length),
        () => cached.delete(name),
      )
      return reading
    },
  }
}
