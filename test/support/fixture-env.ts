/** The environment the fixture release is built with and served under. */
export const FIXTURE_ENV = {
  CONTENT_DIR: 'test/fixtures/content',
  OUT_DIR: '.cache/test-release',
  // No ledger: what a developer's own server remembers must not reach the fixture release.
  STATE_DIR: '.cache/no-state',
  AS_OF: '2026-11-01',
  BASE_URL: 'https://waypost.example',
  RATE_LIMITS: '{"search":"off","go":"off","call":"off"}',
  UNSAFE_ALLOW_PRIVATE_TARGETS: 'false',
  // Nobody listens there: a name that a test does not give itself is not looked up anywhere.
  DNS_SERVERS: '127.0.0.1:9',
  DATABASE_URL: '',
  SMTP_URL: '',
} as const

const { PATH, NODE_COMPILE_CACHE, NODE_OPTIONS = '' } = process.env

/** For a build of pages, whatever of. */
export const BUILD_ENV = {
  ...FIXTURE_ENV,
  NODE_OPTIONS: `${NODE_OPTIONS} --import=${import.meta.resolve('./page-code.ts')}`,
}

/** For a program that shall see nothing of this process: it finds others, and code that is compiled already. */
export const BARE_ENV = { PATH, NODE_COMPILE_CACHE }
