import type { Kind } from '../../domain/wire/vocabulary.ts'
import { html, type Markup } from '../frame/html.ts'

/** Hues of a tile's tint; they have no meaning. */
const HUES = 6

/**
 * Up to two letters that stand for a listing where others would show a logo: first letters of its
 * first two words, else the first two letters of one. Scripts without letters of that kind give one.
 *
 * @example toMonogram('Fair Weather') → 'FW'; toMonogram('GitHub') → 'Gi'; toMonogram('天気') → '天'
 */
export function toMonogram(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? []
  const [first = '', second] = words
  const letters = [...first]
  const initial = letters[0] ?? '·'
  if (!/^\p{Script=Latin}|^\p{N}/u.test(initial)) return initial
  if (second !== undefined && /^[\p{Script=Latin}\p{N}]/u.test(second))
    return `${initial}${[...second][0] ?? ''}`.toUpperCase()
  return `${initial.toUpperCase()}${letters[1]?.toLowerCase() ?? ''}`
}

interface Face {
  id: string
  name: string
  kind: Kind
  /** Path of the brand's mark. */
  mark?: string | undefined
}

/** A listing's face on the arm of its kind: the brand's mark, or else two letters. */
export function toTile({ id, name, kind, mark }: Face, isLarge = false): Markup {
  const size = isLarge ? ' large' : ''
  const drawn = mark && html`<svg viewBox="0 0 24 24"><use href="${mark}#m"></use></svg>`
  return html`<span class="tile ${toShape(kind)} hue-${toHue(id)}${size}" aria-hidden="true">${drawn ?? toMonogram(name)}</span>`
}

/**
 * A score as a bar and a number; the bar is decoration.
 *
 * @param note text next to it
 */
export function toMeter(score: number, note = '', width = 56): Markup {
  return html`
    <span class="meter">
      <svg width="${width}" height="6" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="meter-track" width="100" height="6"></rect>
        <rect class="meter-fill" width="${score}" height="6"></rect></svg> <span>
      <span class="visually-hidden">trust </span>${score}${note !== '' && html`<small class="soft"> ${note}</small>`}</span></span>`
}

/** Class that gives an element the arm of a kind. */
export const toShape = (kind: Kind) => (kind === 'kit' ? 'is-kit' : kind)

/** 1 to 6, from the id, so that a listing keeps its tint. */
export const toHue = (id: string) => (digestOf(id) % HUES) + 1

/** FNV-1a, 32 bits. */
export function digestOf(text: string): number {
  let digest = 0x811c9dc5
  for (let index = 0; index < text.length; index++)
    digest = Math.imul(digest ^ text.charCodeAt(index), 0x01000193)
  return digest >>> 0
}
