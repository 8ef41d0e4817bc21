import type { RateLimitName } from '../ports/config.ts'

/**
 * `login` counts clients, `login_address` what one client asks for one address; one setting, `login`,
 * rules both. The others count mails to an address: five an hour, then a spare one in ten minutes for
 * a client that had none sent, so that nobody can use an address up for its owner.
 */
export type LimitName =
  | RateLimitName
  | 'login_address'
  | 'login_mails'
  | 'login_sent'
  | 'login_spare'

/** What one limit is counted with. Memory by default; several instances share a store. */
export type CreateCounter = (options: {
  name: LimitName
  requests: number
  seconds: number
}) => Counter

export interface Counter {
  /** Counts one and answers how many the key has used in its window, and when that ends. */
  count(key: string): Promise<{ used: number; msBeforeReset: number }>
  /** How many the key has used in its window; counts nothing. */
  peek(key: string): Promise<number>
}
