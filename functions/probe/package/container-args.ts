import { findIdentifierFault } from '../../../src/domain/listing/invoke.ts'
import { findUrlFault } from '../../../src/domain/listing/target-url.ts'
import type { PackagePlan } from '../../../src/domain/probe/keep/probe-plan.ts'
import type { Engine } from './engine.ts'
import type { FetchedPackage } from './fetch-package.ts'

/** An engine may be set up to hand these on, credentials of a proxy included: they are emptied. */
const PROXY_NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'FTP_PROXY', 'ALL_PROXY', 'NO_PROXY'] as const

/** Nobody: neither root nor anybody the host knows. */
const NOBODY = '65534:65534'

/** Containers that a killed run left behind are found by it. */
const LABEL = 'waypost-probe'

const FIXED_VERSION = /^\w[\w.+-]{0,99}$/

/** @returns why this package is never handed to an engine, or null. Content was checked already. */
export function findPackageFault({ registry, identifier, version }: PackagePlan): string | null {
  const fault = findIdentifierFault(registry, identifier)
  if (fault !== null) return fault
  if (version !== null && !FIXED_VERSION.test(version)) return 'the version is not a fixed one'
  if (registry !== 'oci') return null
  // Else a listing could make us read from a registry inside our own network.
  const host = registryOf(identifier)
  return host === null || findUrlFault(`https://${host}/`, { allowPrivate: false }) === null
    ? null
    : `the image registry ${host} is no public one`
}

/** The image with its registry: podman has no registry of its own to fall back on. */
export function imageOf(identifier: string): string {
  if (registryOf(identifier) !== null) return identifier
  const path = identifier.includes('/') ? identifier : `library/${identifier}`
  return `docker.io/${path}`
}

/** What a container or sandbox is started with. An image brings its program itself. */
export type Runnable =
  | (FetchedPackage & { kind: 'package' })
  | { kind: 'image'; image: string; env: Record<string, string>; args: readonly string[] }

/** Words of `run`: no network, no privilege, bounds, and of the host the package's folder alone. */
export function toRunArgs(engine: Engine, name: string, what: Runnable): string[] {
  const bounds = [
    ['--network', 'none'],
    ['--cap-drop', 'ALL'],
    ['--security-opt', 'no-new-privileges'],
    ['--memory', '1g'],
    ['--memory-swap', '1g'],
    ['--pids-limit', '256'],
    ['--cpus', '1'],
    ['--read-only'],
    ['--tmpfs', '/tmp:rw,exec,nosuid,nodev,size=512m,mode=1777'],
    // Endless output would else fill the host's disk.
    ['--log-driver', 'none'],
    ['--pull', 'never'],
    // Volumes that an image declares would be folders of the host; docker removes its own with --rm.
    ...(engine.name === 'podman' ? [['--image-volume', 'tmpfs']] : []),
    ...(what.kind === 'package'
      ? [
          ['--user', NOBODY],
          ['--workdir', '/tmp'],
          ['--mount', `type=bind,source=${what.folder},target=/package,readonly`],
        ]
      : []),
  ].flat()
  const env = toEnv(what).flatMap(([key, value]) => ['--env', `${key}=${value}`])
  const start = ['run', '--rm', '-i', '--name', name, '--label', LABEL]
  const program = what.kind === 'package' ? what.command : what.args
  return [...start, ...bounds, ...env, what.image, ...program]
}

/** Always `NAME=value`: a name alone would be read from our own environment. */
function toEnv({ kind, env }: Runnable): [string, string][] {
  const proxies = PROXY_NAMES.flatMap((name) => [name, name.toLowerCase()])
  const own: Record<string, string> = kind === 'image' ? {} : { HOME: '/tmp' }
  return Object.entries({
    ...Object.fromEntries(proxies.map((name) => [name, ''])),
    ...env,
    ...own,
  })
}

/** @example registryOf('ghcr.io/a/b:1') → 'ghcr.io'; registryOf('mcp/fetch') → null */
function registryOf(image: string): string | null {
  const [first = '', ...path] = image.split('/')
  return path.length > 0 && (/[.:]/.test(first) || first === 'localhost') ? first : null
}
