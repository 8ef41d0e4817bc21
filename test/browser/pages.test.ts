import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PAGE_CSP } from '../../src/domain/wire/published-files.ts'
import { type Demo, readSignInPath, startDemo } from '../support/demo.ts'
import { IS_LONG, longTest } from '../support/long.ts'
import { startService } from '../support/running-service.ts'
import { DESKTOP, launchBrowser, openPage, PHONE, type WatchedPage } from './browser.ts'
import { auditKeyboard, auditPage, FINE, keepAxe, readOverflow } from './page-audit.ts'
import { PAGES } from './page-list.ts'
import { findTextOverlaps } from './text-overlaps.ts'

type Row = (typeof PAGES)[number]
/** Further states of those pages: on a phone, in the dark. */
const STATES: readonly Row[] = [
  ['/listing/x402.pneumonoultramicroscopic'],
  ['/docs/listings'],
  ['/search?q=zzzzzz'],
  ['/search?kind=banana', 400],
  ['/search?q=search&kind=http_api&sort=price'],
  ['/search?offset=9999'],
  ['/listing/a2a.mutarjim'],
  ['/listing/kit.first-steps'],
  ['/listing/mcp.spreadsheets'],
  ['/listing/x402.sable-search'],
  ['/listing/x402.glasspond-answers'],
  ['/compare/thin-page'],
  ['/report?kind=dispute&about=x402.brightwell-search'],
  ['/kind/kit'],
  ['/docs/protocols'],
  ['/problems/rate-limited'],
  ['/sellers/sign-in?token=abc'],
  ['/business-model'],
  ['/roadmap'],
  ['/market'],
  ['/privacy'],
  ['/sellers/check?url=http%3A%2F%2F127.0.0.1%2F', 400],
]
/** Of the fixture: each check that every page stands, on pages with the most that could go wrong. */
const FEW: readonly Row[] = [
  ['/listing/api.hostile-text'],
  ['/compare?ids=api.hostile-text,x402.weather,mcp.tenki'],
]
const WALKED = IS_LONG ? PAGES : FEW
/** Small and large phones, a window of 1280 pixels enlarged to 200 %, tablets, a desktop. */
const WIDTHS = IS_LONG ? [320, 390, 430, 640, 768, 1024, DESKTOP.width] : [320]

type Outcome = Awaited<ReturnType<typeof walk>>
type State = Awaited<ReturnType<typeof look>>

/**
 * Every page type of the demonstration, whose content has every state and hostile text: on a desktop in
 * the light and on a phone in the dark; enlarged twice, by keyboard, and without JavaScript. The pages are
 * walked once; each has a test. `npm test` walks a few pages of the fixture.
 */
let demo: Pick<Demo, 'url' | 'close'>
const outcomes = new Map<string, Outcome>()
const states = new Map<string, State>()
beforeAll(async () => {
  const signedIn = IS_LONG && { storageState: await startSignedIn() }
  if (!IS_LONG) demo = await startService()
  const open = (options: BrowserContextOptions) =>
    openPage(demo.url, { ...signedIn, reducedMotion: 'reduce', ...options })
  const noScript = await open({ javaScriptEnabled: false })
  const view = await open({})
  await keepAxe(view.page)
  for (const [n, [path, status]] of WALKED.entries())
    outcomes.set(path, await walk({ view, noScript }, path, { status, isPhoneFirst: n % 2 === 0 }))
  for (const { close } of [view, noScript]) await close()
  if (!IS_LONG) return
  // A tab of its own: the comparison above left its choice in the other one.
  const other = await open({ viewport: PHONE })
  await keepAxe(other.page)
  for (const [path, status] of STATES) states.set(path, await look(other, path, { status }))
  await other.close()
}, 400_000)
afterAll(() => demo?.close())

test.each(WALKED)(
  '%s is accessible, fits, stands still and needs nothing from elsewhere',
  (path, status = 200) => {
    expect(outcomes.get(path)).toEqual({
      phone: { ...FINE, status, csp: PAGE_CSP, faults: [] },
      desktop: { ...FINE, status, csp: PAGE_CSP, faults: [] },
      widths: [],
      keyboard: [],
      noScript: { overflow: 0, headings: 1, offered: [], forms: [], faults: [] },
    })
  },
)

longTest.each(STATES)(
  '%s is accessible, fits and stands still on a phone',
  (path, status = 200) => {
    expect(states.get(path)).toEqual({ ...FINE, status, csp: PAGE_CSP, faults: [] })
  },
)

/**
 * What people open a page for is in the first window of it, on a phone and on a small desktop: what it
 * costs, how it is paid, what comes back, whether it can be trusted, and the command that calls it.
 */
const REQUESTED: readonly [path: string, ...texts: string[]][] = [
  [
    IS_LONG ? '/listing/x402.brightwell-search' : '/listing/x402.weather',
    // What it gives is not known: it says what it does.
    ...['Price from', 'Last answered', 'Pays with', 'It does', 'Trust'].map(
      (label) => `.strip dt:text-is("${label}")`,
    ),
    ...['.listing-meta a[href^="/go/"]', '.listing-head [data-try]', '.listing-head [data-copy]'],
  ],
]
const MORE_REQUESTED: typeof REQUESTED = [
  ['/', '.task-cards .money'],
  ['/kind/http_api', '.name-link'],
  ['/listing/x402.northlight-llm', '.strip dt:text-is("Pays with")', '.connect code'],
  // What a seller tells agents now stands there as its words.
  [
    '/listing/mcp.spreadsheets',
    '.notice q',
    '.strip dt:text-is("You get")',
    '.status-line',
    '.connect code',
  ],
]
/** Of what is taller, its first line must be seen (pixels). */
const LINE = 40

test('what people ask is answered in the first window of a phone and of a small desktop', async () => {
  const { page, close } = await openPage(demo.url)
  const below: string[] = []
  for (const [path, ...texts] of [...REQUESTED, ...(IS_LONG ? MORE_REQUESTED : [])]) {
    await page.goto(path)
    for (const size of [PHONE, { width: 1280, height: 800 }]) {
      await page.setViewportSize(size)
      for (const text of texts) {
        const box = await page.locator(`${text}:visible`).first().boundingBox({ timeout: 5_000 })
        if (box === null || box.y + Math.min(box.height, LINE) > size.height)
          below.push(`${path} ${text} at ${size.width}: ${box?.y ?? 'not there'}`)
      }
    }
  }
  expect(below).toEqual([])
  await close()
})

test('on paper a heading stays with its first row, and nothing is there that only an owner uses', async () => {
  const { page, close } = await openPage(demo.url)
  await page.emulateMedia({ media: 'print' })
  await page.goto(IS_LONG ? '/listing/x402.brightwell-search' : '/listing/x402.weather')
  const row = page.locator('.calls > li').first()
  expect(await row.evaluate((each) => getComputedStyle(each).breakInside)).toBe('avoid')
  expect(await page.locator('.sellers-own:visible').count()).toBe(0)
  await close()
})

longTest('the form of a seller of a task opens under its row, as wide as the row', async () => {
  const { page, close } = await openPage(demo.url, { viewport: PHONE })
  await page.route('**/api/v1/call/**', (route) => route.fulfill({ status: 402, body: '{}' }))
  await page.goto('/tasks/web_search')
  const row = page.locator('.offer').filter({ hasText: 'Brightwell' })
  const link = row.getByRole('link')
  const before = await link.boundingBox()
  await row.getByRole('button', { name: 'Ask the price' }).click()
  await row.locator('form.try').waitFor()
  expect((await link.boundingBox())?.x).toBe(before?.x)
  expect((await row.locator('form.try').boundingBox())?.width).toBeGreaterThan(PHONE.width / 2)
  await close()
})

longTest('that columns move sideways is said where they do, and nowhere else', async () => {
  const { page, close } = await openPage(demo.url)
  const ids = ['a2a.mutarjim', 'mcp.tenki', 'api.hostile-text', 'mcp.harbour', 'api.open-parks']
  const wrong: string[] = []
  for (const chosen of [ids.slice(0, 4), ids, [...ids, 'x402.brightwell-search']]) {
    await page.goto(`/compare?ids=${chosen}`)
    for (const width of [PHONE.width, 800, 900, 1024, 1120, DESKTOP.width]) {
      await page.setViewportSize({ ...DESKTOP, width })
      const scrolls = await page
        .locator('.versus-scroll')
        .evaluate(
          (each) =>
            getComputedStyle(each).overflowX === 'auto' && each.scrollWidth > each.clientWidth,
        )
      if (scrolls !== (await page.locator('.sideways').isVisible()))
        wrong.push(`${chosen.length} at ${width}`)
    }
  }
  expect(wrong).toEqual([])
  await close()
})

longTest('going back shows a page as it was left', async () => {
  const keeping = await launchBrowser({ keepsPages: true })
  const { page } = await openPage(demo.url, {}, keeping)
  await page.addInitScript(() => {
    addEventListener('pageshow', ({ persisted }) => Reflect.set(window, 'wasKept', persisted))
  })
  const forgotten: string[] = []
  for (const path of [
    ...['/search?q=search', '/listing/x402.brightwell-search'],
    ...['/compare?ids=mcp.tenki,api.hostile-text', '/report'],
    ...['/', '/kind/http_api', '/docs', '/sellers'],
  ]) {
    await page.goto(path)
    await page.goto('/healthz')
    await page.goBack({ waitUntil: 'commit' })
    if (!(await page.evaluate(() => Reflect.get(window, 'wasKept')))) forgotten.push(path)
  }
  expect(forgotten).toEqual([])
  await keeping.close()
})

test('our own kits are marked wherever they are in a list', async () => {
  for (const path of ['/kind/kit', ...(IS_LONG ? ['/category/developer_tools'] : [])]) {
    const html = await (await fetch(demo.url + path)).text()
    const kits = html.match(/href="\/listing\/kit\./g) ?? []
    expect(kits.length).toBeGreaterThan(0)
    expect(html.match(/made by us<\/span>/g)).toHaveLength(kits.length)
  }
})

longTest(
  'the key / leads to the search box, is not heard while typing, and can be turned off',
  async () => {
    const { page, faults, close } = await openPage(demo.url)
    await page.goto('/docs')
    await page.keyboard.press('/')
    await page.keyboard.type('a/b')
    expect(await page.locator('[data-search]').inputValue()).toBe('a/b')
    await page.goto('/keys')
    await page.getByLabel('Use / in this browser').uncheck()
    await page.reload()
    expect(await page.getByLabel('Use / in this browser').isChecked()).toBe(false)
    await page.locator('h1').click()
    await page.keyboard.press('/')
    expect(await page.evaluate(() => document.activeElement?.matches('[data-search]'))).toBe(false)
    expect(faults).toEqual([])
    await close()
  },
)

longTest('a read is opened from its reference', async () => {
  const { page, close } = await openPage(demo.url)
  await page.goto('/docs/listings')
  const run = page.locator('#listing').getByText('Run it')
  const answer = await fetch(`${demo.url}${await run.getAttribute('href')}`)
  expect(answer.headers.get('content-type')).toContain('application/json')
  await close()
})

async function startSignedIn() {
  const started = await startDemo()
  demo = started
  const email = 'ana@brightwell.example'
  await fetch(`${demo.url}/api/v1/sellers/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  })
  const { page, close } = await openPage(demo.url)
  await page.goto(await readSignInPath(started.outbox, email))
  await page.getByRole('button', { name: 'Sign in now' }).click()
  await page.locator('.owned').first().getByText('Another price.').waitFor()
  const state = await page.context().storageState()
  await close()
  return state
}

/**
 * One of both sizes is loaded, and looked at by all of axe's rules: every other page as a phone in the dark.
 * The other is what its window becomes; in `npm run test:long` each is loaded, and looked at.
 */
async function walk(
  { view, noScript }: Record<'view' | 'noScript', WatchedPage>,
  path: string,
  { status = 200, isPhoneFirst }: { status?: number | undefined; isPhoneFirst: boolean },
) {
  const lookAt = async (isPhone: boolean) => {
    await view.page.setViewportSize(isPhone ? PHONE : DESKTOP)
    const isLoaded = isPhone !== isPhoneFirst && !IS_LONG
    return look(view, path, {
      ...{ status, isLoaded, colorScheme: isPhone ? 'dark' : 'light' },
      ...(isLoaded && { rules: ['meta-viewport'] }),
    })
  }
  const first = await lookAt(isPhoneFirst)
  const second = await lookAt(!isPhoneFirst)
  const [phone, desktop] = isPhoneFirst ? [first, second] : [second, first]
  const widths = await auditWidths(view.page)
  const keyboard = await auditKeyboard(view.page)
  const without = await lookWithoutScript(noScript, path, status)
  return { phone, desktop, widths, keyboard, noScript: without }
}

/** What does not fit, or is printed over something else, by width; the last is the page's own. */
async function auditWidths(page: Page): Promise<string[]> {
  const wrong: string[] = []
  for (const width of WIDTHS) {
    await page.setViewportSize({ ...DESKTOP, width })
    const overflow = await readOverflow(page)
    if (overflow > 0) wrong.push(`${width}: ${overflow} too wide`)
    for (const overlap of await findTextOverlaps(page)) wrong.push(`${width}: ${overlap}`)
  }
  return wrong
}

interface Look {
  status?: number | undefined
  colorScheme?: 'light' | 'dark'
  rules?: readonly string[]
  /** The page is there already, in another size. */
  isLoaded?: boolean
}

async function look({ page, faults }: WatchedPage, path: string, options: Look) {
  const { status = 200, colorScheme = 'dark', rules, isLoaded = false } = options
  faults.length = 0
  await page.emulateMedia({ colorScheme })
  if (!isLoaded) {
    const response = await page.goto(path, { waitUntil: 'load' })
    answered = { status: response?.status(), csp: response?.headers()['content-security-policy'] }
  }
  if (path === '/sellers/dashboard') await page.locator('[data-content]').waitFor()
  return {
    ...(await auditPage(page, rules)),
    ...answered,
    faults: faults.filter((fault) => !isOwnStatus(fault, status)),
  }
}
/** Of the page that was loaded last. */
let answered: { status: number | undefined; csp: string | undefined }

async function lookWithoutScript({ page, faults }: WatchedPage, path: string, status: number) {
  faults.length = 0
  await page.goto(path, { waitUntil: 'load' })
  return {
    ...(await page.evaluate(readWithoutScript)),
    faults: faults.filter((fault) => !isOwnStatus(fault, status)),
  }
}

/** Runs in the page. */
function readWithoutScript() {
  const find = (selector: string) => [...document.querySelectorAll(selector)]
  const { scrollWidth, clientWidth } = document.documentElement
  const offered = find('.needs-script, [data-copy]').filter((each) => each.checkVisibility())
  const forms = find('form:has(input[type=email], #listing):not([method=post])')
  return {
    overflow: scrollWidth - clientWidth,
    headings: find('h1').length,
    offered: offered.map(({ textContent }) => textContent),
    forms: forms.map(({ textContent }) => textContent),
  }
}

/** A browser's console repeats the status of a page that is an error by intention. */
function isOwnStatus(fault: string, status: number): boolean {
  return status !== 200 && fault.includes(`responded with a status of ${status}`)
}
