import { html, type Markup } from '../frame/html.ts'

/**
 * A score as a bar and a number; the bar is decoration, the number says it all.
 *
 * @param note what is to be said beside it
 */
export function toMeter(score: number, note = '', width = 56): Markup {
  return html`
    <span class="meter">
      <svg width="${width}" height="6" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="meter-track" width="100" height="6"></rect>
        <rect class="meter-fill" width="${score}" height="6"></rect></svg> <span>
      <span class="visually-hidden">trust </span>${score}${note !== '' && html`<small class="soft"> ${note}</small>`}</span></span>`
}
