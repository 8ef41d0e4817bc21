import { source as AXE } from 'axe-core'
import type { Page } from 'playwright-core'

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

export async function auditPage(page: Page): Promise<PageAudit> {
  const layoutShift = await page.evaluate(readLayoutShift)
  await page.evaluate(AXE)
  const accessibility = await page.evaluate(runAxe)
  const { overflow, headings } = await page.evaluate(() => ({
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    headings: document.querySelectorAll('h1').length,
  }))
  return { accessibility, overflow, layoutShift, headings }
}

async function runAxe(): Promise<string[]> {
  // axe has put itself on the window; the page's own types know nothing of it.
  const axe = Reflect.get(window, 'axe')
  const { violations } = await axe.run(document, { resultTypes: ['violations'] })
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
