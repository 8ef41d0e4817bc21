import type { SearchResponseInput } from '../search/search-response.ts'

/** Stands where a server compresses: function hosts do that themselves, and nobody asks it here. */
export function writeGzipResponse(_input: SearchResponseInput): never {
  throw new Error('expected no coding: the host of this function compresses answers')
}

export function compressWhole(): never {
  throw new Error('expected no coding: the host of this function compresses answers')
}
