import { toTextPieces } from '../../frame/linked-text.ts'

type Child = Node | string

/** Elements the dashboard is made of. All text is set as text, never as markup. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  ...children: (Child | readonly Child[])[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  if (className !== '') element.className = className
  for (const child of children.flat()) element.append(child)
  return element
}

/** Puts these in the place of what an element holds, however many they are. */
export function fill(element: Element, children: readonly Node[]): void {
  element.replaceChildren()
  for (const child of children) element.append(child)
}

/** A sentence of ours; the addresses in it are links. */
export function makeSentence(text: string): Node[] {
  return toTextPieces(text).map(({ text, href }) => {
    if (href === null) return document.createTextNode(text)
    const link = make('a', '', text)
    link.href = href
    link.rel = 'nofollow noopener'
    return link
  })
}

/** As `copy-block.astro` prints it. @param label tells it from every other block of the page */
export function makeCopyBlock(code: string, label: string): HTMLElement {
  const pre = make('pre', '', make('code', '', code))
  pre.tabIndex = 0
  pre.dir = 'ltr'
  pre.setAttribute('role', 'region')
  pre.ariaLabel = label
  const button = makeButton('Copy')
  button.dataset.copy = ''
  button.ariaLabel = `Copy ${label}`
  return make('div', 'copy', pre, button)
}

export function makeButton(text: string, onClick?: (button: HTMLButtonElement) => void) {
  const button = make('button', '', text)
  button.type = 'button'
  if (onClick !== undefined) button.addEventListener('click', () => onClick(button))
  return button
}

/** @example makeTime('2026-11-22T09:20:13.000Z') shows “2026-11-22 09:20 UTC” */
export function makeTime(instant: string): HTMLTimeElement {
  const time = make('time', '', `${instant.slice(0, 16).replace('T', ' ')} UTC`)
  time.dateTime = instant
  return time
}

/** The one element of a template, to be filled. */
export function cloneTemplate(name: string): HTMLElement {
  const template = document.querySelector<HTMLTemplateElement>(`template[data-${name}]`)
  const element = template?.content.firstElementChild?.cloneNode(true)
  if (!(element instanceof HTMLElement)) throw new Error(`no template data-${name}`)
  return element
}

/** @throws when the template lacks the part: page and script are of one release. */
export function partOf<Kind extends HTMLElement = HTMLElement>(
  element: ParentNode,
  name: string,
): Kind {
  const part = element.querySelector<Kind>(`[data-${name}]`)
  if (part === null) throw new Error(`no part data-${name}`)
  return part
}

/** Runs while a button waits: a second click does nothing. */
export async function whileBusy<Result>(
  button: HTMLButtonElement,
  work: () => Promise<Result>,
): Promise<Result> {
  button.disabled = true
  try {
    return await work()
  } finally {
    button.disabled = false
  }
}
