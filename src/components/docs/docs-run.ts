import { readAnswerText, toReadable } from '../frame/answer-text.ts'
import { html, type Markup } from '../frame/html.ts'
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
  try {
    const signal = AbortSignal.timeout(DEADLINE_MS)
    const response = await fetch(path, { credentials: 'omit', redirect: 'error', signal })
    show(box, { path, response, body: await readStart(response) })
  } catch {
    box.innerHTML = html`<p>GET ${path}</p><p>No answer came.</p>`.text
  } finally {
    button.disabled = false
    box.hidden = false
  }
}

interface Body {
  text: string
  isCut: boolean
}

/** Only as much as is shown: a dump of the directory is not fetched to its end. */
async function readStart(response: Response): Promise<Body> {
  const type = response.headers.get('content-type') ?? ''
  if (!/^text\/|json\b/.test(type)) {
    await response.body?.cancel()
    return { text: `(${type || 'no content type'}: not shown)`, isCut: false }
  }
  const { text, isCut } = await readAnswerText(response, MAX_READ)
  const shown = toReadable(type, text)
  return { text: shown.slice(0, MAX_SHOWN), isCut: isCut || shown.length > MAX_SHOWN }
}

function show(
  box: HTMLElement,
  { path, response, body }: { path: string; response: Response; body: Body },
): void {
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  const cut = html`<p>Cut after ${MAX_SHOWN} characters; the command shows all of it.</p>`
  box.innerHTML = html`
    <p>GET ${path}</p>
    <p>${`Status ${response.status} ${response.statusText}`.trim()}</p>
    ${toBlock(headers, `headers of ${path}`)}
    ${toBlock(body.text, `answer of ${path}`)}
    ${body.isCut && cut}`.text
}

/** The parser drops a line break after the tag: the text keeps its own. */
function toBlock(text: string, label: string): Markup {
  return html`<pre tabindex="0" role="region" aria-label="${label}">${`\n${text}`}</pre>`
}
