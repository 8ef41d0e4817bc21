/** A browser's storage for this site between pages. If unavailable, nothing is remembered. */
export function readKept(key: string, storage: 'local' | 'session' = 'local'): string | null {
  try {
    return window[`${storage}Storage`].getItem(key)
  } catch {
    return null
  }
}

/** @param value the text to keep; null removes the key */
export function keep(key: string, value: string | null, storage: 'local' | 'session' = 'local') {
  try {
    if (value === null) window[`${storage}Storage`].removeItem(key)
    else window[`${storage}Storage`].setItem(key, value)
  } catch {}
}
