import { keep, readKept } from '../components/frame/kept.ts'
import { GO_KEYS } from '../components/frame/keys.ts'

/** On every page: copy buttons, and keys for people without a mouse. */
document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest('[data-copy]') : null
  if (button instanceof HTMLButtonElement) void copyFrom(button)
})

const KEYS_OFF = 'keys-off'
let isGoing = false

document.addEventListener('keydown', (event) => {
  const { key } = event
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
  if (document.querySelector('dialog[open]') !== null) return
  const place = isGoing ? GO_KEYS.find(([letter]) => letter === key)?.[1] : undefined
  isGoing = key === 'g'
  if (!areKeysOn()) return
  if (key === '?') void openKeys()
  else if (place !== undefined) location.assign(place)
  else if (key === '/') focusSearch(event)
})
document.addEventListener('change', ({ target }) => {
  if (target instanceof HTMLInputElement && target.matches('[data-keys]'))
    keep(KEYS_OFF, target.checked ? null : 'yes')
})
showSwitch(document)

function focusSearch(event: Event): void {
  const box = document.querySelector('[data-search]')
  if (!(box instanceof HTMLInputElement)) return
  event.preventDefault()
  box.focus()
  box.select()
}

/** The page of keys, in a dialog over this one. */
async function openKeys(): Promise<void> {
  const page = await (await fetch('/keys')).text()
  const content = new DOMParser()
    .parseFromString(page, 'text/html')
    .querySelector('[data-key-list]')
  if (content === null) return
  const dialog = document.createElement('dialog')
  content.querySelector('form')?.removeAttribute('hidden')
  dialog.append(content)
  dialog.ariaLabel = 'Keys'
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  showSwitch(dialog)
  dialog.showModal()
}

function showSwitch(place: ParentNode): void {
  const box = place.querySelector<HTMLInputElement>('[data-keys]')
  if (box !== null) box.checked = areKeysOn()
}

/** They are on until somebody turns them off. */
function areKeysOn(): boolean {
  return readKept(KEYS_OFF) === null
}

async function copyFrom(button: HTMLButtonElement): Promise<void> {
  const text = button.closest('.copy')?.querySelector('code')?.textContent ?? ''
  const label = button.textContent ?? ''
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
    // Refused by the browser, or the page is not on a secure origin.
    return false
  }
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select'))
  )
}
