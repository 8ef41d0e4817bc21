import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

const DECODERS = { br: brotliDecompressSync, gz: gunzipSync } as const

/** Whether `<path>.br` or `<path>.gz` holds these bytes: its length alone would not tell. */
export function isCopyOf(bytes: Buffer, path: string, coding: keyof typeof DECODERS): boolean {
  try {
    const copy = readFileSync(`${path}.${coding}`)
    const decoded = DECODERS[coding](copy, { maxOutputLength: Math.max(1, bytes.length) })
    return decoded.equals(bytes)
  } catch {
    return false
  }
}
