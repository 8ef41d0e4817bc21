import { parseJson } from './json.ts'

/** Longest payment header that is read: as much as the relay passes. */
export const MOST_HEADER = 128 * 1024

/**
 * @param maxLength of the encoded text, in characters; longer texts are not decoded
 * @returns undefined for what is not JSON in base64 or base64url
 */
export function parseBase64Json(text: string | undefined, maxLength = MOST_HEADER): unknown {
  if (text === undefined || text.length > maxLength) return undefined
  try {
    return parseJson(decoder.decode(fromBase64(text)))
  } catch {
    return undefined
  }
}

const decoder = new TextDecoder()

/** @throws for what is neither base64 nor base64url */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.trim().replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = new Uint8Array(binary.length)
  // `Uint8Array.from` walks a string character by character, which takes ten times as long.
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index)
  return bytes
}

/** Text or bytes in base64, of any length: the bytes are never spread as arguments. */
export function toBase64(data: string | Uint8Array): string {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

export function toBase64Url(data: string | Uint8Array): string {
  return toBase64(data).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
