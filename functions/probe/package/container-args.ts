import { findIdentifierFault } from '../../../src/domain/listing/invoke.ts'
import { findUrlFault } from '../../../src/domain/listing/target-url.ts'
import type { PackagePlan } from '../../../src/domain/probe/keep/probe-plan.ts'
import type { Engine } from './engine.ts'

/** Images that bring a package manager. */
const MANAGER_IMAGES = {
  npm: 'docker.io/library/node:24-slim',
  pypi: 'ghcr.io/astral-sh/uv:python3.13-bookworm-slim',
} as const

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
  if (version !== null && !FIXED_VERSION.test(version)) return 'the version is none'
  if (registry !== 'oci') return null
  // Else a listing could make us read from a registry inside our own network.
  const host = registryOf(identifier)
  return host === null || findUrlFault(`https://${host}/`, { allowPrivate: false }) === null
    ? null
    : `the image registry ${host} is no public one`
}

/** The image with its registry: podman has no registry of its own to fall back on. */
export function imageOf({ registry, identifier }: PackagePlan): string {
  if (registry !== 'oci') return MANAGER_IMAGES[registry]
  if (registryOf(identifier) !== null) return identifier
  const path = identifier.includes('/') ? identifier : `library/${identifier}`
  return `docker.io/${path}`
}

/**
 * Words of `run`: nothing of the host is mounted or handed on, no privilege can be gained, and
 * memory, processes, CPU and disk have bounds. An image runs without any network. A package has the
 * engine's default one, since its manager downloads it in the same container.
 */
export function toRunArgs(engine: Engine, name: string, plan: PackagePlan): string[] {
  const isImage = plan.registry === 'oci'
  const bounds = [
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
    ...(isImage
      ? [['--network', 'none']]
      : [
          ['--user', NOBODY],
          ['--workdir', '/tmp'],
        ]),
  ].flat()
  const env = toEnv(plan).flatMap(([key, value]) => ['--env', `${key}=${value}`])
  const start = ['run', '--rm', '-i', '--name', name, '--label', LABEL]
  return [...start, ...bounds, ...env, imageOf(plan), ...toCommand(plan)]
}

/** Always `NAME=value`: a name alone would be read from our own environment. */
function toEnv({ registry, env }: PackagePlan): [string, string][] {
  const proxies = PROXY_NAMES.flatMap((name) => [name, name.toLowerCase()])
  const own: Record<string, string> = registry === 'oci' ? {} : { HOME: '/tmp' }
  return Object.entries({
    ...Object.fromEntries(proxies.map((name) => [name, ''])),
    ...env,
    ...own,
  })
}

function toCommand({ registry, identifier, version, args }: PackagePlan): string[] {
  const named = version === null ? identifier : `${identifier}@${version}`
  switch (registry) {
    case 'npm':
      return ['npm', 'exec', '--yes', '--', named, ...args]
    case 'pypi':
      return ['uvx', named, ...args]
    case 'oci':
      return [...args]
  }
}

/** @example registryOf('ghcr.io/a/b:1') → 'ghcr.io'; registryOf('mcp/fetch') → null */
function registryOf(image: string): string | null {
  const [first = '', ...path] = image.split('/')
  return path.length > 0 && (/[.:]/.test(first) || first === 'localhost') ? first : null
}
