import type { LintReport } from './lint-report.ts'

/** What the page that checks an address has to show. */
export type CheckAnswer =
  | { kind: 'empty' }
  | { kind: 'refused'; status: 400 | 429; reason: string; headers?: Record<string, string> }
  | { kind: 'report'; report: LintReport }
