import type { Fragment } from './pagefind.ts'

const METER = 'http://www.w3.org/2000/svg'

/** One result from the page's template. Everything is set as text: metadata is foreign. */
export function toResultElement(template: HTMLTemplateElement, { meta }: Fragment): Node {
  const item = document.importNode(template.content, true)
  const link = item.querySelector('a')
  if (link !== null) link.href = `/listing/${meta.id ?? ''}`
  setText(item, 'bdi', meta.title)
  setText(item, '.item-summary', meta.summary)
  setText(item, '.tag', meta.kind)
  setText(item, '[data-price]', meta.price)
  setText(item, '.id', meta.id)
  // An attribute the page does not have is recorded as empty text.
  if (meta.trust) item.querySelector('.item-side')?.append(toMeter(Number(meta.trust)))
  return item
}

function setText(item: DocumentFragment, selector: string, text: string | undefined): void {
  const element = item.querySelector(selector)
  if (element === null) return
  if (text === undefined || text === '') element.remove()
  else element.textContent = text
}

function toMeter(score: number): HTMLElement {
  const meter = document.createElement('span')
  meter.className = 'meter'
  const svg = document.createElementNS(METER, 'svg')
  for (const [name, value] of Object.entries({
    width: '56',
    height: '6',
    viewBox: '0 0 100 6',
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  }))
    svg.setAttribute(name, value)
  svg.append(toBar('meter-track', 100), toBar('meter-fill', score))
  const label = document.createElement('span')
  label.textContent = 'trust '
  label.className = 'visually-hidden'
  meter.append(svg, label, String(score))
  return meter
}

function toBar(name: string, width: number): SVGElement {
  const bar = document.createElementNS(METER, 'rect')
  bar.setAttribute('class', name)
  bar.setAttribute('width', String(width))
  bar.setAttribute('height', '6')
  return bar
}
