import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { sharedTmp } from '../support/shared-tmp.ts'
import { ensureBrowser } from './ensure-browser.ts'

/**
 * Of two such lists a browser reads the last alone. Chromium 156 draws two pages of suggestions beneath
 * the address bar of every window, which took more than a third of all that it did; the others are those
 * that Playwright switches off.
 */
const SWITCHED_OFF = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect', 'AimEnabled'],
  ...['OptimizationHints', 'NetworkTimeServiceQuerying', 'PreconnectToSearch'],
]

/** Without these a browser talks to its maker, which a test of ours must not cause. */
const FLAGS = [
  `--disable-features=${SWITCHED_OFF.join()}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Each page has a context of its own. A new process for each address took a tenth of the time.
  '--renderer-process-limit=1',
]

export const PHONE = { width: 390, height: 844 }
export const DESKTOP = { width: 1280, height: 900 }

let shared: Promise<Browser> | undefined

/** The browser of all tests of one process, each page in a context of its own; it ends with the process. */
function shareBrowser(): Promise<Browser> {
  shared ??= launchBrowser()
  return shared
}

/** @param options.keepsPages as browsers do for "back", and tests mostly don't want */
export function launchBrowser({ keepsPages = false } = {}): Promise<Browser> {
  const env = { ...process.env, TMPDIR: sharedTmp() }
  return chromium.launch({
    executablePath: ensureBrowser(),
    headless: true,
    args: FLAGS,
    env,
    ...(keepsPages && { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
  })
}

export interface WatchedPage {
  page: Page
  /** Errors of the console and of scripts, refused content, requests to other hosts. */
  faults: string[]
  close(): Promise<void>
}

/** By where the service listens, for pages without options: a context costs half a second of a core. */
const contexts = new Map<string, Promise<BrowserContext>>()
/** Of those, the page that is closed: another tab costs as much as the page that is loaded into it. */
const closed = new Map<string, Page>()

/**
 * A page that writes down everything that goes wrong on it. What it stored is gone when it is closed.
 *
 * @param url where the service listens; a request to any other origin is a fault.
 * @param options of a context of its own, which a page needs that a script or function is added to
 */
export async function openPage(
  url: string,
  options?: BrowserContextOptions,
  ownBrowser?: Browser,
): Promise<WatchedPage> {
  const browser = ownBrowser ?? (await shareBrowser())
  const isOwn = options !== undefined
  const context = isOwn
    ? await browser.newContext({ viewport: DESKTOP, baseURL: url, ...options })
    : await shareContext(browser, url)
  const page = (isOwn ? undefined : closed.get(url)) ?? (await context.newPage())
  if (!isOwn) closed.delete(url)
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`))
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== url && protocol !== 'data:') faults.push(`outside: ${request.url()}`)
  })
  const leave = async () => {
    page.removeAllListeners()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.evaluate(() => {
      localStorage.clear()
      sessionStorage.clear()
    })
    await page.emulateMedia({ media: null })
    await page.setViewportSize(DESKTOP)
    await context.clearCookies()
    closed.set(url, page)
  }
  return { page, faults, close: isOwn ? () => context.close() : leave }
}

function shareContext(browser: Browser, url: string): Promise<BrowserContext> {
  const context = contexts.get(url) ?? browser.newContext({ viewport: DESKTOP, baseURL: url })
  contexts.set(url, context)
  return context
}
