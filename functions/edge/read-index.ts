/**
 * Where the search function finds the bytes of its index: whichever of these its host gives. They
 * are asked once, with the first request.
 */
export interface IndexSource {
  /** The bytes themselves, or a function that reads them from a file. */
  SEARCH_INDEX?: Bytes | (() => Bytes | Promise<Bytes>)
  /** A binding that answers requests for files, as for static assets. */
  ASSETS?: { fetch(url: string): Promise<Response> }
  /** A bucket of an object store. */
  BUCKET?: { get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null> }
}

type Bytes = Uint8Array | ArrayBuffer

/** Its name beside the function, in assets and in buckets. */
export const INDEX_FILE = 'search.index'

/** @throws Error naming what the host should give when it gives nothing, or has no such file */
export async function readIndex({
  SEARCH_INDEX,
  ASSETS,
  BUCKET,
}: IndexSource): Promise<Uint8Array> {
  if (SEARCH_INDEX !== undefined)
    return toBytes(typeof SEARCH_INDEX === 'function' ? await SEARCH_INDEX() : SEARCH_INDEX)
  if (ASSETS !== undefined) {
    const answer = await ASSETS.fetch(`https://assets.invalid/${INDEX_FILE}`)
    if (!answer.ok) throw new Error(`ASSETS answers ${answer.status} for ${INDEX_FILE}`)
    return toBytes(await answer.arrayBuffer())
  }
  const stored = await BUCKET?.get(INDEX_FILE)
  if (stored) return toBytes(await stored.arrayBuffer())
  throw new Error(
    BUCKET === undefined
      ? 'expected SEARCH_INDEX, ASSETS or BUCKET in the environment of the function'
      : `BUCKET has no ${INDEX_FILE}`,
  )
}

function toBytes(bytes: Bytes): Uint8Array {
  return bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)
}
