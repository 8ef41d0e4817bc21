import * as v from 'valibot'
import { type FilterVocabulary, filterValues } from './filter-values.ts'
import {
  INDEX_HEADER_BYTES,
  type IndexHead,
  type IndexHeader,
  readIndexHead,
  readIndexHeader,
  SearchIndexError,
  verifyPart,
} from './index-file.ts'
import { type BodyStore, createScratch, type IndexPart } from './index-part.ts'

/** A loaded search index. Searching it is `searchIndex`; nothing in it changes but scratch space. */
export interface SearchIndex {
  filters: FilterVocabulary
  /** Where the bit set of each filter value lies, counted in bit sets. */
  filterPlaces: ReadonlyMap<string, number>
  organic: IndexPart
  firstParty: IndexPart
  /** Bodies of the organic rows, then of our own. */
  bodies: BodyStore
}

const FactsSchema = v.object({
  categories: v.array(v.string()),
  sources: v.array(v.string()),
})

/**
 * Loads an index file that is in memory as a whole, by laying typed arrays on it.
 * @throws SearchIndexError when it is damaged, cut short, or of another version
 */
export function loadSearchIndex(file: Uint8Array): SearchIndex {
  const aligned = file.byteOffset % 8 === 0 ? file : file.slice()
  const header = readIndexHeader(aligned)
  const expected = header.headBytes + header.bodyBytes
  if (aligned.byteLength !== expected) {
    throw new SearchIndexError(
      `The search index is damaged: it has ${aligned.byteLength} bytes, written were ${expected}. Build it again.`,
    )
  }
  const bodies = aligned.subarray(header.headBytes)
  verifyPart('bodies', bodies, header.bodyChecksum)
  return loadSearchIndexHead(aligned.subarray(0, header.headBytes), header, {
    read: (at, length) => bodies.subarray(at, at + length),
  })
}

/**
 * As `loadSearchIndex`, for a reader that keeps only the head in memory.
 * @param head the first `headBytes` of the file, at an offset that is a multiple of 8
 */
export function loadSearchIndexHead(
  head: Uint8Array,
  header: IndexHeader,
  bodies: BodyStore,
): SearchIndex {
  verifyPart('head', head.subarray(INDEX_HEADER_BYTES), header.headChecksum)
  const table = readIndexHead(head, header)
  const filters = v.parse(FactsSchema, table.facts)
  const values = filterValues(filters)
  return {
    filters,
    filterPlaces: new Map(values.map((value, at) => [value, at])),
    organic: loadPart(table, 'organic'),
    firstParty: loadPart(table, 'firstParty'),
    bodies,
  }
}

function loadPart(table: IndexHead, part: string): IndexPart {
  const u8 = (name: string) => new Uint8Array(...placeOf(table, part, name, 1))
  const u32 = (name: string) => new Uint32Array(...placeOf(table, part, name, 4))
  const f32 = (name: string) => new Float32Array(...placeOf(table, part, name, 4))
  const f64 = (name: string) => new Float64Array(...placeOf(table, part, name, 8))
  const trust = u8('trust')
  const termStarts = u32('termStarts')
  return {
    rows: trust.length,
    dictionary: {
      count: termStarts.length - 1,
      bytes: u8('termBytes'),
      starts: termStarts,
      slots: u32('termSlots'),
    },
    sounds: u32('soundSlots'),
    postingStarts: u32('postingStarts'),
    postingRows: u32('postingRows'),
    postingImpacts: f32('postingImpacts'),
    browseOrder: u32('browseOrder'),
    multipliers: f64('multipliers'),
    trust,
    minUsd: f64('minUsd'),
    filterBits: u32('filterBits'),
    idBytes: u8('idBytes'),
    idStarts: u32('idStarts'),
    bodyStarts: f64('bodyStarts'),
    scratch: createScratch(trust.length),
  }
}

function placeOf(
  table: IndexHead,
  part: string,
  name: string,
  elementBytes: number,
): [ArrayBufferLike, number, number] {
  const { buffer, at, length } = table.bytesOf(`${part}.${name}`)
  return [buffer, at, length / elementBytes]
}
