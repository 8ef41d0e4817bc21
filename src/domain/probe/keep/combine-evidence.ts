import type { Evidence } from '../../trust/evidence.ts'
import { keepProbes } from './merge-finding.ts'

/**
 * What a listing's file says and what a server's own probes added since: probes of both, the
 * interface and the notices of the last look.
 */
export function combineEvidence(file: Evidence, ledger: Evidence | undefined): Evidence {
  if (ledger === undefined) return file
  const probes = [...(file.probes ?? []), ...(ledger.probes ?? [])]
  const lastAt = (evidence: Evidence) => evidence.interface?.at ?? ''
  const newer = lastAt(ledger) > lastAt(file) ? ledger : file
  const newest = probes.map(({ at }) => at).reduce((a, b) => (a > b ? a : b), '')
  const { interface: seen, notices, ...rest } = { ...file, ...pick(newer) }
  return {
    ...rest,
    ...(probes.length > 0 && { probes: keepProbes(probes, newest) }),
    ...(seen !== undefined && { interface: seen }),
    ...(notices !== undefined && { notices }),
  }
}

function pick({ interface: seen, notices }: Evidence): Evidence {
  return {
    ...(seen !== undefined && { interface: seen }),
    ...(notices !== undefined && { notices }),
  }
}
