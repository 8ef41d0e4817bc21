import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { launchBrowser } from '../browser/browser.ts'

/**
 * `node test/bench/typing.ts <url of a running directory> [--queries n]`: what somebody waits for who
 * types on the search page. Every key is followed by a pause, so that each asks its own question; time
 * runs from the end of the pause (the request leaves) until the browser has painted the rows. Beside
 * it, between the keys, a small static file of the same server: what the machine and the browser take
 * for any fetch at all.
 */
const TASKS = [
  'web search',
  'send email',
  'weather forecast',
  'image generation',
  'postgres database',
  'flight prices',
  'crypto wallet balance',
  'translate text',
  'github issues',
  'pdf to markdown',
  'stock market data',
  'speech to text',
]
const STATIC_FILE = '/opensearch.xml'

/** Milliseconds from the request, and bytes on the wire. */
interface Keystroke {
  answered: number
  parsed: number
  rendered: number
  painted: number
  bytes: number
  file: number
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { queries: { type: 'string', default: String(TASKS.length) } },
})
const [url] = positionals
if (url === undefined) throw new Error('expected the address of a running directory')

const browser = await launchBrowser()
const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, baseURL: url })
await page.addInitScript(watchKeystrokes, STATIC_FILE)
const keystrokes: Keystroke[] = []
for (const task of TASKS.slice(0, Number(values.queries)))
  keystrokes.push(...(await type(page, task)))
await browser.close()
report(keystrokes)

async function type(page: Page, task: string): Promise<Keystroke[]> {
  await page.goto('/search', { waitUntil: 'load' })
  await page.locator('[data-search]').focus()
  const taken: Keystroke[] = []
  for (const key of task) {
    const next = page.evaluate(() => Reflect.get(window, 'nextKeystroke')())
    await page.keyboard.type(key)
    // A space at the end asks for what was asked before it: the browser may answer from its cache.
    taken.push(await next)
  }
  return taken
}

/** Runs in the page before its scripts: times what they do from outside. */
function watchKeystrokes(staticFile: string): void {
  const ask = window.fetch.bind(window)
  const at = { asked: 0, answered: 0, parsed: 0, rendered: 0 }
  let done: ((taken: unknown) => void) | undefined
  window.fetch = async (...request: Parameters<typeof fetch>) => {
    at.asked = performance.now()
    const response = await ask(...request)
    const read = response.json.bind(response)
    response.json = async () => {
      const text = await response.text()
      at.answered = performance.now()
      const answer = JSON.parse(text)
      at.parsed = performance.now()
      return answer
    }
    void read
    return response
  }
  const finish = async () => {
    const painted = performance.now()
    const entries = performance.getEntriesByType('resource')
    const last = entries.filter(({ name }) => name.includes('/api/v1/search')).at(-1)
    const start = performance.now()
    await (await ask(`${staticFile}?${start}`)).text()
    const file = performance.now() - start
    const bytes = last === undefined ? 0 : Reflect.get(last, 'encodedBodySize')
    const from = (time: number) => time - at.asked
    done?.({
      answered: from(at.answered),
      parsed: from(at.parsed),
      rendered: from(at.rendered),
      painted: from(painted),
      bytes,
      file,
    })
  }
  document.addEventListener('directory:rows', () => {
    at.rendered = performance.now()
    // A task after the next frame: its picture is made.
    requestAnimationFrame(() => setTimeout(finish))
  })
  Reflect.set(
    window,
    'nextKeystroke',
    () =>
      new Promise((resolve) => {
        done = resolve
      }),
  )
}

function report(taken: readonly Keystroke[]): void {
  const parts: [string, (one: Keystroke) => number][] = [
    ['request until its answer is read', ({ answered }) => answered],
    ['parsing it', ({ answered, parsed }) => parsed - answered],
    ['making the rows and lists', ({ parsed, rendered }) => rendered - parsed],
    ['until the next picture', ({ rendered, painted }) => painted - rendered],
    ['all of it', ({ painted }) => painted],
    [`a fetch of ${STATIC_FILE}`, ({ file }) => file],
    ['KB of an answer', ({ bytes }) => bytes / 1024],
  ]
  console.log(`${taken.length} keystrokes\n| | p50 | p95 | p99 |\n|---|---|---|---|`)
  for (const [name, read] of parts) {
    const sorted = taken.map(read).sort((a, b) => a - b)
    const at = (part: number) => (sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(1)
    console.log(`| ${name} | ${at(0.5)} | ${at(0.95)} | ${at(0.99)} |`)
  }
}
