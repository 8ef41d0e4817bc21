/** The state of one payment. A sent payment counts until the seller says it took nothing. */
export type PaymentState = 'sent' | 'paid' | 'unsure'

export interface Payment {
  /** The deed it was for: all attempts to get one thing done. */
  deed: string
  task: string
  seller: string
  usd: number
}

/** How a seller did when it was last called here. */
export type Standing = 'delivered' | 'failed'

/**
 * The money of several deeds, and what is known of their sellers. `reserve` is called before a
 * payment is signed, and its record must outlive the process, so that payments are always known.
 */
export interface Session {
  /** @returns the payment's name in the session; null where the session's budget does not allow it */
  reserve(payment: Payment): Promise<string | null>
  settle(id: string, state: Exclude<PaymentState, 'sent'>): Promise<void>
  remember(seller: string, task: string, standing: Standing): Promise<void>
  /** Sellers of a task by how they did last. */
  standings(task: string): Promise<ReadonlyMap<string, Standing>>
  /** Sellers that a deed has paid, or may have. */
  paidIn(deed: string): Promise<ReadonlySet<string>>
}

/** Billionths of a dollar: sums of prices are whole. */
export function toNano(usd: number): number {
  return Math.round(usd * 1e9)
}

/** @example sumUsd([0.1, 0.2]) → 0.3 */
export function sumUsd(prices: readonly number[]): number {
  return prices.reduce((sum, usd) => sum + toNano(usd), 0) / 1e9
}

/** A session in memory, for deeds that end with their program. @param maxUsd for all of them */
export function createSession(maxUsd = Number.POSITIVE_INFINITY): Session {
  const payments: Payment[] = []
  const standings = new Map<string, Standing>()
  return {
    async reserve(payment) {
      if (sumUsd([...payments.map(({ usd }) => usd), payment.usd]) > maxUsd) return null
      payments.push(payment)
      return String(payments.length - 1)
    },
    async settle() {},
    async remember(seller, task, standing) {
      standings.set(`${task} ${seller}`, standing)
    },
    async standings(task) {
      const own = [...standings].filter(([key]) => key.startsWith(`${task} `))
      return new Map(own.map(([key, standing]) => [key.slice(task.length + 1), standing]))
    },
    async paidIn(deed) {
      return new Set(payments.flatMap((each) => (each.deed === deed ? [each.seller] : [])))
    },
  }
}
