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
  const layoutShift = await page.evaluate(readLayoutShift)
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  const accessibility = await page.evaluate(runAxe, rules)
  const headings = await page.locator('h1').count()
  return { accessibility, overflow: await readOverflow(page), layoutShift, headings }
}

/** The rules whose answer depends on colours. */
const COLOURS = ['color-contrast', 'link-in-text-block']
/** Those whose answer depends on the width as well. */
export const LAYOUT = [...COLOURS, 'target-size', 'scrollable-region-focusable', 'meta-viewport']

/** What other colours can change on a page that `auditPage` has looked at. */
export async function auditColours(page: Page) {
  return { accessibility: await page.evaluate(runAxe, COLOURS), overflow: await readOverflow(page) }
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

async function runAxe(runOnly: readonly string[] | undefined): Promise<string[]> {
  // axe has put itself on the window; the page's own types know nothing of it.
  const axe = Reflect.get(window, 'axe')
  const { violations } = await axe.run(document, {
    resultTypes: ['violations'],
    ...(runOnly !== undefined && { runOnly: { type: 'rule', values: runOnly } }),
  })
  return violations.flatMap((rule: { id: string; nodes: { target: unknown[] }[] }) =>
    rule.nodes.map((node) => `${rule.id}: ${node.target.join(' ')}`),
  )
}

/** Runs in the page: buffered entries since the navigation. */
function readLayoutShift(): Promise<number> {
  return new Promise((resolve) => {
    let sum = 0
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) sum += Reflect.get(entry, 'value')
    })
    observer.observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => resolve(Math.round(sum * 10_000) / 10_000), 100)
  })
}
