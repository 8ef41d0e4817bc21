import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

/** Its `source` is the long one: 1.5 MB that a browser reads anew for each page. */
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** What every page must do well, whatever it shows. */
export interface PageAudit {
  /** axe's findings, `rule: selector` each. */
  accessibility: string[]
  /** Pixels the page is wider than the window. */
  overflow: number
  /** Cumulative layout shift while loading. */
  layoutShift: number
  headings: number
}

/** Everything is well. */
export const FINE: PageAudit = { accessibility: [], overflow: 0, layoutShift: 0, headings: 1 }

/** For a page that goes to many addresses: the browser keeps what it made of axe's code, which takes a second. */
export function keepAxe(page: Page): Promise<unknown> {
  return page.addInitScript(AXE)
}

/** @param rules axe's, all when left out */
export async function auditPage(page: Page, rules?: readonly string[]): Promise<PageAudit> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  return page.evaluate(audit, rules)
}

/** Pixels the page is wider than its window. */
export function readOverflow(page: Page): Promise<number> {
  return page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
}

const STEPS = 10

/**
 * What is wrong for who has a keyboard alone: the first stop leads past the header, and every stop is
 * seen: it has a ring, and it is inside the window.
 */
export async function auditKeyboard(page: Page): Promise<string[]> {
  const wrong: string[] = []
  await page.evaluate(() => scrollTo(0, 0))
  for (let step = 0; step < STEPS; step++) {
    await page.keyboard.press('Tab')
    const fault = await page.evaluate(judgeFocus, step === 0)
    if (fault !== null) wrong.push(fault)
  }
  return wrong
}

/** Runs in the page. A page that focuses its own box (search) has its stop there. */
function judgeFocus(isFirst: boolean): string | null {
  const element = document.activeElement
  if (element === null || element === document.body) return isFirst ? 'nothing takes focus' : null
  const name = `${element.tagName.toLowerCase()}.${element.className} ${element.textContent?.trim().slice(0, 30)}`
  if (isFirst && !element.matches('.skip, input, dialog *')) return `first stop: ${name}`
  const ringed = element.matches('input[type=radio], input[type=checkbox]')
    ? (element.closest('label') ?? element)
    : element
  const hasRing = [element, ringed].some((each) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(each)
    return outlineStyle !== 'none' && outlineWidth !== '0px'
  })
  const { bottom, top, width } = element.getBoundingClientRect()
  const isSeen = width > 0 && bottom > 0 && top < innerHeight
  return hasRing && isSeen ? null : `${hasRing ? 'out of sight' : 'no ring'}: ${name}`
}

/** Runs in the page. What moved is counted from the navigation until axe has looked at everything. */
async function audit(runOnly: readonly string[] | undefined): Promise<PageAudit> {
  let shift = 0
  const add = (entries: PerformanceEntryList) => {
    // What moves when a window is resized, or after a key, is wanted.
    for (const entry of entries)
      if (!Reflect.get(entry, 'hadRecentInput')) shift += Reflect.get(entry, 'value')
  }
  const observer = new PerformanceObserver((list) => add(list.getEntries()))
  observer.observe({ type: 'layout-shift', buffered: true })
  // axe has put itself on the window; the page's own types know nothing of it.
  const axe = Reflect.get(window, 'axe')
  const { violations } = await axe.run(document, {
    resultTypes: ['violations'],
    // It would fetch every style sheet again.
    preload: false,
    ...(runOnly !== undefined && { runOnly: { type: 'rule', values: runOnly } }),
  })
  add(observer.takeRecords())
  const { scrollWidth, clientWidth } = document.documentElement
  return {
    accessibility: violations.flatMap((rule: { id: string; nodes: { target: unknown[] }[] }) =>
      rule.nodes.map((node) => `${rule.id}: ${node.target.join(' ')}`),
    ),
    overflow: scrollWidth - clientWidth,
    layoutShift: Math.round(shift * 10_000) / 10_000,
    headings: document.querySelectorAll('h1').length,
  }
}
