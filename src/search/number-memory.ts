const BYTES_EACH = 4

/**
 * Zeros for a table that may grow large. The memory is shared memory although nothing shares it:
 * V8 marks its whole heap anew for every 64 MB of other buffers it allocates, and with a million
 * documents on the heap that took a third of the build.
 */
export function allocateNumbers(length: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(length * BYTES_EACH))
}
