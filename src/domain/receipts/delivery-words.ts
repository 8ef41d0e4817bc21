import { toCountText } from '../operation/price-text.ts'
import { DELIVERY_VERDICTS, type DeliveryVerdict } from '../wire/vocabulary.ts'
import type { Delivered } from './delivered.ts'

/** The name of each verdict in a sentence about calls. */
export const VERDICT_WORDS: Record<DeliveryVerdict, string> = {
  as_declared: 'answered as declared',
  other_shape: 'answered in another shape than declared',
  empty: 'answered with nothing',
  error_in_200: 'answered with an error under a status of success',
  canned: 'answered with somebody else’s answer or the published example',
  payment_asked_again: 'asked to pay again',
  refused: 'refused after the payment',
  cut_off: 'cut off',
  too_large_to_judge: 'too large to judge',
}

/** @example toDeliveredText(figures) → 'Delivered 41 of 43 paid calls of 7 buyers (30 days)' */
export function toDeliveredText({
  delivered,
  paid_calls,
  buyers,
}: Pick<Delivered, 'delivered' | 'paid_calls' | 'buyers'>): string {
  return `Delivered ${delivered} of ${toCountText(paid_calls, 'paid call')} of ${toCountText(buyers, 'buyer')} (30 days)`
}

/** Outcomes of the others. @example 'Of the others, 2 were cut off, 1 was too large to judge.' */
export function toOthersText({ others }: Pick<Delivered, 'others'>): string {
  const parts = DELIVERY_VERDICTS.flatMap((verdict) => {
    const number = others[verdict] ?? 0
    return number > 0
      ? [`${number} ${number === 1 ? 'was' : 'were'} ${VERDICT_WORDS[verdict]}`]
      : []
  })
  return parts.length === 0 ? '' : `Of the others, ${parts.join(', ')}.`
}
