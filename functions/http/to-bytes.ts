const encoder = new TextEncoder()

/** Text as UTF-8 in memory of its own. */
export function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}
