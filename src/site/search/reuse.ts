/**
 * Makes the children of a list show these items. Those that are there are filled anew and only what
 * changed is touched, so that a browser lays out and paints no more than that at each key.
 */
export function showItems<Item>(
  list: Element | null,
  items: readonly Item[],
  { make, fill }: { make: () => Element; fill: (child: Element, item: Item) => void },
): void {
  if (list === null) return
  const children = [...list.children]
  items.forEach((item, place) => {
    fill(children[place] ?? list.appendChild(make()), item)
  })
  for (const child of children.slice(items.length)) child.remove()
}

export function setText(element: Element | null, text: string): void {
  if (element !== null && element.textContent !== text) element.textContent = text
}

/** @param value null takes the attribute away */
export function setAttribute(element: Element | null, name: string, value: string | null): void {
  if (element === null || element.getAttribute(name) === value) return
  if (value === null) element.removeAttribute(name)
  else element.setAttribute(name, value)
}

/** Copies of what a `<template>` holds. @throws where it holds no element */
export function copiesOf(template: HTMLTemplateElement): () => Element {
  const first = template.content.firstElementChild
  if (first === null) throw new Error('expected an element in the template')
  return () => document.importNode(first, true)
}

export function element(name: string, attributes: Record<string, string>, text = ''): HTMLElement {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.textContent = text
  return made
}
