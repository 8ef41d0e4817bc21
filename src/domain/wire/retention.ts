/** The retention job uses these numbers, and the privacy page prints them. */
export const RETENTION = {
  /** Hours until a click forgets which search it came from. */
  click_sid_hours: 24,
  /** Days until single clicks are folded to a count by day. */
  click_days: 30,
  /** Days until counts are dropped. */
  count_days: 400,
  /** Minutes a sign-in link works. */
  login_token_minutes: 15,
  /** Days a session lasts after its last use. */
  session_days: 30,
  /** Hours a claim waits for its proof. */
  pending_claim_hours: 72,
  /** Days an ended claim is kept. */
  closed_claim_days: 90,
  /** Days until an account without session and claim is deleted. */
  idle_seller_days: 30,
  /** Hours until a counter of a limit, kept under a hash, is dropped. */
  limit_hours: 24,
  /** Days our probes' results for a listing are kept after the last probe. */
  probe_days: 120,
  /** Days receipts of paid calls are kept, and the files of their days. */
  receipt_days: 400,
  /** Days a decided report is kept, and an accepted dispute shows; and one that nobody decided. */
  report_days: 90,
  waiting_report_days: 365,
  /** Days transfers around a seller's payments are kept: longer than any rule looks back. */
  transfer_days: 150,
  /** Hours a mail waits for a mail server that is down. */
  mail_hours: 24,
} as const
