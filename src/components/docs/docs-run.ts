import { readAnswerText, toReadable } from '../frame/answer-text.ts'
import { toRunPath } from './api-run.ts'

/** Tries an endpoint from its reference: only reads, without cookies, answers cut to fit. */
const MAX_SHOWN = 20_000
const MAX_READ = 262_144
const DEADLINE_MS = 15_000

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-run]'))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void run(form)
  })

async function run(form: HTMLFormElement): Promise<void> {
  const box = form.parentElement?.querySelector<HTMLElement>('[data-answer]')
  const button = form.querySelector('button')
  if (box == null || button === null) return
  button.disabled = true
  const inputs = [...form.querySelectorAll('input')].map(({ name, value, dataset }) => {
    return { name, value: value.trim(), place: dataset.place ?? '' }
  })
  const path = toRunPath(form.dataset.run ?? '', inputs)
  const signal = AbortSignal.timeout(DEADLINE_MS)
  const shown = await fetch(path, { credentials: 'omit', redirect: 'error', signal })
    .then(readStart)
    .catch(() => ({ line: 'No answer came.', headers: '', body: '', cut: '' }))
  for (const [part, text] of Object.entries({ path, ...shown })) {
    const place = box.querySelector<HTMLElement>(`[data-${part}]`)
    if (place === null) continue
    if (part !== 'cut') place.textContent = text
    place.hidden = text === ''
  }
  button.disabled = false
  box.hidden = false
}

/** Only as much as is shown: a dump of the directory is not fetched to its end. */
async function readStart(response: Response) {
  const { headers, status, statusText } = response
  const line = `Status ${status} ${statusText}`.trim()
  const named = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  const type = headers.get('content-type') ?? ''
  if (!/^text\/|json\b/.test(type)) {
    await response.body?.cancel()
    return { line, headers: named, body: `(${type || 'no content type'}: not shown)`, cut: '' }
  }
  const { text, isCut } = await readAnswerText(response, MAX_READ)
  const shown = toReadable(type, text)
  const cut = isCut || shown.length > MAX_SHOWN ? 'yes' : ''
  return { line, headers: named, body: shown.slice(0, MAX_SHOWN), cut }
}
