/** A pause after the last key, so that a word is asked for and not each of its letters (milliseconds). */
const TYPING_PAUSE = 90

/**
 * Asks after each pause in typing. The last question wins: an older one is cut off, and an
 * answer that comes all the same is for nobody. A script that is still being composed is no question.
 */
export function whileTyping(
  box: HTMLInputElement,
  ask: (signal: AbortSignal) => Promise<void>,
): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking: AbortController | undefined
  const start = () => {
    asking?.abort()
    asking = new AbortController()
    const { signal } = asking
    ask(signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
  }
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(start, TYPING_PAUSE)
  }
  box.addEventListener('input', (event) => {
    if (!(event instanceof InputEvent) || !event.isComposing) wait()
  })
  box.addEventListener('compositionend', wait)
}
