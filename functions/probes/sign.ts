import { hash, randomBytes } from 'node:crypto'
import type { Parts } from '../features/feature.ts'
import { publicJson } from '../http/answers.ts'
import type { SignRequest } from '../net/http-client.ts'
import { systemClock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import { createLog } from '../ports/log.ts'
import { createSigner, type Signer } from '../receipts/receipts.ts'
import { hasLedger } from '../store/sqlite.ts'

/** The purpose for which the probes' key is derived, and how long signatures are valid (seconds). */
const PURPOSE = 'web-bot-auth'
const REQUEST_S = 300
const DIRECTORY_S = 86_400

/** The label of our signature in a message, and of our address in `Signature-Agent`. */
const LABEL = 'sig1'

const MEDIA_TYPE = 'application/http-message-signatures-directory+json'

/**
 * Signs requests that this directory sends on its own: HTTP Message Signatures (RFC 9421) in the form of Web Bot Auth
 * (draft-ietf-webbotauth-httpsig-protocol-01). `Signature-Agent` must be an https origin, so a directory at any other
 * address signs nothing. Bodies are not covered.
 * @param signer rejects while the ledger is down: the request is then sent unsigned, and the log says so
 */
export function createRequestSigner(
  { config, clock, log }: Pick<Parts, 'config' | 'clock' | 'log'>,
  signer: () => Promise<Signer | null>,
): SignRequest {
  if (!isSigning(config)) return async () => ({})
  const agent = JSON.stringify(config.BASE_URL)
  return async ({ method, url, headers = {} }) => {
    const target = URL.parse(url)
    // A seller's own signature scheme may already use these header names.
    const isTaken = Object.keys(headers).some((name) => /^signature(?:-\w+)?$/i.test(name))
    const key = await signer().catch((error: unknown) => {
      log.error('probe.unsigned', { reason: String(error) })
      return null
    })
    if (target === null || isTaken || key === null) return {}
    const covered = {
      '"@method"': method,
      '"@authority"': target.host,
      '"@path"': target.pathname,
      [`"signature-agent";key="${LABEL}"`]: agent,
    }
    // The same request may be sent twice within a second, and a seller may refuse a repeated signature.
    const nonce = randomBytes(16).toString('base64')
    const parameters = `${toTimes(clock.now(), REQUEST_S)};nonce="${nonce}";tag="web-bot-auth"`
    return { 'signature-agent': `${LABEL}=${agent}`, ...signMessage(key, covered, parameters) }
  }
}

function isSigning({ PROBE_SIGN, BASE_URL }: Pick<Config, 'PROBE_SIGN' | 'BASE_URL'>): boolean {
  return PROBE_SIGN && BASE_URL.startsWith('https:')
}

/** The server's key for probes; the first call creates it. */
export function createProbeSigner({ ledger, clock }: Pick<Parts, 'ledger' | 'clock'>) {
  return createSigner(ledger.store, clock, PURPOSE)
}

/** Signs with the server's key in commands, if there is a ledger that can hold one. */
export function signFromLedger(config: Config): SignRequest {
  const parts = {
    config,
    clock: systemClock,
    log: createLog((line) => process.stderr.write(line), Date.now),
  }
  let key: Promise<Signer | null> | undefined
  const read = async () => {
    if (!hasLedger(config)) return null
    const { openStore } = await import('../store/open-store.ts')
    await using store = await openStore(config, parts.log)
    return await createSigner(store, systemClock, PURPOSE)()
  }
  return createRequestSigner(parts, () => {
    key ??= read()
    return key
  })
}

/**
 * `GET /.well-known/http-message-signatures-directory`: the key as a JSON Web Key Set, signed for
 * this address, so that nobody can present the key as their own. Empty if nothing is signed.
 */
export function createKeyDirectory(parts: Parts) {
  const { config, clock } = parts
  const signer = createProbeSigner(parts)
  return async () => {
    const key = isSigning(config) ? await signer() : null
    const keys = key === null ? [] : [{ ...toJwk(key), kid: toThumbprint(key), use: 'sig' }]
    const digest = `sha-256=:${hash('sha256', JSON.stringify({ keys }), 'base64')}:`
    const covered = {
      '"@authority";req': new URL(config.BASE_URL).host,
      '"content-digest"': digest,
    }
    const parameters = `${toTimes(clock.now(), DIRECTORY_S)};tag="http-message-signatures-directory"`
    return publicJson(
      { keys },
      {
        'Content-Type': MEDIA_TYPE,
        'Cache-Control': 'public, max-age=300',
        'Content-Digest': digest,
        ...(key !== null && signMessage(key, covered, parameters)),
      },
    )
  }
}

/** Members in the order of RFC 7638. */
function toJwk({ publicKey }: Signer) {
  return { crv: 'Ed25519', kty: 'OKP', x: publicKey }
}

function toThumbprint(key: Signer): string {
  return hash('sha256', JSON.stringify(toJwk(key)), 'base64url')
}

function toTimes(now: number, seconds: number): string {
  const created = Math.floor(now / 1000)
  return `;created=${created};expires=${created + seconds}`
}

/** RFC 9421 §2.5 and §3.1. @param covered values by serialized component identifier, in order */
function signMessage(key: Signer, covered: Record<string, string>, parameters: string) {
  const names = Object.keys(covered).join(' ')
  const input = `(${names})${parameters};keyid="${toThumbprint(key)}";alg="ed25519"`
  const lines = Object.entries({ ...covered, '"@signature-params"': input })
  const base = lines.map(([name, value]) => `${name}: ${value}`).join('\n')
  const signature = Buffer.from(key.sign(Buffer.from(base)), 'base64url').toString('base64')
  return { 'signature-input': `${LABEL}=${input}`, signature: `${LABEL}=:${signature}:` }
}
