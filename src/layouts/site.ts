import { keep, readKept } from '../components/frame/kept.ts'

/** On every page: copy buttons, and a key that opens the search box, for people without a mouse. */
document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest('[data-copy]') : null
  if (button instanceof HTMLButtonElement) void copyFrom(button)
})

const KEYS_OFF = 'keys-off'
const keySwitch = document.querySelector<HTMLInputElement>('[data-keys]')
/** The key is on until somebody turns it off. */
if (keySwitch !== null) keySwitch.checked = readKept(KEYS_OFF) === null
keySwitch?.addEventListener('change', () => keep(KEYS_OFF, keySwitch.checked ? null : 'yes'))

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
  const box = document.querySelector('[data-search]')
  if (!(box instanceof HTMLInputElement) || isTyping(event.target)) return
  if (readKept(KEYS_OFF) !== null) return
  event.preventDefault()
  box.focus()
  box.select()
})

async function copyFrom(button: HTMLButtonElement): Promise<void> {
  // A button outside any block copies the snippet that is open on the page.
  const ways = [...document.querySelectorAll('.connect .copy')]
  const block = button.closest('.copy') ?? ways.find((each) => each.checkVisibility())
  const text = block?.querySelector('code')?.textContent ?? ''
  const label = button.textContent ?? ''
  button.style.minWidth = `${button.offsetWidth}px`
  button.textContent = (await writeClipboard(text)) ? 'Copied' : 'Press Ctrl+C'
  setTimeout(() => {
    button.textContent = label
  }, 1600)
}

async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // The browser refused, or the page is not on a secure origin.
    return false
  }
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select'))
  )
}
