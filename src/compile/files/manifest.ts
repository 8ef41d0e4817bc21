import type { Copies, StaticFile } from '../../domain/wire/static-file.ts'

/**
 * The manifest of a release: lines of `data/files.ndjson` and `data/copies.ndjson`, sorted by path.
 * Most lines go from release to release without being read.
 */
export interface Manifest {
  files: Uint8Array
  copies: Uint8Array
}

/** A file as a manifest lists it. */
export interface ListedFile {
  /** Path below `public/`. */
  file: string
  /** Its line in the first file, a `StaticFile`. */
  row: string
  /** Its line in the second; empty where it has no copies. */
  copies: string
}

/** Lines by their place, the first is 0. */
export interface Lines {
  count: number
  /** Its path; empty past the end. */
  fileAt(place: number): string
  entryAt(place: number): StaticFile
  /** The bytes of some lines with their ends. */
  slice(from: number, to: number): Manifest
  /** Where a path stands, or would stand. */
  find(file: string): number
}

export function toListedFile(entry: StaticFile, copies: Copies | null): ListedFile {
  const toLine = (row: object) => `${JSON.stringify(row)}\n`
  return { file: entry.file, row: toLine(entry), copies: copies === null ? '' : toLine(copies) }
}

/** @param listed sorted by path */
export function toManifest(listed: readonly ListedFile[]): Manifest {
  return {
    files: Buffer.from(listed.map(({ row }) => row).join('')),
    copies: Buffer.from(listed.map(({ copies }) => copies).join('')),
  }
}

const LINE_END = 10
const ROW_START = '{"file":"'
const WITHOUT_COPIES = Buffer.from('"br":0,"gz":0}\n')

/** @throws Error where one file of the manifest does not fit the other */
export function readLines(manifest: Manifest): Lines {
  const [files, copies] = [asBuffer(manifest.files), asBuffer(manifest.copies)]
  const [ends, copyEnds] = [findEnds(files), findEnds(copies)]
  const count = ends.length - 1
  // How many lines of the second file stand before a place.
  const before = new Uint32Array(count + 1)
  for (let place = 0; place < count; place++) {
    const end = endAt(ends, place + 1)
    const { length } = WITHOUT_COPIES
    const hasNone = files.compare(WITHOUT_COPIES, 0, length, end - length, end) === 0
    before[place + 1] = endAt(before, place) + (hasNone ? 0 : 1)
  }
  if (before[count] !== copyEnds.length - 1) throw new Error('a manifest has copies of no file')
  const rowAt = (place: number) => files.toString('utf8', ends[place], ends[place + 1])
  const fileAt = (place: number) => (place < count ? fileOf(rowAt(place)) : '')
  return {
    count,
    fileAt,
    // JSON.parse is typed `any`; the row was written from this very type, and its bytes are verified.
    entryAt: (place) => JSON.parse(rowAt(place)),
    slice: (from, to) => ({
      files: files.subarray(ends[from], ends[to]),
      copies: copies.subarray(copyEnds[endAt(before, from)], copyEnds[endAt(before, to)]),
    }),
    find(file) {
      let [from, to] = [0, count]
      while (from < to) {
        const middle = (from + to) >> 1
        if (fileAt(middle) < file) from = middle + 1
        else to = middle
      }
      return from
    },
  }
}

/** The manifest of a release, and the paths in it. */
export interface FileList extends Manifest {
  names: string[]
}

/**
 * Lines that are kept, among them those of fresh files.
 *
 * @returns with the former place of each line; -1 for a fresh one
 */
export function mergeLines(
  earlier: Lines,
  isKept: (place: number) => boolean,
  fresh: readonly ListedFile[],
): FileList & { places: number[] } {
  const pieces: Manifest[] = []
  const names: string[] = []
  const places: number[] = []
  let from = 0
  const keepUntil = (end: number) => {
    for (let place = from; place < end; place++) {
      if (isKept(place)) {
        names.push(earlier.fileAt(place))
        places.push(place)
        continue
      }
      pieces.push(earlier.slice(from, place))
      from = place + 1
    }
    pieces.push(earlier.slice(from, end))
    from = end
  }
  for (const each of fresh.toSorted((a, b) => (a.file < b.file ? -1 : 1))) {
    keepUntil(earlier.find(each.file))
    pieces.push(toManifest([each]))
    names.push(each.file)
    places.push(-1)
  }
  keepUntil(earlier.count)
  return {
    files: Buffer.concat(pieces.map(({ files }) => files)),
    copies: Buffer.concat(pieces.map(({ copies }) => copies)),
    names,
    places,
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** 0, and where each line ends. */
function findEnds(bytes: Buffer): Uint32Array {
  const ends = [0]
  for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, end + 1))
    ends.push(end + 1)
  return Uint32Array.from(ends)
}

function endAt(ends: Uint32Array, place: number): number {
  return ends[place] ?? 0
}

/** Without parsing all of it, where the name has no escape. */
function fileOf(row: string): string {
  if (row.includes('\\')) return JSON.parse(row).file
  return row.slice(ROW_START.length, row.indexOf('"', ROW_START.length))
}
