import { toCountText, toUsd } from '../../domain/listing/price-text.ts'
import type { TaskOffer, TaskPage } from '../../domain/plans/task-plan.ts'

/** A service that somebody would choose for a task, and why. */
export interface TaskChoice {
  label: 'Free' | 'Cheapest' | 'Paid from' | 'Fastest' | 'Most paid'
  name: string
  page: string
  value: string
}

export interface TaskChoices extends Pick<TaskPage, 'id' | 'name' | 'page' | 'sellers'> {
  /** The lowest price of one call, US dollars. */
  usd: number
  /** The lowest that is not free; null where all are. */
  paid_usd: number | null
  choices: TaskChoice[]
}

/** Tasks that at least two listings do at a known price: those that somebody sells first, the most offered before others. */
export function toTaskChoices(tasks: readonly TaskPage[]): TaskChoices[] {
  return tasks
    .flatMap(({ id, name, page, sellers, offers }): TaskChoices[] => {
      const priced = offers.filter(({ usd, per }) => usd === 0 || (usd !== null && !per))
      const [first] = priced
      if (first?.usd == null || priced.length < 2) return []
      const sold = priced.find(({ usd }) => usd !== 0)
      const choices = toChoices(first, first.usd, sold, priced)
      return [{ id, name, page, sellers, usd: first.usd, paid_usd: sold?.usd ?? null, choices }]
    })
    .sort(
      (a, b) => Number(a.paid_usd === null) - Number(b.paid_usd === null) || b.sellers - a.sellers,
    )
}

/** The first row of the task's page, the first that is paid, and lines with a measurement. */
function toChoices(
  first: TaskOffer,
  usd: number,
  sold: TaskOffer | undefined,
  offers: readonly TaskOffer[],
): TaskChoice[] {
  const fastest = findBest(offers, ({ answered }) => -(answered?.ms ?? Number.NaN))
  const paid = findBest(offers, ({ paid: counted }) => counted?.settlements_30d || Number.NaN)
  const rows = [
    usd === 0 ? (['Free', first, ''] as const) : (['Cheapest', first, toUsd(usd)] as const),
    ...(usd === 0 && sold?.usd != null ? [['Paid from', sold, toUsd(sold.usd)] as const] : []),
    ...(fastest === null ? [] : [['Fastest', fastest, `${fastest.answered?.ms} ms`] as const]),
    ...(paid === null
      ? []
      : [['Most paid', paid, toCountText(paid.paid?.settlements_30d ?? 0, 'payment')] as const]),
  ]
  return rows.map(([label, { listing }, value]) => ({
    label,
    name: listing.name,
    page: `${listing.page}#calls`,
    value,
  }))
}

/** The one with the highest number; of equals the cheapest. Null where none has one. */
function findBest(
  offers: readonly TaskOffer[],
  numberOf: (offer: TaskOffer) => number,
): TaskOffer | null {
  let best: { offer: TaskOffer; number: number } | null = null
  for (const offer of offers) {
    const number = numberOf(offer)
    if (!Number.isNaN(number) && (best === null || number > best.number)) best = { offer, number }
  }
  return best?.offer ?? null
}
