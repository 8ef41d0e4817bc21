import { html, type Markup } from '../../frame/html.ts'

/** The one element that some markup makes. */
export function toElement({ text }: Markup): HTMLElement {
  const template = document.createElement('template')
  template.innerHTML = text
  const element = template.content.firstElementChild
  if (!(element instanceof HTMLElement)) throw new Error(`expected an element, got ${text}`)
  return element
}

/** Puts these in the place of what an element holds, however many they are. */
export function fill(element: Element, children: readonly Node[]): void {
  element.replaceChildren()
  for (const child of children) element.append(child)
}

/** @example toTime('2026-11-22T09:20:13.000Z') shows “2026-11-22 09:20 UTC” */
export function toTime(instant: string): Markup {
  return html`<time datetime="${instant}">${instant.slice(0, 16).replace('T', ' ')} UTC</time>`
}

/** @throws when the part is missing: page and script are of one release. */
export function partOf<Kind extends HTMLElement = HTMLElement>(
  element: ParentNode,
  name: string,
): Kind {
  const part = element.querySelector<Kind>(`[data-${name}]`)
  if (part === null) throw new Error(`no part data-${name}`)
  return part
}

/** What a button of this name does; while it is at work a second click does nothing. */
export function onClick(element: ParentNode, name: string, work: () => Promise<unknown>): void {
  const button = partOf<HTMLButtonElement>(element, name)
  button.addEventListener('click', () => void whileBusy(button, work))
}

/** What a form does with what was typed. */
export function onSubmit(
  form: HTMLFormElement,
  work: (read: (name: string) => string) => Promise<unknown>,
): void {
  // A form that is opened anew has another text to sign: what it did before, it does no more.
  form.onsubmit = (event) => {
    event.preventDefault()
    const data = new FormData(form)
    const button = form.querySelector<HTMLButtonElement>('button')
    const run = () => work((name) => String(data.get(name) ?? '').trim())
    void (button === null ? run() : whileBusy(button, run))
  }
}

async function whileBusy(button: HTMLButtonElement, work: () => Promise<unknown>): Promise<void> {
  button.disabled = true
  try {
    await work()
  } finally {
    button.disabled = false
  }
}
