/**
 * JSON in base64 or base64url, as payment headers carry it.
 *
 * @param maxLength of the encoded text, in characters; longer texts are not decoded
 * @returns undefined for anything else
 * @example parseBase64Json('eyJhIjoxfQ', 100) → { a: 1 }
 */
export function parseBase64Json(text: string | undefined, maxLength: number): unknown {
  if (text === undefined || text.length > maxLength) return undefined
  try {
    const bytes = Uint8Array.from(
      atob(text.trim().replaceAll('-', '+').replaceAll('_', '/')),
      (character) => character.charCodeAt(0),
    )
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

/** Text in base64, of any length: the bytes are never arguments, of which a call takes only so many. */
export function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text)
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
